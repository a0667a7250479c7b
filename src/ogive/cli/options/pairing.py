"""Options of pairs of people, and how they become the library's method."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from ogive.cli.converters import whole


@Parameter(name="*", group=Group("Pairs of people", sort_key=2.1))
@dataclass(frozen=True, kw_only=True)
class PairingOptions:
    """Who meets whom, and which noise their circuits add."""

    rounds: Annotated[int | None, Parameter(converter=whole)] = None
    """In how many pairs everybody is; by default as many as are predicted to err least, one unless epsilon is large."""

    design: Literal["round_robin", "permutations", "independent"] | None = None
    """round_robin (the default: nobody meets the same person twice), permutations or independent pairs."""

    noise: Literal["response", "laplace"] | None = None
    """response (no delta) or laplace (needs --delta); by default whichever is predicted to err less."""

    bits: Annotated[int | None, Parameter(converter=whole)] = None
    """Distances are computed in steps of 2^-bits of the bounds; 16 by default."""

    def given(self) -> dict[str, Any]:
        """What was said."""
        return {each.name: getattr(self, each.name) for each in fields(self) if getattr(self, each.name) is not None}


ANY_PAIRS = PairingOptions()
