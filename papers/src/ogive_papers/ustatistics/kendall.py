"""Figure 4, one run: randomized response on pairs of ratings, unary reports beside it, and protocols in pairs."""

from __future__ import annotations

import math

from ogive.local import RandomizedResponse, UnaryOracle, simulate
from ogive.privacy import exact
from ogive.statistics.ustatistic import means
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.randomness import streams
from ogive_papers.ustatistics import kendall_pairs
from ogive_papers.ustatistics.ratings import coefficients, histogram, signs

PAPER, OURS = "randomized response, as printed", "projected unary reports"
COVERED = "truth within 1.96 stated standard errors"
STATED = "stated standard error"
TRUTHS = ("tau-a", "tau-b", "gamma")

EPSILONS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0)

CODE = (
    "local/*.py", "pairs/*.py", "statistics/ustatistic/laws.py", "statistics/ustatistic/means.py",
    "papers/ustatistics/all_pairs.py", "papers/ustatistics/kendall.py",
    "papers/ustatistics/kendall_pairs.py", "papers/ustatistics/ratings.py",
)  # fmt: skip


def settings(quick: bool) -> tuple[Setting, ...]:
    """Every epsilon."""
    return tuple({"epsilon": epsilon} for epsilon in ((0.5, 1.0, 10.0) if quick else EPSILONS))


def errors(setting: Setting, seed: int, data: Places) -> Numbers:
    """Absolute errors of one collection of reports, those of pairs, and the exact coefficients."""
    generator, _ = streams(seed)
    counts = histogram(data)
    truth = coefficients(counts)
    numbers = dict(truth)
    for name, kind in ((PAPER, RandomizedResponse), (OURS, UnaryOracle)):
        oracle = kind(counts.size, exact(setting["epsilon"], "epsilon"))
        result = means.means(oracle, simulate(oracle, counts.reshape(-1), generator=generator), [signs()])
        error = abs(float(result.values[0]) - truth["tau-a"])
        numbers[name] = error
        if name == PAPER:
            numbers[STATED] = math.sqrt(max(float(result.covariance[0, 0]), 0.0))
            numbers[COVERED] = float(error <= 1.96 * numbers[STATED])
    return numbers | kendall_pairs.errors(counts.reshape(-1), float(setting["epsilon"]), generator)
