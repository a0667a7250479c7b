"""What a recorded question asks for, read off its plain data for people; the data need not be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ogive.columns.predicates import from_dict
from ogive.errors import ParameterError

_COLUMNS = ("row", "column", "score", "probability", "label")
GOES_ON = ("pointwise", "running_total")
"""Releases without a single estimate, which the ledger would record; all that they publish is paid at first."""

_LINE = 5
_COUNTED = ("parties", "colluding", "dropouts", "servers")
_USUAL_TRUST = "central"  # which nobody needs to be told


def state_words(state: str, name: object, question: Mapping[str, Any]) -> str:
    """What became of a question that a ledger has an entry of; empty where it is answered."""
    if state == "lost":
        return "lost with its answer when an older copy of the ledger was restored"
    if state != "reserved":
        return ""
    if name in GOES_ON:
        return "in progress: further questions cost nothing"
    statistic = question.get("statistic")
    if isinstance(statistic, Mapping) and "study" in statistic:
        return "paid to take part in a study; its release is not kept here"
    return "not finished: ask again at no further cost"


def what_of(statistic: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is wanted in the end, of the plain data of a statistic of some records."""
    while isinstance(inner := statistic.get("statistic"), Mapping):
        statistic = inner
    return statistic


def which_records(statistic: Mapping[str, Any]) -> list[str]:
    """Of which records a statistic is, in words that follow its name; the plain data need not be trusted."""
    results = []
    while isinstance(statistic, Mapping):
        by, where = statistic.get("by"), statistic.get("where")
        if isinstance(by, str) and isinstance(statistic.get("statistic"), Mapping):
            results.append(f"by {by}")
        if isinstance(where, Mapping):
            results.append(f"where {condition_words(where)}")
        statistic = statistic.get("statistic", ())
    return results


def condition_words(plain: Mapping[str, Any]) -> str:
    """A condition as people write it, from its plain data."""
    try:
        return str(from_dict(plain))
    except ParameterError:
        return "..."


def subjects(question: Mapping[str, Any]) -> list[str]:
    """Names of the columns that a recorded question is about."""
    statistic = question.get("statistic")
    if not isinstance(statistic, Mapping):
        return []
    statistic = what_of(statistic)
    listed = statistic.get("columns")
    described = [*(listed if isinstance(listed, list) else ()), statistic.get("classes")]
    within = [each.get("column") for each in described if isinstance(each, Mapping)]
    if statistic.get("name") == "describe" and isinstance(listed, list):
        within += listed  # other statistics have something else there
    return [name for name in (*map(statistic.get, _COLUMNS), *within) if isinstance(name, str)]


def shown_subjects(question: Mapping[str, Any]) -> tuple[list[str], int]:
    """The first of these names, for a line, and how many more there are."""
    result = subjects(question)
    return (result, 0) if len(result) <= _LINE else (result[: _LINE - 1], len(result) - _LINE + 1)


def published_columns(question: Mapping[str, Any]) -> list[str]:
    """Columns whose exact counts a recorded question published although its privacy unit does not declare them public.

    Earlier versions asked such questions under any unit.
    """
    statistic, unit = question.get("statistic"), question.get("unit")
    if not isinstance(statistic, Mapping) or not isinstance(unit, Mapping) or unit.get("adjacency") != "replace":
        return []
    classes = statistic.get("classes")
    results = [
        statistic.get("label") if statistic.get("public_labels") is True else None,
        statistic.get("by") if statistic.get("public_groups") is True else None,
        classes.get("column") if isinstance(classes, Mapping) else None,
    ]
    declared = unit.get("public", ())
    return [column for column in results if isinstance(column, str) and column not in declared]


def trust_words(question: Mapping[str, Any]) -> str | None:
    """Who a recorded question was asked of, with the numbers that tell it from others; None for a trusted curator."""
    trust, terms = question.get("trust", _USUAL_TRUST), question.get("terms")
    if trust == _USUAL_TRUST or not isinstance(trust, str):
        return None
    numbers = terms if isinstance(terms, Mapping) else {}
    details = [f"{numbers[name]} {name}" for name in _COUNTED if isinstance(numbers.get(name), int) and numbers[name]]
    if numbers.get("verified") is False:
        details.append("unverified")
    return f"{trust} ({', '.join(details)})" if details else trust


def asked_name(question: Mapping[str, Any]) -> str:
    """Name of the statistic that a recorded question asks for; of a statistic of pairs, that of its measure."""
    statistic = question.get("statistic")
    fields = what_of(statistic) if isinstance(statistic, Mapping) else {}
    measure = fields.get("kernel")
    names = [measure.get("name"), measure.get("measure")] if isinstance(measure, Mapping) else []
    return next((name for name in (*names, fields.get("name")) if isinstance(name, str)), "release")
