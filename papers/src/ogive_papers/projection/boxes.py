"""Figure 4: a boxplot of private samples, and one of five private numbers, beside that of the records.

As in the paper: samples drawn from PP's curve, and five numbers of a simulation with floating-point noise. As the
library releases: both boxplots of `Boxplot`, on the bounds of the curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ogive.core.arrays import Float64
from ogive.noise import KeyedSource
from ogive.privacy import ApproxDP
from ogive.releasing.release import release
from ogive.statistics.boxplot.statistic import BoxMethod, Boxplot
from ogive.trust import Central
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.projection.central import CENTRAL_CODE, RECORDS, delta_of
from ogive_papers.projection.releases import DEGREE, SIZE, guarantee, histograms, projection, released
from ogive_papers.projection.shapes import SHAPES
from ogive_papers.randomness import streams
from ogive_papers.summaries import Cell

EPSILON = 1.0
REACH, STEP = 20.0, 0.05
"""Public candidates for the ends of the data: this far from 0, and this far apart."""

ORIGINAL, RESAMPLED, FIVE = "original", "resampled, PP", "five numbers"
OURS, OUR_FIVE = "resampled, library", "five numbers, library"
FIVE_MONOTONE = "five numbers, monotone"
DEGREES = {f"resampled, LEG-E K={degree}": degree for degree in (6, 10, 20)}
ENDS, QUARTILES = ("low end", "high end"), ("Q1", "median", "Q3")
OUTLIERS = "outliers"
PICTURE, ERRORS = "picture", "errors"

BOXES_CODE = (*CENTRAL_CODE, "papers/projection/boxes.py")


@dataclass(frozen=True)
class Box:
    """What a boxplot shows.

    Fields:
        low: The smallest value, an outlier or not.
        q1, median, q3: The quartiles.
        high: The largest value.
        whiskers: The ends that are drawn; outliers lie beyond.
        outliers: Those that are drawn.
        beyond: How many there are.
    """

    low: float
    q1: float
    median: float
    q3: float
    high: float
    whiskers: tuple[float, float]
    outliers: Float64
    beyond: int

    @property
    def numbers(self) -> Numbers:
        """Ends, quartiles and the number of outliers."""
        values = (self.low, self.high, self.q1, self.median, self.q3, float(self.beyond))
        return dict(zip((*ENDS, *QUARTILES, OUTLIERS), values, strict=True))


def settings(quick: bool) -> tuple[Setting, ...]:
    """One picture, and repeated runs."""
    common: Setting = {"data": "normal", "epsilon": EPSILON}
    return ({**common, "show": PICTURE, "runs": 1}, {**common, "show": ERRORS})


def measure(setting: Setting, seed: int, data: Places) -> Numbers:
    """All boxes of one run; for the picture with whiskers and outliers."""
    shape = SHAPES[str(setting["data"])]
    epsilon = float(setting["epsilon"])
    generator, source = streams(seed)
    # the paper bounds neither; what is beyond 4 standard deviations is cut for projections alone
    records = shape.draw(generator, RECORDS)
    privacy = guarantee(epsilon, delta_of(RECORDS))
    counts = histograms([np.clip(records, shape.low, shape.high)], shape.low, shape.high)
    designs = {
        RESAMPLED: projection(privacy, RECORDS, DEGREE, "moments", "paper"),
        **{name: projection(privacy, RECORDS, degree) for name, degree in DEGREES.items()},
    }
    boxes = {
        ORIGINAL: box_of(records),
        FIVE: five_numbers(records, epsilon, generator, monotone=False),
        FIVE_MONOTONE: five_numbers(records, epsilon, generator, monotone=True),
        OURS: released_box(records, (shape.low, shape.high), privacy, "resample", source),
        OUR_FIVE: released_box(records, (shape.low, shape.high), privacy, "five_numbers", source),
    }
    for name, strategy in designs.items():
        curve = released(strategy, counts, source)
        boxes[name] = box_of(resample(curve, shape.axis, RECORDS, generator))
    if setting["show"] == PICTURE:
        return {key: value for name, box in boxes.items() for key, value in _pictured(name, box).items()}
    result: Numbers = {}
    for name, box in boxes.items():
        result |= {f"{name}: {key}": value for key, value in box.numbers.items()}
        if name != ORIGINAL:
            result |= {f"{name}: {key}": value for key, value in misses(box, boxes[ORIGINAL]).items()}
    return result


OFF_ENDS, OFF_QUARTILES, OFF_OUTLIERS = "ends off by", "quartiles off by", "outliers off by"


def misses(box: Box, original: Box) -> Numbers:
    """How far a box is from that of the records: its ends, its quartiles, and the number of outliers."""
    here, there = box.numbers, original.numbers
    return {
        name: float(np.mean([abs(here[key] - there[key]) for key in keys]))
        for name, keys in ((OFF_ENDS, ENDS), (OFF_QUARTILES, QUARTILES), (OFF_OUTLIERS, (OUTLIERS,)))
    }


def box_of(values: Float64) -> Box:
    """The usual boxplot: whiskers to the last values within 1.5 times the box's length of it."""
    q1, median, q3 = (float(value) for value in np.quantile(values, (0.25, 0.5, 0.75)))
    reach = 1.5 * (q3 - q1)
    inside = (values >= q1 - reach) & (values <= q3 + reach)
    kept = values[inside]
    whiskers = (float(kept.min()), float(kept.max()))
    return Box(
        float(values.min()), q1, median, q3, float(values.max()), whiskers, values[~inside], values.size - kept.size
    )


