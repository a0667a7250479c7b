"""Compile what releases use before anybody waits for it: a release of each kind, of records that are made up.

`ogive warmup` runs it, where an image is built or after an installation. What is compiled depends on the types of
arrays and not on their sizes, so small records do.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ogive
from ogive.core import compiling, machine_code
from ogive.errors import NoiseWarning
from ogive.privacy import Adjacency, ApproxDP, Privacy, PureDP, ZeroConcentratedDP

ROWS = 400
_PURE, _CONCENTRATED, _APPROXIMATE = PureDP(1), ZeroConcentratedDP("0.5"), ApproxDP(2, "1e-6")


class Task(NamedTuple):
    """Releases that share loops: what they are, in a few words, and what makes them."""

    name: str
    run: Callable[[], object]


class Done(NamedTuple):
    """A task that was done: how many functions, which were kept nowhere before, were compiled in how many seconds."""

    name: str
    compiled: int
    seconds: float


def place() -> Path | None:
    """The folder in which compiled code is kept: the package's own, or one outside it; None where there is none."""
    package = Path(__file__).parents[1]
    folder = machine_code.folders_of(package / "core/compiling.py")[1]
    if folder is None:
        return None
    return package if package in folder.parents else folder.parent


def warm(*, kept: bool = False) -> Iterator[Done]:
    """Do all tasks, compiled from the first step on; yields each when it is done."""
    for task in tasks():
        begun = time.perf_counter()
        with compiling.everything(kept=kept) as compiled, warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseWarning)  # of invented records
            task.run()
        yield Done(task.name, len(compiled), time.perf_counter() - begun)


def tasks() -> tuple[Task, ...]:
    """What is released, the most usual first."""
    return (
        Task("curves", _curves),
        Task("curves with Gaussian noise", _gaussian_curves),
        Task("quantiles, boxplots and bounds", _quantiles),
        Task("ROC curves", _roc),
        Task("calibration", _calibration),
        Task("statistics of pairs", _pairs_of_records),
        Task("records of persons", _persons),
        Task("labels by teachers", _labels),
        Task("reports of owners", _local),
        Task("sums of parties", _parties),
        Task("sums of servers", _servers),
        Task("people who meet in pairs", _meetings),
    )


def _records(rows: int = ROWS) -> dict[str, list[Any]]:
    """Records that nobody has, the same every time."""
    draw = random.Random(1)
    scores = [draw.random() for _ in range(rows)]
    return {
        "value": [draw.gauss(50, 15) for _ in range(rows)],
        "count": [draw.randrange(100) for _ in range(rows)],
        "score": scores,
        "label": [int(draw.random() < score) for score in scores],
        "vote": [draw.randrange(3) for _ in range(rows)],
        "ward": [draw.choice(("north", "south")) for _ in range(rows)],
        "person": [f"p{row // 3}" for row in range(rows)],
    }


def _release(statistic: Any, privacy: Privacy = _PURE, trust: Any = None, adjacency: Any = Adjacency.REPLACE) -> Any:
    result = ogive.release(statistic, trust=trust or ogive.Central(_records()), privacy=privacy, adjacency=adjacency)
    str(result)
    return result


def _read_only(statistic: Any) -> None:
    """Release from arrays that cannot be written to, as those of frames and files may be."""
    arrays = {name: np.array(values) for name, values in _records().items()}
    for each in arrays.values():
        each.flags.writeable = False
    _release(statistic, trust=ogive.Central(arrays))


def _curves() -> None:
    for column in ("value", "count"):
        for method in ("auto", "path", "tree_ls", "hat_ls", "projection", "histogram", "adaptive", "selected"):
            curve = _release(ogive.Ecdf(column, bounds=(0, 100), bins=64, method=method))
            curve.quantile(0.5)
            curve.band(0.95)
        _read_only(ogive.Ecdf(column, bounds=(0, 100), bins=64))
    for unbiased in ("path", "tree_ls", "hat_ls"):
        for smooth in ("shrinkage", "least_squares", "least_absolute", "isotonic"):
            _release(ogive.Ecdf("value", bounds=(0, 100), bins=64, method=unbiased, smooth=smooth))
        _release(ogive.Ecdf("value", bounds=(0, 100), bins=64, method=unbiased), adjacency=Adjacency.ADD_OR_REMOVE)


