"""Where real data are absent: say so on every picture, and conclude nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ogive_papers.ecdf.data_sets import SIMULATED, DataSet
from ogive_papers.simulated import stamp
from ogive_papers.summaries import Summary
from ogive_papers.verdicts import Check, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def is_simulated(summary: Summary, data_set: DataSet) -> bool:
    """Whether a stand-in was measured in place of a data set."""
    return any(row.setting.get(f"{data_set.name} data") == SIMULATED for row in summary.rows)


def withheld(summary: Summary, checks: Sequence[Check], *data_sets: DataSet) -> tuple[Check, ...]:
    """The checks, undecided where one of the data sets they are about was simulated."""
    absent = [data_set for data_set in data_sets if is_simulated(summary, data_set)]
    if not absent:
        return tuple(checks)
    words = " and ".join(absence(data_set) for data_set in absent) + "; on a SIMULATED stand-in: "
    return tuple(
        dataclasses.replace(check, outcome=Outcome.UNDECIDED, evidence=words + check.evidence) for check in checks
    )


def absence(data_set: DataSet) -> str:
    """What to say where the real data are needed and not there."""
    return f"no file {data_set.files[0]} was found; name a copy or its folder with --data"


def mark(axes: Axes, summary: Summary, data_set: DataSet, title: str) -> None:
    """Title a picture, and say over it if it shows a stand-in."""
    axes.set_title(title)
    if is_simulated(summary, data_set):
        stamp(axes, data_set.title)
