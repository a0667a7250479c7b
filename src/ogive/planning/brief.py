"""A plan on a page of 100 columns: what decides, errors in the units of the column, and what does not apply.

The whole table, with the price and the noise of each row in words and every reason in full, is that of `text`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from ogive.errors import OgiveError, marks_of, unmarked
from ogive.grids import Grid
from ogive.planning.metrics import in_order, metrics_of, title
from ogive.planning.rows import Plan, PlanRow
from ogive.planning.table import Column, Table
from ogive.planning.text import heading
from ogive.statistics.prediction import UNITS
from ogive.statistics.questions import what_of

WIDTH = 100
_OF_VALUES = ("ecdf", "quantiles", "boxplot")
"""Statistics of which one reads quantiles, in units of the column."""

_DAY = 86_400_000_000
_SIZE = re.compile(r"\+/- \S+ records$")


def page(plan: Plan, say: Callable[[str], str] = unmarked, *, unit: str | None = None) -> str:
    """The rows of a plan, and below them what is taken, what does not apply, and what the columns say.

    Args:
        plan: What is shown.
        say: Shows the messages that mark Python.
        unit: Of the column's values, for people.
    """
    metrics = metrics_of(str(what_of(plan.statistic).get("name")))
    names = in_order(metrics, {name for row in plan.rows for name in row.errors})
    if "ks" in names and "rmse" in names:
        names.remove("rmse")  # the same as the size of the noise, which is shown
    shown = Table(list(_columns(plan, names, metrics)), plan.rows)
    below: list[str] = []
    if len(shown.heading) > WIDTH:  # as many errors as there are variables stand below each other
        shown, below = Table(list(_columns(plan, [], metrics)), plan.rows), names
    lines = [
        *_wrapped(f"plan for {heading(plan)}: {plan.records} records, trust {plan.trust}"),
        *_wrapped(plan.unit.words),
    ]
    if plan.guessed:
        lines += _wrapped(f"{plan.records} is your own guess of the number of records, of which errors are shares")
    for privacy in dict.fromkeys(row.privacy for row in plan.rows):
        rows = [row for row in plan.rows if row.privacy == privacy]
        lines += ["", str(privacy), shown.heading]
        for row in rows:
            lines += [shown.line(row), *_errors_below(row, below, metrics)]
        for row in rows:
            if row.chosen:
                lines += _wrapped(_why(plan, row)) + _wrapped(_in_units(plan, row, unit))
    if plan.left_out:
        lines += ["", *_wrapped(say(f"does not apply: {', '.join(_reasons(plan))}"))]
    lines.append("")
    for name in names:
        if name in metrics:
            words = metrics[name].words
            told = words if unit is None else words.replace(UNITS, f"in {unit}")
            lines += _wrapped(f"{title(metrics, name)}: {told}")
    if plan.basis:
        lines += _wrapped(say(marks_of(plan.basis)))
    return "\n".join(lines)


def takes_unit(plan: Plan) -> bool:
    """Whether the page of a plan says an error in units of the column that have no name of their own."""
    metrics = metrics_of(str(what_of(plan.statistic).get("name")))
    shown = {name for row in plan.rows for name in row.errors}
    if any(UNITS in metrics[name].words for name in shown if name in metrics):
        return True
    return any(row.chosen and _in_units(plan, row, None) != _in_units(plan, row, "units") for row in plan.rows)


def _columns(plan: Plan, names: list[str], metrics: Mapping[str, Any]) -> Iterator[Column[PlanRow]]:
    yield Column(" ", lambda row: "*" if row.chosen else " ", left=True)
    if any(row.trust is not None for row in plan.rows):
        yield Column("trust", lambda row: row.trust or "", left=True)
    yield Column("method", lambda row: row.method, left=True)
    if any(str(row.price) != str(row.privacy) for row in plan.rows):
        yield Column("price", lambda row: str(row.price), left=True)
    yield Column("noise", lambda row: _size(row.noise), left=True)
    if any(row.traffic is not None for row in plan.rows):
        yield Column("upload", lambda row: "-" if row.traffic is None else row.traffic.upload, left=True)
    for name in names:
        yield Column(title(metrics, name), partial(_error, name=name))


def _errors_below(row: PlanRow, names: list[str], metrics: Mapping[str, Any]) -> list[str]:
    """Errors of a row, one in a line."""
    titles = [title(metrics, name) for name in names]
    errors = [_error(row, name) for name in names]
    widths = [max(map(len, cells), default=0) for cells in (titles, errors)]
    return [
        f"    {heading.ljust(widths[0])}  {error.rjust(widths[1])}"
        for heading, error in zip(titles, errors, strict=True)
    ]


def _size(noise: str) -> str:
    """The size of the noise, where it is known as a number of records; else its words."""
    found = _SIZE.search(noise)
    return noise if found is None else found[0]


def _error(row: PlanRow, name: str) -> str:
    if name in row.spans:
        return "..".join(f"{each:.2g}" for each in row.spans[name])
    return f"{row.errors[name]:.3g}" if name in row.errors else "-"


def _why(plan: Plan, row: PlanRow) -> str:
    asked = what_of(plan.statistic)
    automatic = "auto" in (asked.get("method"), asked.get("curve"))
    named = row.method if row.trust is None else f"{row.method} under {row.trust}"
    reason = "auto takes it, by its predicted error" if automatic else "as it was asked for"
    return f"* {named} will be used: {reason}"


def _in_units(plan: Plan, row: PlanRow, unit: str | None) -> str:
    """Errors of quantiles as distances of values; nothing where they are not read, or the grid is not even."""
    asked = what_of(plan.statistic)
    if asked.get("name") not in _OF_VALUES or "ks_95" not in row.errors or not isinstance(asked.get("grid"), dict):
        return ""
    try:
        grid = Grid.from_dict(asked["grid"])
    except OgiveError:
        return ""
    low, high = float(grid.thresholds[0]), float(grid.thresholds[-1])
    if grid.kind not in ("linear", "integers") or not low < high:
        return ""
    divisor, named = {"date": (1.0, "days"), "datetime": (_DAY, "days")}.get(grid.unit, (1.0, unit or ""))
    span, step = (high - low) / divisor, (high - low) / (len(grid.thresholds) - 1) / divisor

    def within(share: float) -> str:
        return counted(share * span + step, named)

    told = f"every quantile within {within(row.errors['ks_95'])}"
    if "rmse" in row.errors:
        told = f"median within {within(2 * row.errors['rmse'])}, {told}"
    return (
        f"  {told} in 95 of 100 releases, a step of the grid included and sampling error not, if values are spread "
        "evenly over the bounds; where they are dense it is less, where they are sparse more"
    )


def counted(number: float, unit: str) -> str:
    """A number of units: one year, two years."""
    shown = f"{number:.2g}"
    one = shown == "1" and unit.endswith("s") and not unit.endswith(("ss", "us"))
    return f"{shown} {unit[:-1] if one else unit}".rstrip()


def _reasons(plan: Plan) -> Iterator[str]:
    """Each method that does not fit, with the reason of the first guarantee and trust model that it does not fit."""
    fitting = {row.method for row in plan.rows}
    for method in dict.fromkeys(each.method for each in plan.left_out if each.method not in fitting):
        reason = next(marks_of(each.reason) for each in plan.left_out if each.method == method).split(";")[0]
        for front in (f"method '{method}' ", f"method {method} ", f"{method} "):
            reason = reason.removeprefix(front)
        yield f"{method} ({reason})"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
