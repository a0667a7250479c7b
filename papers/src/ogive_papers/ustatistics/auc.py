"""Figures 3 and 5: one run of the AUC protocol on hierarchical histograms, as printed and as the library does it."""

from __future__ import annotations

import math

import numpy as np

from ogive.local import HaarOracle, PublicClasses, TreeOracle, simulate
from ogive.privacy import exact
from ogive.statistics.ustatistic import means
from ogive.statistics.ustatistic import trees as hierarchy
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.randomness import streams
from ogive_papers.ustatistics.scores import classes

PAPER, TIES, OURS = "as printed", "ties counted half", "four children, unary nodes"
HAAR = "one bit in the Haar basis"
STATED = "stated standard error, four children"
BOUND = "root of Theorem 3's bound"

EPSILONS = (0.5, 1.0, 2.0, 4.0)
EXPONENTS = tuple(range(2, 21, 2))
"""d = 2^exponent bins."""

MOST_HAAR = 1 << 10
"""Bins up to which the Haar basis is tried too; its kernel is a matrix."""

CODE = (
    "local/*.py", "statistics/ustatistic/trees.py",
    "papers/ustatistics/auc.py", "papers/ustatistics/scores.py",
)  # fmt: skip


def settings(*names: str, quick: bool) -> tuple[Setting, ...]:
    """Every data set at every number of bins and epsilon."""
    exponents = (4, 10, 14) if quick else EXPONENTS
    if "ithdigit" in names and not quick:
        exponents = tuple(sorted({*exponents, 13}))
    epsilons = (1.0, 4.0) if quick else EPSILONS
    return tuple(
        {"data": name, "exponent": exponent, "epsilon": epsilon}
        for name in names for exponent in exponents for epsilon in epsilons
    )  # fmt: skip


def errors(setting: Setting, seed: int, data: Places) -> Numbers:
    """Absolute errors of one collection of reports, against the area under the ROC curve of the unbinned scores."""
    generator, _ = streams(seed)
    bins = 1 << int(setting["exponent"])
    people = classes(str(setting["data"]), bins, generator, data)
    epsilon, public = exact(setting["epsilon"], "epsilon"), seed >> 65
    printed = PublicClasses(TreeOracle(bins, epsilon, seed=public), 2)
    sums = simulate(printed, people.by_symbol, generator=generator)
    paper = hierarchy.auc(printed, sums, a="paper", prune=True, ties="strict")
    half = hierarchy.auc(printed, sums, a="paper", prune=True)
    better = PublicClasses(TreeOracle(bins, epsilon, seed=public, branching=4, nodes="unary"), 2)
    ours = hierarchy.auc(better, simulate(better, people.by_symbol, generator=generator))
    numbers = {
        PAPER: abs(paper.value - people.strict),
        TIES: abs(half.value - people.half),
        OURS: abs(ours.value - people.half),
        STATED: ours.standard_error,
        BOUND: math.sqrt(half.bound("population")),
    }
    if bins <= MOST_HAAR:
        haar = PublicClasses(HaarOracle(bins, epsilon, seed=public, weights="uniform"), 2)
        kernel = np.tri(bins, k=-1) + np.eye(bins) / 2
        result = means.two_sample_means(haar, simulate(haar, people.by_symbol, generator=generator), [kernel])
        numbers[HAAR] = abs(float(result.values[0]) - people.half)
    return numbers
