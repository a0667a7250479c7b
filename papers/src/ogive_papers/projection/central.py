"""Figures 1, 2, D1 and D2: all records in one place.

Methods are named with what they are charged for: "naive" for every count on its own, as the paper's results need,
"joint" for what all counts cost together. Those of `LIBRARY_MODE` are real releases of the library, but for PP, whose
curve is smoothed as in the paper. All have Gaussian noise; for a histogram the library by itself takes Laplace noise.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from ogive.core.arrays import Float64
from ogive.noise import KeyedSource
from ogive.statistics.curve.estimate import Curve
from ogive.strategies import OpenedThresholds
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
from ogive_papers.projection.distances import distances
from ogive_papers.projection.per_point import CODE as PER_POINT_CODE
from ogive_papers.projection.per_point import per_point_curves
from ogive_papers.projection.releases import (
    CODE,
    DEGREE,
    GAUSSIAN_HISTOGRAM,
    OUR_HISTOGRAM,
    OUR_PROJECTION,
    OUR_QUANTILES,
    SIZE,
    ReleasedMethod,
    exact,
    guarantee,
    histograms,
    projection,
    released,
    released_curve,
    values_of,
)
from ogive_papers.projection.shapes import SHAPES, Shape
from ogive_papers.randomness import streams

Curves = dict[str, Float64]
Points = dict[str, tuple[Float64, Float64]]

RECORDS = 10_000
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
QUICK_EPSILONS = (0.1, 1.0, 5.0)

PP, HQ_NAIVE, AQ_NAIVE = "PP", "HQ, naive", "AQ, naive"
PP_EXACT, HQ, AQ, SHAPED = "PP, exact", "HQ, joint", "AQ, joint", "LEG-E"
HQ_LAPLACE = "HQ, Laplace"
NO_PRIVACY, HQ_STEP, HQ_CUT, ISOTROPIC = "no privacy", "HQ, joint, step", "HQ, joint, cut", "LEG K=6"
SHAPED_6, SHAPED_10, SHAPED_20 = (f"{SHAPED} K={degree}" for degree in (6, 10, 20))

PAPER_MODE = (PP, HQ_NAIVE, AQ_NAIVE)
LIBRARY_MODE = (PP_EXACT, HQ, AQ, SHAPED)

CENTRAL_CODE = (*CODE, *PER_POINT_CODE, "papers/projection/central.py")


def delta_of(records: int) -> float:
    """The paper's delta, N^-3/2."""
    return math.pow(records, -1.5)


def quantity(method: str, distance: str) -> str:
    """Name of a number: a method's distance from the truth."""
    return f"{method}: {distance}"


def settings(shapes: tuple[str, ...], quick: bool) -> tuple[Setting, ...]:
    """Every distribution at every epsilon."""
    return tuple(
        {"data": shape, "epsilon": epsilon} for shape, epsilon in product(shapes, QUICK_EPSILONS if quick else EPSILONS)
    )


def errors(setting: Setting, seed: int, data: Places) -> Numbers:
    """Distances of one release by every method from the true distribution function."""
    shape = SHAPES[str(setting["data"])]
    generator, source = streams(seed)
    records = shape.records(generator, RECORDS)
    epsilon = float(setting["epsilon"])
    curves, _ = private_curves(shape, records, epsilon, generator, source)
    curves |= per_point_curves(shape, records, epsilon, delta_of(records.size), generator)
    return measured(curves, shape.truth, shape.high - shape.low)


def measured(curves: Curves, truth: Float64, width: float) -> Numbers:
    """All distances of all curves."""
    return {
        quantity(name, distance): value
        for name, curve in curves.items()
        for distance, value in distances(curve, truth, width).items()
    }


def private_curves(
    shape: Shape, records: Float64, epsilon: float, generator: np.random.Generator, source: KeyedSource
) -> tuple[Curves, Points]:
    """One release by every method; of adaptive quantiles also the points that were asked for."""
    size, axis, delta = records.size, shape.axis, delta_of(records.size)
    privacy = guarantee(epsilon, delta)
    groups = histogram_counts(records, shape.low, shape.high)

    def noisy_groups(sigma: float) -> Float64:
        return groups + sigma * generator.standard_normal(GROUPS)

    joint = noisy_groups(math.sqrt(2) * scale(epsilon, delta))
    curves: Curves = {
        NO_PRIVACY: np.searchsorted(np.sort(records), axis, side="right") / size,
        HQ_NAIVE: histogram_curve(noisy_groups(scale(epsilon, delta, parts=GROUPS)), axis, linear=False),
        HQ_STEP: histogram_curve(joint, axis, linear=False),
        HQ_CUT: histogram_curve(joint, axis, linear=True),
    }
    noise = scale(epsilon, delta, parts=ROUNDS) * generator.standard_normal(ROUNDS)
    naive = adaptive_points(counter(records), size, shape.low, shape.high, noise)
    curves[AQ_NAIVE] = np.interp(axis, *naive)

    designs = {
        PP: projection(privacy, size, DEGREE, "moments", "paper"),
        PP_EXACT: projection(privacy, size, DEGREE, "moments"),
        ISOTROPIC: projection(privacy, size, DEGREE, "isotropic"),
        SHAPED_6: projection(privacy, size, 6),
        SHAPED_10: projection(privacy, size, 10),
        SHAPED_20: projection(privacy, size, 20),
    }
    counts = histograms([records], shape.low, shape.high)
    curves |= {name: released(strategy, counts, source) for name, strategy in designs.items()}
    methods: dict[str, ReleasedMethod] = {
        SHAPED: OUR_PROJECTION,
        HQ: GAUSSIAN_HISTOGRAM,
        HQ_LAPLACE: OUR_HISTOGRAM,
        AQ: OUR_QUANTILES,
    }
    library = {
        name: released_curve(records, (shape.low, shape.high), privacy, method, source)
        for name, method in methods.items()
    }
    curves |= {name: values_of(curve) for name, curve in library.items()}
    return curves, {AQ_NAIVE: naive, AQ: asked(library[AQ], axis)}


def asked(curve: Curve, axis: Float64) -> tuple[Float64, Float64]:
    """Where the library's adaptive quantiles asked, bounds included, and the curve there."""
    strategy = curve.strategy
    assert isinstance(strategy, OpenedThresholds)
    places = np.array([0, *sorted(point + 1 for point in strategy.points if point + 1 < SIZE), SIZE])
    return axis[places], values_of(curve)[places]


def plain_curves(shape: Shape, records: Float64, epsilon: float) -> tuple[Curves, Points]:
    """What every method makes of the records without noise, by the names of the private ones.

    Args:
        shape: Where the records come from.
        records: All of them.
        epsilon: Decides how many polynomials the library takes.
    """
    size, axis = records.size, shape.axis
    groups = histogram_counts(records, shape.low, shape.high)
    result = adaptive_points(counter(records), size, shape.low, shape.high, np.zeros(ROUNDS))
    counts = histograms([records], shape.low, shape.high)
    privacy = guarantee(epsilon, delta_of(size))
    curves = {
        HQ_NAIVE: histogram_curve(groups, axis, linear=False),
        PP: exact(projection(privacy, size, DEGREE, "moments", "paper"), counts),
        HQ: histogram_curve(groups, axis, linear=True),
        SHAPED: exact(projection(privacy, size, None), counts),
    }
    points = {AQ_NAIVE: result, AQ: result}
    return curves | {name: np.interp(axis, *result) for name in points}, points
