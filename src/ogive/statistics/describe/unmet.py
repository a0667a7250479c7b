"""All that a description still needs, told at once, where a release would stop at one thing after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ogive.columns import OpenCategories
from ogive.errors import DataError, OgiveError, ParameterError, UnsupportedError, plain, quoted
from ogive.privacy import Adjacency, ApproxDP, PureDP
from ogive.statistics.base import Terms
from ogive.statistics.discovery import discovery

DROP, EVERY_DROP, MAY_DROP = "`missing='drop'`", "`missing={'*': 'drop'}`", "`adjacency ADD_OR_REMOVE`"
_GROUPS, _DELTA = "`groups=('a', 'b')`", "`target_delta='1e-6'`"
_WITH_DELTA = ApproxDP(1, "1e-6")
_MOST_SHOWN = 6
_UNREAD = ", for each column that has missing values; which ones have is not read from the records here"

_STANDING = {
    "number": "a public value that stands for them",
    "share": "'no', which counts them with the other values",
    "categories": "'count', which makes them a category of their own",
}
"""What missing values of each kind of variable may count as under either adjacency."""


def unmet(asked: Any, terms: Terms, with_missing: Callable[[Sequence[str]], Sequence[str]]) -> OgiveError | None:
    """What a description needs before it can be released; None where it needs no policy for missing values.

    Args:
        asked: A description, `Describe`, with its variables.
        terms: What may be spent, and whose data the guarantee hides.
        with_missing: Which of some columns have missing values; called where the policy refuses them.

    Returns:
        An error that names every need, and has as `remedy` what would meet all of them.
    """
    replace = terms.private and terms.unit.adjacency is Adjacency.REPLACE
    refusing = tuple(with_missing([each.column for each in asked.variables if each.missing == "refuse"]))
    dropping = tuple(each.column for each in asked.variables if each.missing == "drop") if replace else ()
    if not refusing and not dropping:
        return None
    needs, remedy = [], []
    if asked.by is not None and asked.groups is None and terms.private and not isinstance(terms.privacy, ApproxDP):
        needs.append(
            f"the values of {quoted(asked.by)}, which are public, for example {_GROUPS}, or a delta to find them"
        )
        remedy.append(_DELTA if isinstance(terms.privacy, PureDP) and _finds(asked.by, terms) else _GROUPS)
    if refusing:
        needs.append(
            f"what missing values of {_columns(refusing)} mean: {_standing(asked, refusing)}, or {DROP} under "
            f"{MAY_DROP} alone; the first release of an account fixes its adjacency"
        )
        remedy.append(EVERY_DROP if isinstance(asked.missing, Mapping) else DROP)
    if dropping:
        some = "all columns" if len(dropping) == len(asked.variables) else _columns(dropping)
        needs.append(
            f"{MAY_DROP}, since to drop missing values of {some} would publish how many values are missing where "
            f"replacing a record may change it; or {_standing(asked, dropping)}{_UNREAD * (len(dropping) > 1)}"
        )
    if replace:
        remedy.append(MAY_DROP)
    text = " and ".join(needs) if len(needs) == 1 else "; ".join(f"({n}) {each}" for n, each in enumerate(needs, 1))
    kind = DataError if refusing else ParameterError
    return kind(f"describe needs {text}", parameter="missing", remedy=tuple(remedy))


def _finds(by: str, terms: Terms) -> bool:
    """Whether a guarantee with a delta would do instead of the values of groups."""
    try:
        discovery(OpenCategories(by, "count"), dataclasses.replace(terms, privacy=_WITH_DELTA), parameter="groups")
    except UnsupportedError:
        return False
    return True


def _standing(asked: Any, names: Sequence[str]) -> str:
    """What missing values of some variables may count as, with an example for all, or of every kind where many are."""
    some = [each for each in asked.variables if each.column in names]
    first = {each.kind: each for each in reversed(some)}
    words = " or ".join(_STANDING[kind] for kind in _STANDING if kind in first)
    policies = {each.column: _example(each) for each in (some if len(some) <= _MOST_SHOWN else first.values())}
    return f"{words}, for example `missing={plain(policies)}`, under either adjacency"


def _example(variable: Any) -> Any:
    """A policy that a variable accepts whatever the adjacency is."""
    if variable.kind == "number":
        return 0 if variable.bounds is None else variable.bounds[0]
    return "no" if variable.kind == "share" else "count"


def _columns(names: Sequence[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {', '.join(map(quoted, names))}"