def released_box(
    records: Float64, bounds: tuple[float, float], privacy: ApproxDP, method: BoxMethod, source: KeyedSource
) -> Box:
    """The boxplot of one release of the library."""
    statistic = Boxplot("value", bounds=bounds, bins=SIZE, method=method)
    (box,) = release(statistic, trust=Central({"value": records}), privacy=privacy, source=source).boxes
    outliers = np.array(box.outliers, dtype=np.float64)
    ends = (float(value) for value in (box.low, box.q1, box.median, box.q3, box.high))
    low, q1, median, q3, high = ends
    reached = np.concatenate([outliers, [low, high]])
    beyond = (box.below or 0) + (box.above or 0)
    return Box(float(reached.min()), q1, median, q3, float(reached.max()), (low, high), outliers, beyond)


def resample(curve: Float64, axis: Float64, size: int, generator: np.random.Generator) -> Float64:
    """Values drawn from a distribution function that rises in straight lines between the points of an axis."""
    wanted = generator.random(size)
    above = np.searchsorted(curve, wanted, side="left")
    below = np.maximum(above - 1, 0)
    rise = curve[above] - curve[below]
    share = np.divide(wanted - curve[below], rise, out=np.ones(size), where=rise > 0)
    return np.asarray(axis[below] + share * (axis[above] - axis[below]))


def five_numbers(records: Float64, epsilon: float, generator: np.random.Generator, *, monotone: bool) -> Box:
    """Both ends by the sparse vector technique, quartiles by the exponential mechanism, a fifth of epsilon each.

    Args:
        records: Any numbers, shape (records,).
        epsilon: What all five cost together.
        generator: Of the noise.
        monotone: Whether the noise of counts is what monotone counts need, half of the usual.
    """
    each = epsilon / 5
    low = -_end(-records, each, generator, monotone=monotone)
    high = max(_end(records, each, generator, monotone=monotone), low + STEP)
    q1, median, q3 = sorted(_quantile(records, share, low, high, each, generator) for share in (0.25, 0.5, 0.75))
    return Box(low, q1, median, q3, high, (low, high), np.empty(0), 0)


def _end(records: Float64, epsilon: float, generator: np.random.Generator, *, monotone: bool) -> float:
    """The first candidate beyond which there seems to be no record."""
    candidates = np.arange(1, round(REACH / STEP) + 1) * STEP
    beyond = records.size - np.searchsorted(np.sort(records), candidates, side="right")
    threshold = generator.laplace(scale=2 / epsilon)
    noise = generator.laplace(scale=(2 if monotone else 4) / epsilon, size=candidates.size)
    result = np.flatnonzero(-beyond + noise >= threshold)
    return float(candidates[result[0]] if result.size else candidates[-1])


def _quantile(
    records: Float64, share: float, low: float, high: float, epsilon: float, generator: np.random.Generator
) -> float:
    """Smith's Algorithm 2, with the exponent epsilon / 2 that substitution of a record needs."""
    cuts = np.concatenate([[low], np.sort(np.clip(records, low, high)), [high]])
    widths = np.diff(cuts)
    utility = -epsilon / 2 * np.abs(np.arange(widths.size) - share * records.size)
    with np.errstate(divide="ignore"):
        weights = np.log(widths) + utility
    chances = np.exp(weights - weights.max())
    chosen = generator.choice(widths.size, p=chances / chances.sum())
    return float(generator.uniform(cuts[chosen], cuts[chosen + 1]))


def _pictured(name: str, box: Box) -> Numbers:
    lows, highs = box.whiskers
    result = {f"{name}: {key}": value for key, value in box.numbers.items()}
    result |= {f"{name}: low whisker": lows, f"{name}: high whisker": highs}
    return result | {f"{name}: outlier {place}": float(value) for place, value in enumerate(box.outliers)}


def outliers_of(cells: Mapping[str, Cell], name: str) -> list[float]:
    """The outliers that were kept for a picture."""
    prefix = f"{name}: outlier "
    return [cell.mean for key, cell in cells.items() if key.startswith(prefix)]
