"""Figure 7: how long smoothing takes (the paper, Section 6.7).

The paper's two programs solved by cvxopt, where that is installed, beside this library's own
algorithms on the same noisy curves. Each number is the best of a few repetitions in one
process with one thread; nothing else of the reproduction runs meanwhile.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable

import numpy as np

from ogive.strategies.smoothing import smooth
from ogive_papers.ecdf.releases import measure, paper_strategy, poisson_counts
from ogive_papers.ecdf.solvers import solve_paper
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.randomness import streams

EXPONENTS = tuple(range(5, 16))
QUICK_EXPONENTS = (5, 6, 7, 8, 9, 10)
EPSILON, RATE = 1.0, 3.0

LOG_RATIO = "log(QP / LP)"
AGREEMENT = "largest difference of p=2 curves, in records"
LINEAR, QUADRATIC = "cvxopt LP (p=1)", "cvxopt QP (p=2)"
OUR_LINEAR, OUR_QUADRATIC = "ours (p=1)", "ours (p=2)"


def smoothing_times(setting: Setting, seed: int, data: Places) -> Numbers:
    """Seconds of every solver on one noisy curve of N points, and how far solutions are apart."""
    size = int(setting["size"])
    generator, source = streams(seed)
    counts = poisson_counts(size, RATE, generator)
    total = max(int(counts.sum()), 1)
    strategy = paper_strategy(size, EPSILON)
    answer = measure(strategy, counts, source)

    def ours(kind: str) -> Callable[[], object]:
        return lambda: smooth(strategy, answer, total=total, kind=kind, anchor=False)

    numbers = {
        OUR_LINEAR: seconds(ours("least_absolute"), repeats=3),
        OUR_QUADRATIC: seconds(ours("least_squares"), repeats=3),
    }
    if setting["peer"] == "cvxopt":
        noisy = strategy.estimate(answer, None) / total
        linear = seconds(lambda: solve_paper(noisy, 1), repeats=1)
        quadratic = seconds(lambda: solve_paper(noisy, 2), repeats=1)
        # compared on counts: at frequencies the solver stops while it is wrong in the fourth digit
        curve, _ = solve_paper(strategy.estimate(answer, None), 2, top=total)
        own = smooth(strategy, answer, total=total, kind="least_squares", anchor=False)
        numbers |= {
            LINEAR: linear,
            QUADRATIC: quadratic,
            LOG_RATIO: math.log(quadratic / linear),
            AGREEMENT: float(np.abs(curve - own).max()),
        }
    return numbers


def seconds(work: Callable[[], object], *, repeats: int) -> float:
    """Best time of a few, after one call that is not counted (compilation, caches)."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def settings(quick: bool) -> tuple[Setting, ...]:
    """Sizes up to that of the paper's other figures, with cvxopt where it is installed."""
    peer = "cvxopt" if importlib.util.find_spec("cvxopt") else "none"
    return tuple({"size": 2**e, "peer": peer} for e in (QUICK_EXPONENTS if quick else EXPONENTS))
