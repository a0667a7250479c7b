"""Figures 3, D3 and D4: records that come in ten parts, at ten sites or one after the other.

Projections and histograms cost the same in both cases: every part is measured once, with noise of its own. Adaptive
quantiles ask every site in every round, and all records again after every update, which is where the two differ.
The noisy integers of all parts are added up as `merge` does it, and the curve is smoothed as `merge` does.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.projection.baselines import (
    GROUPS,
    ROUNDS,
    adaptive_points,
    counter,
    histogram_counts,
    histogram_curve,
    scale,
)
from ogive_papers.projection.central import (
    AQ,
    AQ_NAIVE,
    CENTRAL_CODE,
    EPSILONS,
    HQ,
    HQ_CUT,
    HQ_LAPLACE,
    HQ_NAIVE,
    PP,
    PP_EXACT,
    QUICK_EPSILONS,
    RECORDS,
    SHAPED,
    SHAPED_10,
    SHAPED_20,
    delta_of,
    measured,
)
from ogive_papers.projection.releases import (
    DEGREE,
    GAUSSIAN_HISTOGRAM,
    OUR_HISTOGRAM,
    guarantee,
    histogram,
    histograms,
    projection,
    released,
)
from ogive_papers.projection.shapes import SHAPES, axis_of
from ogive_papers.projection.weights import HIGH, LIKE, LOW, weights
from ogive_papers.projection.weights import RECORDS as WEIGHED
from ogive_papers.randomness import streams

PARTS = 10
SITES, UPDATES = "sites", "updates"
WEIGHTS = "weights"

SECURE = ", secure sum"
"""Added to a method's name: the sites' vectors are masked, only their sum is seen, and it has noise for one release.
That is one release of all records; `SecAgg` draws the same noise in shares."""

PARTS_CODE = (*CENTRAL_CODE, "papers/projection/parts.py", "papers/projection/weights.py")


def settings(data: tuple[str, ...], ways: tuple[str, ...], quick: bool) -> tuple[Setting, ...]:
    """Every data set in every way at every epsilon."""
    epsilons = QUICK_EPSILONS if quick else EPSILONS
    return tuple({"data": name, "way": way, "epsilon": epsilon} for name, way, epsilon in product(data, ways, epsilons))


def errors(setting: Setting, seed: int, data: Places) -> Numbers:
    """Distances of one release by every method from the true distribution function, after all parts have come."""
    generator, source = streams(seed)
    epsilon, way = float(setting["epsilon"]), str(setting["way"])
    if setting["data"] == WEIGHTS:
        low, high = LOW, HIGH
        axis = axis_of(low, high)
        records = generator.permutation(weights(data))
        # of these people themselves: no other truth is known
        truth = np.searchsorted(np.sort(records), axis, side="right") / records.size
    else:
        shape = {**SHAPES, LIKE.name: LIKE}[str(setting["data"])]
        low, high, axis, truth = shape.low, shape.high, shape.axis, shape.truth
        records = shape.records(generator, WEIGHED if shape is LIKE else RECORDS)

    size = records.size
    delta = delta_of(size)
    privacy = guarantee(epsilon, delta)
    parts = np.array_split(records, PARTS)
    counts = histograms(parts, low, high)
    designs = {
        PP: projection(privacy, size, DEGREE, "moments", "paper"),
        PP_EXACT: projection(privacy, size, DEGREE, "moments"),
        # all parts agree on the degree that suits the whole
        SHAPED: projection(privacy, size, None),
        SHAPED_10: projection(privacy, size, 10),
        SHAPED_20: projection(privacy, size, 20),
        HQ: histogram(privacy, GAUSSIAN_HISTOGRAM),
        HQ_LAPLACE: histogram(privacy, OUR_HISTOGRAM),
    }
    curves = {name: released(strategy, counts, source) for name, strategy in designs.items()}
    if way == SITES:
        together = counts.sum(axis=0, keepdims=True)
        curves |= {
            f"{name}{SECURE}": released(designs[name], together, source) for name in (PP, SHAPED, SHAPED_10, SHAPED_20)
        }
    groups = histogram_counts(records, low, high)
    noise = math.sqrt(PARTS) * generator.standard_normal((2, GROUPS))
    naive, joint = scale(epsilon, delta, parts=GROUPS), math.sqrt(2) * scale(epsilon, delta)
    curves[HQ_NAIVE] = histogram_curve(groups + naive * noise[0], axis, linear=False)
    curves[HQ_CUT] = histogram_curve(groups + joint * noise[1], axis, linear=True)
    count = counter(records)
    for name, sigma in adaptive_scales(way, epsilon, delta).items():
        noise = sigma * generator.standard_normal(ROUNDS)
        curves[name] = np.interp(axis, *adaptive_points(count, size, low, high, noise))
    return measured(curves, truth, high - low)


def adaptive_scales(way: str, epsilon: float, delta: float) -> dict[str, float]:
    """Standard deviation of the noise in the counts of adaptive quantiles, with either accounting.

    With sites, the noises of all of them add up. With updates, a record that was there from the start is asked for in
    every round of every update.
    """
    if way == SITES:
        return {
            AQ_NAIVE: math.sqrt(PARTS) * scale(epsilon, delta, parts=ROUNDS),
            AQ: math.sqrt(PARTS * ROUNDS) * scale(epsilon, delta),
        }
    return {
        AQ_NAIVE: scale(epsilon, delta, parts=ROUNDS * PARTS),
        AQ: math.sqrt(PARTS * ROUNDS) * scale(epsilon, delta),
    }
