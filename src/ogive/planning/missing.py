"""What a release will do about missing values, in a line: the policy, and what it tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ogive.errors import plain
from ogive.planning.rows import Plan
from ogive.statistics.questions import what_of

_OTHERS = "*"
_HIDDEN = "how many there are is not published"
_COUNTED = "how many there are is published with noise"
_WORDS = {
    "refuse": "refused before anything is paid, so that a release tells that there are none; "
    "`missing=` has them count otherwise",
    "low": f"count as the lower bound; {_HIDDEN}",
    "high": f"count as the upper bound; {_HIDDEN}",
    "drop": "left out; how many records are left is published with noise only",
    "count": "a category of their own, counted with noise like the others",
    "no": f"do not count; {_HIDDEN}",
}


def policy(plan: Plan) -> Iterator[str]:
    """A marked line on missing values; none where the statistic has no policy for them.

    Nothing is counted: a plan reads no private records.
    """
    statistic = what_of(plan.statistic)
    missing = statistic.get("missing")
    counted = bool(statistic.get("count_missing"))
    if isinstance(missing, Mapping):
        rest = str(missing.get(_OTHERS, "refuse"))
        named = {str(column): each for column, each in missing.items() if column != _OTHERS}
        for column, each in named.items():
            yield f"missing values of {plain(column)}: {_words(each, counted=counted)}"
        both = {statistic.get("row"), statistic.get("column")} - {None}  # of a cross table, whose columns are known
        if not both or both - named.keys():
            yield f"missing values{' of the others' if named else ''}: {_words(rest, counted=counted)}"
    elif missing is not None:
        yield f"missing values: {_words(missing, counted=counted)}"


def _words(each: Any, *, counted: bool) -> str:
    known = isinstance(each, str) and each in _WORDS
    words = _WORDS[each] if known else f"count as {plain(each)}; {_HIDDEN}"
    return words.replace(_HIDDEN, _COUNTED) if counted else words
