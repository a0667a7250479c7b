"""Table 1: instances, fraction of positive ones and features of the paper's real data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.demo.data import read_table
from ogive_papers.ecdf.data_sets import DATA_SETS, SIMULATED, DataSet, inputs_of
from ogive_papers.ecdf.stand_ins import absence
from ogive_papers.items import TABLE, Item, Numbers, Places, Setting
from ogive_papers.summaries import Row, Summary
from ogive_papers.verdicts import Check, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INSTANCES, SHARE, FEATURES = "instances", "positive fraction", "features"
LAST_DIGIT = 0.001
"""Printed fractions are held to be right to within one of their last digit."""


def count(setting: Setting, seed: int, data: Places) -> Numbers:
    """What a file holds; nothing where it is absent."""
    data_set = DATA_SETS[str(setting["data set"])]
    path = data_set.find(data)
    if path is None:
        return {}
    table, positive = read_table(data_set, path)
    return {INSTANCES: positive.size, SHARE: float(positive.mean()), FEATURES: table.num_columns}


def settings(quick: bool) -> tuple[Setting, ...]:
    """Every data set."""
    return tuple({"data set": name} for name in DATA_SETS)


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare what is printed with what the files hold; these are exact, so one run decides."""
    return tuple(check for row in summary.rows for check in _row_checks(row))


def _row_checks(row: Row) -> tuple[Check, ...]:
    data_set = DATA_SETS[str(row.setting["data set"])]
    share = f"a fraction of {data_set.share:.3f} is positive, to within {LAST_DIGIT}"
    claims = (
        (INSTANCES, f"{data_set.instances} instances", 0.0, data_set.instances, "{:.0f}"),
        (SHARE, share, LAST_DIGIT, data_set.share, "{:.4f}"),
        (FEATURES, f"{data_set.features} features", 0.0, data_set.features, "{:.0f}"),
    )
    if absent(row, data_set):
        claim = f"{data_set.title}: {', '.join(words for _, words, *_ in claims)}"
        return (Check(claim, Outcome.UNDECIDED, absence(data_set)),)
    checks = []
    for quantity, words, tolerance, printed, form in claims:
        result = row.cells[quantity].mean
        outcome = Outcome.HOLDS if abs(result - printed) <= tolerance else Outcome.FAILS
        evidence = f"found {form.format(result)}"
        checks.append(Check(f"{data_set.title}: {words}", outcome, evidence, essential=quantity != INSTANCES))
    return tuple(checks)


def absent(row: Row, data_set: DataSet) -> bool:
    """Whether the file of a data set was not found."""
    return row.setting[f"{data_set.name} data"] == SIMULATED


def draw(summary: Summary, figure: Figure) -> None:
    """The table as printed and as found."""
    axes = figure.subplots()
    axes.set_axis_off()
    lines = []
    for row in summary.rows:
        data_set = DATA_SETS[str(row.setting["data set"])]
        printed = (str(data_set.instances), f"{data_set.share:.3f}", str(data_set.features))
        if absent(row, data_set):
            result = ("no file", "", "")
        else:
            cells = row.cells
            result = (f"{cells[INSTANCES].mean:.0f}", f"{cells[SHARE].mean:.4f}", f"{cells[FEATURES].mean:.0f}")
        lines.append([data_set.title, *(text for pair in zip(printed, result, strict=True) for text in pair)])
    names = [f"{name}, {how}" for name in (INSTANCES, SHARE, FEATURES) for how in ("printed", "found")]
    table = axes.table(
        [["data set", *(name.replace(", ", ",\n") for name in names)], *lines], loc="center", cellLoc="right",
        edges="horizontal",
    )  # fmt: skip
    table.scale(1, 2.4)


TABLE_1 = Item(
    "ecdf", TABLE, 1, "the real data, as printed and as found",
    settings, count, draw, judge,
    ("demo/data.py", "papers/ecdf/data_sets.py", "papers/ecdf/summary_table.py"),
    inputs=inputs_of(*DATA_SETS), most_runs=1,
)  # fmt: skip