def _gaussian_curves() -> None:
    for method in ("auto", "path", "tree_ls", "hat_ls", "sqrt", "projection", "histogram", "adaptive", "selected"):
        curve = _release(ogive.Ecdf("value", bounds=(0, 100), bins=64, method=method), _APPROXIMATE)
        curve.band(0.95)
    _release(ogive.Ecdf("value", bounds=(0, 100), bins=64, method="sqrt", smooth="least_squares"), _CONCENTRATED)


def _quantiles() -> None:
    for method in ("auto", "path", "tree_ls", "hat_ls", "bisection"):
        _release(ogive.Quantiles("value", (0.25, 0.5, 0.75), bounds=(0, 100), bins=64, method=method))
    for way in ("resample", "five_numbers"):
        _release(ogive.Boxplot("value", bounds=(0, 100), bins=64, method=way))
        boxes = ogive.Boxplot("value", bounds=(0, 100), bins=64, by="ward", groups=("north", "south"), method=way)
        _release(boxes)
    _release(ogive.Bounds("value"))


def _roc() -> None:
    for budget in ("joint", "split"):
        for method in ("auto", "path", "tree_ls", "hat_ls"):
            _release(ogive.Roc("score", "label", bounds=(0, 1), bins=64, budget=budget, method=method))
    _release(ogive.Roc("score", "label", bounds=(0, 1), bins=64), _APPROXIMATE)
    _read_only(ogive.Roc("score", "label", bounds=(0, 1), bins=64))


def _calibration() -> None:
    for form in ("difference", "counts"):
        for method in ("auto", "path", "tree_ls", "hat_ls"):
            _release(ogive.HosmerLemeshow("score", "label", bins=64, form=form, method=method))
    _read_only(ogive.HosmerLemeshow("score", "label", bins=64))


def _pairs_of_records() -> None:
    ranks = {"label": (0, 1), "vote": (0, 1, 2)}
    for method in ("kernel", "cells"):
        _release(ogive.Ustatistic("value", "gini", bounds=(0, 100), bins=16, method=method))
        _release(ogive.Ustatistic("vote", "collision", categories=(0, 1, 2), method=method))
        _release(ogive.Ustatistic(("label", "vote"), "kendall", categories=ranks, method=method))
        _release(ogive.Ustatistic(("score", "label"), "auc", bounds=(0, 1), bins=16, method=method))


def _persons() -> None:
    held = ogive.Central(_records(), person="person", max_rows_per_person=2)
    _release(ogive.Ecdf("value", bounds=(0, 100), bins=64), trust=held, adjacency=Adjacency.ADD_OR_REMOVE)


def _labels() -> None:
    from ogive.pate import GNMax, LargestMargins, LNMax
    from ogive.queries import Ballots
    from ogive.statistics import Labels

    ballots = Ballots(("label", "vote"), classes=3)
    for aggregator in (LargestMargins(40, keep=1), LNMax(20), GNMax(40)):
        _release(Labels(aggregator, ballots), ApproxDP(8, "1e-6"))


def _local() -> None:
    held = ogive.Local(_records())
    for method in ("reports", "histogram"):
        _release(ogive.Ecdf("value", bounds=(0, 100), bins=64, method=method), trust=held)
    _release(ogive.Boxplot("value", bounds=(0, 100), bins=64), trust=held)
    for oracle in ("krr", "unary", "haar"):
        _release(ogive.Ustatistic("value", "gini", bounds=(0, 100), bins=16, method=oracle), trust=held)
    _release(ogive.Ustatistic(("score", "label"), "auc", bounds=(0, 1), bins=8, method="krr"), trust=held)


def _parties() -> None:
    held = ogive.Simulation(ogive.SecAgg, parties=3).over(_records())
    for privacy in (_PURE, _CONCENTRATED):
        _release(ogive.Ecdf("value", bounds=(0, 100), bins=64), privacy, trust=held)
    _release(ogive.Roc("score", "label", bounds=(0, 1), bins=64), trust=held)


def _servers() -> None:
    for upload, options in (("tables", {}), ("keys", {}), ("sums", {"parties": 3})):
        held = ogive.Simulation(ogive.Servers, upload=upload, **options).over(_records(60))
        _release(ogive.Ecdf("value", bounds=(0, 100), bins=16, method="tree_ls"), trust=held)
        _release(ogive.Roc("score", "label", bounds=(0, 1), bins=16), trust=held)


def _meetings() -> None:
    held = ogive.Pairs(_records(16))
    _release(ogive.Ustatistic("value", "gini", bounds=(0, 100), bins=8, method="paired"), _APPROXIMATE, trust=held)
