"""Figures 6 and 7: one run of the generic protocol with the AUC kernel."""

from __future__ import annotations

import math

import numpy as np

from ogive.local import HaarOracle, PublicClasses, RandomizedResponse, simulate
from ogive.privacy import exact
from ogive.statistics.ustatistic import means
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.randomness import streams
from ogive_papers.ustatistics.auc import EPSILONS, MOST_HAAR
from ogive_papers.ustatistics.scores import classes

PAPER, OURS = "randomized response, as printed", "one bit in the Haar basis"
STATED = "stated standard error of randomized response"
NOISE = "against the binned area"
GUESS = "of the guess 1/2"

EXPONENTS = (2, 4, 6, 8, 10, 12)

CODE = (
    "local/*.py", "statistics/ustatistic/laws.py", "statistics/ustatistic/means.py",
    "papers/ustatistics/generic.py", "papers/ustatistics/scores.py",
)  # fmt: skip


def settings(*names: str, quick: bool) -> tuple[Setting, ...]:
    """Every data set at every number of bins and epsilon."""
    exponents = (2, 5, 8) if quick else EXPONENTS
    epsilons = (1.0, 4.0) if quick else EPSILONS
    return tuple(
        {"data": name, "exponent": exponent, "epsilon": epsilon}
        for name in names for exponent in exponents for epsilon in epsilons
    )  # fmt: skip


def errors(setting: Setting, seed: int, data: Places) -> Numbers:
    """Absolute errors of one collection of reports; the kernel counts ties half, as it must within a bin."""
    generator, _ = streams(seed)
    bins = 1 << int(setting["exponent"])
    people = classes(str(setting["data"]), bins, generator, data)
    kernel = np.tri(bins, k=-1) + np.eye(bins) / 2
    epsilon = exact(setting["epsilon"], "epsilon")
    response = PublicClasses(RandomizedResponse(bins, epsilon), 2)
    printed = means.two_sample_means(response, simulate(response, people.by_symbol, generator=generator), [kernel])
    numbers = {
        PAPER: abs(float(printed.values[0]) - people.half),
        GUESS: abs(0.5 - people.half),
        NOISE: abs(float(printed.values[0]) - people.binned),
        STATED: math.sqrt(max(float(printed.covariance[0, 0]), 0.0)),
    }
    if bins <= MOST_HAAR:
        haar = PublicClasses(HaarOracle(bins, epsilon, seed=seed >> 65, weights="uniform"), 2)
        ours = means.two_sample_means(haar, simulate(haar, people.by_symbol, generator=generator), [kernel])
        numbers[OURS] = abs(float(ours.values[0]) - people.half)
    return numbers
