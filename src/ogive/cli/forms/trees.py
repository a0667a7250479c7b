"""Options of an AUC from trees, and how they become the library's method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from cyclopts import Group, Parameter

from ogive.cli.converters import whole
from ogive.cli.forms.methods import Given

_PRUNE = {"auto": "auto", "yes": True, "no": False}


@Parameter(name="*", group=Group("Trees of an AUC, with --method hierarchy", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class TreeOptions(Given):
    """What owners report of a tree over the scores, and how two trees are read."""

    name: ClassVar[str] = "tree_options"
    owners: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("variant", "a", "prune", "split", "composition", "branching", "nodes"), "hierarchy"
    )

    variant: Literal["half", "zero"] | None = None
    """What pairs in nodes that are not looked into count; half of them by default."""

    a: str | None = None
    """Nodes are looked into where the product of their counts is a times that of their noise: auto (the default,
    least bound), paper (its formula) or a number above 1."""

    prune: Literal["auto", "yes", "no"] | None = None
    """Whether nodes are discarded; by default (auto) where that costs less than their noise."""

    split: Literal["users", "budget"] | None = None
    """users (the default): an owner reports on one level. budget: on all, with a share of epsilon."""

    composition: Literal["basic", "advanced", "exact"] | None = None
    """Shares of a split budget; basic by default, the others need --delta."""

    branching: Annotated[int | None, Parameter(converter=whole)] = None
    """Children of a node, 2 to 8; by default 2 or 4, whichever is predicted to err less."""

    nodes: Literal["hadamard", "unary"] | None = None
    """hadamard (the default): an index and a bit. unary: a bit for each node, longer, less noise at a large epsilon."""

    def given(self) -> dict[str, Any]:
        """What was said."""
        found = super().given()
        if "a" in found:
            found["a"] = _number(found["a"])
        if "prune" in found:
            found["prune"] = _PRUNE[found["prune"]]
        return found


def _number(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word
