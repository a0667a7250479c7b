"""Options of pairs of people, and how they become the library's method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from cyclopts import Group, Parameter

from ogive.cli.converters import whole
from ogive.cli.forms.methods import Given


@Parameter(name="*", group=Group("Pairs of people", sort_key=2.1))
@dataclass(frozen=True, kw_only=True)
class PairingOptions(Given):
    """Who meets whom, and which noise their circuits add."""

    name: ClassVar[str] = "pairing_options"
    method: ClassVar[str] = "paired"
    owners: ClassVar[Mapping[str, str]] = dict.fromkeys(("rounds", "design", "noise", "bits"), method)

    rounds: Annotated[int | None, Parameter(converter=whole)] = None
    """In how many pairs everybody is; by default as many as are predicted to err least, one unless epsilon is large."""

    design: Literal["round_robin", "permutations", "independent"] | None = None
    """round_robin (the default: nobody meets the same person twice), permutations or independent pairs."""

    noise: Literal["response", "laplace"] | None = None
    """response (no delta) or laplace (needs --delta); by default whichever is predicted to err less."""

    bits: Annotated[int | None, Parameter(converter=whole)] = None
    """Distances are computed in steps of 2^-bits of the bounds; 16 by default."""
