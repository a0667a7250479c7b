"""Figures 6 and 10: the Hosmer-Lemeshow statistic of a logistic regression's predictions (the paper, Section 6.6).

    relative MSE = mean over runs of (H_private - H)^2 / H^2

for ten groups. The paper's release: its constants, groups ending at bisected quantiles of a raw curve over 1024
thresholds, noise Lap((L + 9) / epsilon) of its own on each of the 40 sums (as printed, two sums share one noise
and their difference would be exact), and expected counts below 1 taken as 1. Ours: the default at the
same guarantee, and its debiased statistic. Where noise leaves no group, H is taken as 0. Each run makes two
releases, to see how far they are apart.
"""

from __future__ import annotations

import math
from functools import lru_cache

from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PureDP
from ogive.records import Records
from ogive.releasing.release import release
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.calibration.statistic import HosmerLemeshow
from ogive.statistics.calibration.sums import Constants
from ogive.trust import Central, Clear
from ogive_papers.ecdf.data_sets import DATA_SETS, DataSet
from ogive_papers.ecdf.models import evaluate
from ogive_papers.ecdf.releases import CODE as RELEASE_CODE
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.randomness import streams

CODE = (
    *RELEASE_CODE,
    "queries/*.py",
    "releasing/release.py",
    "statistics/calibration/*.py",
    "statistics/curve/readings.py",
    "demo/data.py",
    "papers/ecdf/data_sets.py",
    "papers/ecdf/models.py",
    "papers/ecdf/calibration.py",
)
"""Files that decide every number here."""

GROUPS = 10
THRESHOLDS = 1024
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)

PAPER, OURS, DEBIASED = "paper", "ours", "ours, debiased"
EXPECTED = "expected positives of the lowest group"
SMALLEST = 1e-12
"""Errors relative to the statistic below this are taken as this, to have a logarithm."""


@lru_cache(maxsize=4)
def records(name: str, places: Places) -> tuple[Records, Calibration]:
    """Predictions with their classes, and the exact groups and statistic."""
    table = Records.of(evaluate(DATA_SETS[name], places).columns)
    return table, release(_wanted("exact"), trust=Clear(table))


def calibration_errors(setting: Setting, seed: int, data: Places) -> Numbers:
    """Two releases of each kind: the squared relative error of the first, and how far apart they are."""
    name, epsilon = str(setting["data set"]), float(setting["epsilon"])
    table, truth = records(name, data)
    _, source = streams(seed)
    results: dict[str, list[float]] = {PAPER: [], OURS: [], DEBIASED: []}
    for _ in range(2):
        paper, ours = (_release(table, constants, epsilon, source) for constants in ("paper", "exact"))
        results[PAPER].append(paper.statistic if paper.defined else 0.0)
        results[OURS].append(ours.statistic if ours.defined else 0.0)
        results[DEBIASED].append(ours.debiased_statistic if ours.defined else 0.0)
    numbers = {EXPECTED: truth.groups[0].expected[1]}
    for kind, (first, second) in results.items():
        error = abs(first / truth.statistic - 1)
        numbers[kind] = error**2
        numbers[f"log10 error, {kind}"] = math.log10(max(error, SMALLEST))
        apart = abs(first - second) / truth.statistic
        numbers[f"log10 difference, {kind}"] = math.log10(max(apart, SMALLEST))
    return numbers


def noise_deviation(epsilon: float) -> float:
    """Standard deviation of the paper's noise on every sum, in records."""
    return math.sqrt(2) * (THRESHOLDS.bit_length() - 1 + 9) / epsilon


def settings(quick: bool, *, data_sets: tuple[DataSet, ...]) -> tuple[Setting, ...]:
    """The epsilons of the specification for each data set."""
    chosen = (0.2, 1.0, 10.0) if quick else EPSILONS
    return tuple({"data set": data_set.name, "epsilon": epsilon} for data_set in data_sets for epsilon in chosen)


def _wanted(constants: Constants) -> HosmerLemeshow:
    return HosmerLemeshow("probability", "label", groups=GROUPS, bins=THRESHOLDS, constants=constants)


def _release(table: Records, constants: Constants, epsilon: float, source: KeyedSource) -> Calibration:
    privacy = PureDP(epsilon)
    wanted = _wanted(constants)
    return release(wanted, trust=Central(table), privacy=privacy, adjacency=Adjacency.REPLACE, source=source)
