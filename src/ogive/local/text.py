"""The explanation for participants: the question, the content of a report, what it reveals, and its chances.

It is derived from the fields that determine a report. Text from others, such as titles, names of columns and
categories, is quoted and stripped of terminal control characters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ogive.columns import Binning, Column, Label, Listed, Membership, Missing
from ogive.local.base import WORD, Oracle
from ogive.local.classes import PublicClasses
from ogive.local.description import Description
from ogive.local.oracles import HaarOracle, RandomizedResponse, UnaryOracle
from ogive.local.tree import TreeOracle
from ogive.privacy import ApproxDP, number_text

_SHOWN = 12
_LARGEST_SHOWN = 20.0
_AS_GOOD_AS_SURE = 0.99


def explanation(description: Description) -> str:
    """The text that a participant should read before answering."""
    columns = description.domain.columns
    lines = [
        f"Collection {_quoted(description.title)}, {description.id}"
        if description.title
        else f"Collection {description.id}",
        f"{description.participants} participants are asked to report:",
        *(f"  - {asked(column, description.rounding)}" for column in columns),
        *purpose(description.statistic),
        "",
        "Content of the report",
        *sent(description),
        "",
        "What the report reveals",
        *revealed(description),
        "",
        "What is not protected",
        "  Your participation, your number, and the place and time of sending. Answer once: a second report costs as",
        "  much privacy as the first.",
    ]
    if any(map(refuses, columns)):
        lines += [
            "  If a value is not accepted, no report is sent, and the collector can see that your report is missing."
        ]
    return "\n".join(lines)


def purpose(statistic: Mapping[str, Any] | None) -> list[str]:
    """What the collector says the reports are for."""
    if statistic is None:
        return ["The collector states no purpose."]
    kernel = statistic.get("kernel")
    named = (statistic.get("name"), kernel.get("name") if isinstance(kernel, Mapping) else kernel)
    said = ", ".join(_quoted(name) for name in named if isinstance(name, str)) or "an unnamed statistic"
    return [f"The collector states the purpose {said}; nothing prevents other uses of the reports."]


def sent(description: Description) -> list[str]:
    """What a report holds, as lines of text."""
    oracle = description.oracle
    inner = oracle.inner if isinstance(oracle, PublicClasses) else oracle
    first = f"  One report of {description.report_bytes} bytes: the mark of the collection, your number,"
    if public := description.public_columns:
        first += f" {_quoted(public[0])} unprotected,"
        drawn = "  and random bytes, whose probabilities depend on your other answers"
    else:
        drawn = "  and random bytes, whose probabilities depend on your answer"
    return [first, drawn, f"  (method {inner.name}, {inner.size} possible answers)."]


def revealed(description: Description) -> list[str]:
    """What a reader of a report learns at most, as lines of text."""
    privacy, public = description.privacy, description.public_columns
    epsilon = float(privacy.epsilon)
    often = f"{math.exp(epsilon):.3g}" if epsilon <= _LARGEST_SHOWN else f"e^{number_text(privacy.epsilon)}"
    rest = "your other answers" if public else "your answer"
    lines = [f"  {privacy}: no report is more than {often} times as likely for {rest} as for any other."]
    sure = 1 / (1 + math.exp(-epsilon))
    if sure < _AS_GOOD_AS_SURE:
        lines.append(
            f"  A reader who held two answers equally likely can be at most {100 * sure:.3g} % sure of one of them "
            "afterwards."
        )
    else:
        lines.append(
            "  This is almost no protection: a reader of the report may be practically certain of your answer."
        )
    if isinstance(privacy, ApproxDP):
        lines.append(f"  This guarantee may fail with probability {number_text(privacy.delta)}.")
    lines += [f"  The column {_quoted(name)} is public here: it is sent unprotected." for name in public]
    return lines


def refuses(column: Column) -> bool:
    """Whether a device refuses some values of the column."""
    if isinstance(column, Membership):
        return column.missing == "refuse" or column.others is not None
    if isinstance(column, Listed):
        return "refuse" in (column.other, column.missing)
    return not isinstance(column, Binning) or "refuse" in (column.outside, column.missing, column.fractions)


def asked(column: Column, rounding: str) -> str:
    """What is asked of one column."""
    name = _quoted(column.column)
    if isinstance(column, Binning):
        grid = column.grid
        outside = {"clip": "counted at the nearer bound", "refuse": "not accepted"}[column.outside]
        policies = {"refuse": "not accepted", "low": "counted at the lower bound", "high": "counted at the upper bound"}
        missing = policies.get(str(column.missing)) or f"counted as {_shown(column.missing)}"
        whole = ", fractions are not accepted" if column.fractions == "refuse" and grid.unit == "number" else ""
        step = "rounded at random" if rounding == "randomized" else f"in {grid.bins} bins"
        return (
            f"{name}, from {grid.label(grid.low)} to {grid.label(grid.high)}, {step}; "
            f"values outside are {outside}, a missing value is {missing}{whole}"
        )
    if isinstance(column, Label):
        return f"{name}, whether it is {_listed(column.positive)} or not"
    if isinstance(column, Membership):
        treated = "not accepted" if column.missing == "refuse" else "counted as not"
        what = "there is a value" if column.values is None else f"it is {_listed(column.values)}"
        rest = "not" if column.others is None else f"{_listed(column.others)} (no other value is accepted)"
        return f"{name}, whether {what} or {rest}; a missing value is {treated}"
    if isinstance(column, Listed):
        policies = {"count": "counted as such", "refuse": "not accepted"}
        return (
            f"{name}, which of {_listed(column.values)} it is; any other value is {policies[column.other]}, "
            f"a missing value is {policies[column.missing]}"
        )
    return f"{name}, one of {_listed(column.values)}"


def _shown(value: Missing) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _listed(values: tuple[object, ...]) -> str:
    shown = ", ".join(_quoted(value) if isinstance(value, str) else str(value) for value in values[:_SHOWN])
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"


def _quoted(text: object) -> str:
    return repr(str(text)[:80])


# --- The chances of what an owner's device sends, exact, as sentences for the owner


def chances(oracle: Oracle) -> list[str]:
    """What a report says, with the chances with which it is true, a sentence each."""
    if isinstance(oracle, PublicClasses):
        return [
            "The class is sent as it is. The rest of the report is about the other answers.",
            *chances(oracle.inner),
        ]
    if isinstance(oracle, RandomizedResponse):
        return [
            f"The report names one of {oracle.size} possible answers. With probability {exact(oracle.keep)} it is "
            "yours; otherwise it is drawn uniformly from all of them, yours included."
        ]
    if isinstance(oracle, UnaryOracle):
        return [f"The report has a yes or no for each of {oracle.size} possible answers. {_bits(oracle.chance)}"]
    if isinstance(oracle, HaarOracle):
        return [
            f"Your number decides which of {oracle.levels} questions you are asked, and a random pattern is drawn that "
            f"splits the possible answers in two. {_side(oracle.chance)}"
        ]
    assert isinstance(oracle, TreeOracle), "there are no others"
    return _tree(oracle)


def _tree(oracle: TreeOracle) -> list[str]:
    groups = " or ".join(str(nodes) for nodes in oracle.layout.nodes)
    if oracle.levels_of is None:
        first = f"The report answers {oracle.levels} questions, each about groups of possible answers: {groups} groups."
    elif oracle.levels == 1:
        first = f"You are asked in which of {groups} groups of possible answers yours is."
    else:
        first = (
            f"Your number decides which of {oracle.levels} questions you are asked: in which of {groups} groups of "
            "possible answers yours is."
        )
    told = [first]
    if any(oracle.layout.unary):
        told.append(f"The report has a yes or no for each group. {_bits(oracle.chance).replace('answer', 'group')}")
    if not all(oracle.layout.unary):
        more = "Where there are more than 1024 groups, a" if any(oracle.layout.unary) else "A"
        told.append(f"{more} random pattern is drawn that splits the groups in two. {_side(oracle.chance)}")
    return told


def _bits(chance: Fraction) -> str:
    return (
        "The one for your answer is yes with probability exactly 1/2, whatever your answer is; each other one is yes "
        f"with probability {exact(chance)}."
    )


def _side(chance: Fraction) -> str:
    return (
        f"The report says on which side yours is. That is true with probability {exact(1 - chance)} and false with "
        f"probability {exact(chance)}."
    )


def exact(chance: Fraction) -> str:
    """A chance to four digits, and exactly."""
    return f"{float(chance):.4f} (exactly {int(chance * WORD)} / 2^64)"
