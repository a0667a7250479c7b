"""How often do intervals of survival hold the population's, and how far off is it beside published private estimators?

    python benchmarks/survival.py [--quick] [--releases 400]

Records are made up: whole times from a Weibull distribution, and leaving evenly spread over 1.25 times the follow-up,
with the scale of the times such that a named share leaves first. 120 thresholds; adding or removing a record is hidden.

Published estimators are written here from their descriptions, at the same epsilon and for the same neighbors:

    counts      Gondara and Wang 2020: Laplace noise of scale 2 / epsilon in the number at risk at the start and in the
                events and the censored of each time; numbers at risk follow by subtraction. "counts, at least 0" sets
                negative counts to 0, as two public programs of it do.
    tree        after Bonomi, Jiang and Ohno-Machado 2020: events and censored of each time in binary hierarchies,
                combined by least squares. Their partition of the times is not used.
    cosine      DP-Surv of Rahimian, Kerkouche, Kurth and Fritz 2023 (arXiv 2305.15359) as their program has it: the
                first k coefficients of the exact curve's discrete cosine transform with Laplace noise, for a record
                that changes each value by at most 1 / n, then isotonic regression; k is the best of 4, 8, 16, 32.
    masses      DP-Prob of the same: Laplace noise of scale 2 / (epsilon events) in the share of each time, those below
                0 set to 0, all divided by their sum.

The last two add less noise than differential privacy asks where records are censored: one record changes later values
by more than 1 / n, the number of events is used as it is, and k is chosen with the exact curve. So ours is compared
with the best of the others, and with the best of all.

The others are made valid the same way: clipped and not increasing. Errors are at thresholds at which ours is estimable.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from harness import record, row

import ogive
from ogive.core.arrays import Float64, Int64
from ogive.noise.laws import draw_public
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.statistics.confidence import normal_quantile
from ogive.statistics.roc.designs import choose_for_classes
from ogive.statistics.survival import process
from ogive.statistics.survival.process import Process
from ogive.strategies import Strategy
from ogive.strategies.smoothing import DEFAULT_SMOOTHING, smooth

BINS = 120
SETTINGS = tuple((n, share, epsilon) for n in (500, 5_000, 50_000) for share in (0.1, 0.8) for epsilon in (0.5, 1.0))
COEFFICIENTS = (4, 8, 16, 32)
PRIVATE = ("counts", "counts, at least 0", "tree")
"""Published estimators whose noise suffices."""


@lru_cache
def strategy_for(bins: int, epsilon: float) -> Strategy:
    """What `Survival` measures of each class."""
    return choose_for_classes(
        bins + 1,
        ogive.PureDP(Fraction(epsilon)),
        PrivacyUnit(Adjacency.ADD_OR_REMOVE),
        public_labels=False,
        budget="joint",
        method="auto",
        refusal=lambda _: None,
    )


@lru_cache
def population(bins: int, censored: float, ratio: float = 1.0) -> tuple[Float64, Float64]:
    """Survival, and the shares of each class and bin, shape (2, bins + 1); `ratio` is that of hazards."""
    times = np.arange(bins + 1)
    staying = np.clip(1 - times / (1.25 * bins), 0.0, 1.0)

    def shares(scale: float, factor: float = 1.0) -> tuple[Float64, Float64]:
        survival = np.exp(-factor * (times / scale) ** 1.2)
        events = (survival[:-1] - survival[1:]) * staying[:-1]
        left = (staying[:-1] - staying[1:]) * survival[1:]
        return survival[1:], np.vstack([np.append(left, survival[-1] * staying[-1]), np.append(events, 0.0)])

    low, high = 1e-3 * bins, 1e3 * bins
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if shares(middle)[1][0].sum() > censored else (middle, high)
    return shares(low, ratio)


def noise(strategy: Strategy, random: np.random.Generator) -> Float64:
    """Noise of the cumulative counts of two classes."""
    parts = tuple(draw_public(level.law, (2, level.nodes), random) for level in strategy.levels)
    return strategy.estimate(strategy.spread(parts), None)


def released(strategy: Strategy, counts: Int64, random: np.random.Generator) -> tuple[Process, Process]:
    """The process of unbiased counts and that of smoothed ones, of counts of each class and bin."""
    raw, smoothed = [], []
    for each in counts:
        parts = tuple(draw_public(level.law, (level.nodes,), random) for level in strategy.levels)
        values = strategy.measure(each) + strategy.spread(parts)
        raw.append(strategy.estimate(values, None))
        smoothed.append(smooth(strategy, values, total=None, kind=DEFAULT_SMOOTHING))
    return Process(np.stack(raw), strategy), Process(np.stack(smoothed), strategy)


def survival(smoothed: Process, size: int) -> Float64:
    """The printed survival function."""
    at, events = smoothed.at_risk[:size], smoothed.events.sum(axis=0)[:size]
    hazard = np.divide(events, at, out=np.zeros_like(at), where=at > 0)
    return np.minimum.accumulate(np.cumprod(1 - np.clip(hazard, 0.0, 1.0)))


def coverage(
    n: int, censored: float, epsilon: float, releases: int, factor: float = 1.0, seed: int = 1
) -> dict[str, float]:
    """Shares inside intervals and whole bands, and errors, where noise is `factor` times as large as stated."""
    strategy, (truth, shares) = strategy_for(BINS, epsilon), population(BINS, censored)
    random = np.random.default_rng([seed, n, round(100 * censored), round(100 * epsilon)])
    z = normal_quantile(0.95)
    inside, whole, errors, widths, sizes = 0.0, 0, [], [], []
    known = 0
    for _ in range(releases):
        counts = random.multinomial(n, shares.ravel()).reshape(shares.shape)
        raw, smoothed = released(strategy, counts, random)
        if factor != 1:
            raw = Process(raw.cumulative + (factor - 1) * (raw.cumulative - np.cumsum(counts, axis=1)), strategy)
        size, change = raw.estimable, raw.of_survival()
        sizes.append(size)
        if not size:
            whole += 1
            continue
        ends = process.probability_ends(raw.survival, change, z)
        inside += float(np.sum((ends.low <= truth[:size]) & (truth[:size] <= ends.high)))
        known += size
        widths.append(np.mean(ends.high - ends.low))
        limit = float(np.quantile(change.largest(0.95), 0.95, method="higher"))
        band = process.whole(process.probability_ends(raw.survival, change, limit), BINS, falling=True, together=True)
        whole += bool(np.all((band.low <= truth) & (truth <= band.high)))
        exact = Process(np.cumsum(counts, axis=1).astype(float), None).survival
        size = min(size, len(exact))
        errors.append(np.mean((survival(smoothed, size) - exact[:size]) ** 2))
    return {
        "pointwise": inside / max(known, 1),
        "band": whole / releases,
        "rmse": math.sqrt(np.mean(errors)) if errors else math.nan,
        "width": float(np.mean(widths)) if widths else math.nan,
        "estimable": float(np.mean(sizes)),
    }


def log_rank(n: int, epsilon: float, weights: str, releases: int, ratio: float = 1.0) -> tuple[Float64, Float64]:
    """P-values of two groups of n records each at half censored, with noise and without."""
    strategy, random = strategy_for(BINS, epsilon), np.random.default_rng([n, round(100 * epsilon), round(100 * ratio)])
    groups = [population(BINS, 0.5)[1], population(BINS, 0.5, ratio)[1]]
    values: list[list[float]] = [[], []]
    for _ in range(releases):
        counts = [random.multinomial(n, each.ravel()).reshape(each.shape) for each in groups]
        exact = [np.cumsum(each, axis=1).astype(float) for each in counts]
        for place, noisy in enumerate((True, False)):
            pair = [
                Process(each + (noise(strategy, random) if noisy else 0), strategy if noisy else None) for each in exact
            ]
            if not min(each.estimable for each in pair):
                continue
            value, sampling, variance = (each.flat[0] for each in process.weighted_log_rank(pair, weights))
            values[place].append(math.erfc(abs(value) / math.sqrt(2 * (sampling + variance))))
    return np.array(values[0]), np.array(values[1])


# published estimators


def valid(curve: Float64) -> Float64:
    """A curve that does not increase, between 0 and 1: halfway between the nearest ones below and above."""
    inside = np.clip(curve, 0.0, 1.0)
    return (np.minimum.accumulate(inside) + np.maximum.accumulate(inside[::-1])[::-1]) / 2


def product(events: Float64, left: Float64, start: float) -> Float64:
    """The product of Kaplan and Meier of noisy counts of each bin."""
    at = start - np.concatenate(([0.0], np.cumsum(events + left)[:-1]))
    return valid(np.cumprod(1 - np.clip(events / np.maximum(at, 1.0), -1.0, 1.0)))


def by_counts(counts: Int64, epsilon: float, random: np.random.Generator, least: float = -math.inf) -> Float64:
    """Gondara and Wang 2020; noisy counts below `least` are that."""
    left, events = np.maximum(counts[:, :-1] + random.laplace(0, 2 / epsilon, (2, counts.shape[1] - 1)), least)
    return product(events, left, counts.sum() + random.laplace(0, 2 / epsilon))


@lru_cache
def hierarchy(size: int) -> tuple[Float64, Float64, int]:
    """Nodes of a binary hierarchy over size bins, the least squares of them, and how many levels there are."""
    levels = math.ceil(math.log2(size)) + 1
    nodes = np.vstack([np.arange(size) // 2**k == np.arange(-(-size // 2**k))[:, None] for k in range(levels)])
    return nodes.astype(float), np.linalg.pinv(nodes.astype(float)), levels


def by_tree(counts: Int64, epsilon: float, random: np.random.Generator) -> Float64:
    """After Bonomi, Jiang and Ohno-Machado 2020."""
    nodes, inverse, levels = hierarchy(counts.shape[1])
    measured = counts @ nodes.T + random.laplace(0, levels / epsilon, (2, len(nodes)))
    left, events = measured @ inverse.T
    return product(events[:-1], left[:-1], float(events.sum() + left.sum()))


def by_cosine(exact: Float64, n: int, epsilon: float, k: int, random: np.random.Generator) -> Float64:
    """DP-Surv of Rahimian and others 2023."""
    from scipy.fft import dct, idct
    from scipy.optimize import isotonic_regression

    curve, kept = np.concatenate(([1.0], exact)), np.zeros(len(exact) + 1)
    scale = math.sqrt(k * len(exact)) / (n * epsilon)
    kept[:k] = dct(curve, norm="ortho")[:k] + random.laplace(0, scale, k)
    moved = idct(kept, norm="ortho")
    moved[0] = 1.0
    return np.clip(isotonic_regression(moved, increasing=False).x, 0.0, 1.0)[1:]


def by_masses(exact: Float64, events: int, epsilon: float, random: np.random.Generator) -> Float64:
    """DP-Prob of Rahimian and others 2023; the last share is of those without an event."""
    shares = -np.diff(np.concatenate(([1.0], exact, [0.0])))
    noisy = np.maximum(shares + random.laplace(0, 2 / (epsilon * max(events, 1)), len(shares)), 0.0)
    return 1.0 - np.cumsum(noisy / max(noisy.sum(), 1e-12))[:-1]


def distances(n: int, bins: int, epsilon: float, releases: int) -> dict[str, tuple[float, float]]:
    """Root mean squared error and mean largest error of each estimator, at half censored."""
    strategy, (_, shares) = strategy_for(bins, epsilon), population(bins, 0.5)
    random = np.random.default_rng([n, bins, round(100 * epsilon)])
    gaps: dict[str, list[Float64]] = {}
    for _ in range(releases):
        counts = random.multinomial(n, shares.ravel()).reshape(shares.shape)
        exact = Process(np.cumsum(counts, axis=1).astype(float), None).survival
        raw, smoothed = released(strategy, counts, random)
        size = min(raw.estimable, len(exact))
        if not size:
            continue
        padded = np.append(exact, np.full(bins - len(exact), exact[-1]))
        curves = {"ogive": survival(smoothed, size), "counts": by_counts(counts, epsilon, random)}
        curves["counts, at least 0"] = by_counts(counts, epsilon, random, 0.0)
        curves["tree"] = by_tree(counts, epsilon, random)
        curves["masses"] = by_masses(padded, int(counts[1].sum()), epsilon, random)
        curves |= {f"cosine {k}": by_cosine(padded, n, epsilon, k, random) for k in COEFFICIENTS if k <= bins}
        for name, curve in curves.items():
            gaps.setdefault(name, []).append(np.abs(curve[:size] - exact[:size]))
    return {
        name: (math.sqrt(np.mean([np.mean(gap**2) for gap in each])), float(np.mean([gap.max() for gap in each])))
        for name, each in gaps.items()
    }


def rows(quick: bool, releases: int) -> Iterator[dict[str, Any]]:
    """Coverage, tests of two groups, and distances beside the published estimators."""
    for n, censored, epsilon in SETTINGS[4:8] if quick else SETTINGS:
        work = f"survival, {n:,} records, {censored:.0%} censored, epsilon {epsilon:g}"
        measured = coverage(n, censored, epsilon, releases)
        yield row(work, "coverage of bands", "share", measured["band"], runs=releases, target=0.95)
        yield row(work, "coverage of intervals", "share", measured["pointwise"], runs=releases, target=0.94)
        target = 0.005 if (n, epsilon) == (5_000, 1) else None
        yield row(work, "rmse", "survival", measured["rmse"], runs=releases, target=target, larger_is_better=False)
    noisier = coverage(5_000, 0.1, 1.0, releases, factor=2.0)["band"]
    work = "survival, 5,000 records, 10% censored, epsilon 1, noise twice as large as stated"
    yield row(work, "coverage of bands", "share", noisier, runs=releases, target=0.9, larger_is_better=False)
    for n, epsilon, ratio in ((500, 0.5, 1.4), (500, 1.0, 1.4), (5_000, 0.5, 1.15), (5_000, 1.0, 1.15)):
        for weights in ("log-rank",) if quick else ("log-rank", "gehan", "tarone-ware"):
            work = f"{weights}, two groups of {n:,}, epsilon {epsilon:g}"
            size = float(np.mean(log_rank(n, epsilon, weights, releases)[0] < 0.05))
            power, exact = (float(np.mean(each < 0.05)) for each in log_rank(n, epsilon, weights, releases, ratio))
            yield row(work, "size at 5 %", "share", size, runs=releases, target=0.07, larger_is_better=False)
            yield row(
                f"{work}, hazards {ratio:g}", "power", "share", power, runs=releases, peer="no noise", peer_value=exact
            )
    for bins in (120,) if quick else (30, 120):
        for n in (500, 5_000, 50_000):
            for epsilon in (0.5, 1.0):
                found = distances(n, bins, epsilon, max(20, releases // 4))
                for place, metric in enumerate(("rmse", "ks")):
                    for others, which in ((PRIVATE, "best private"), (set(found) - {"ogive"}, "best of all")):
                        peer = min(others, key=lambda name: found[name][place])
                        yield row(
                            f"survival, {n:,} records, {bins} thresholds, 50% censored, epsilon {epsilon:g}",
                            metric,
                            "survival",
                            found["ogive"][place],
                            runs=max(20, releases // 4),
                            target=float(f"{1.1 * found[peer][place]:.4g}") if others is PRIVATE else None,
                            larger_is_better=False,
                            peer=f"{which} ({peer})",
                            peer_value=found[peer][place],
                        )


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer settings and releases")
    parser.add_argument("--releases", type=int, help="imagined releases of each setting")
    options = parser.parse_args()
    record(rows(options.quick, options.releases or (40 if options.quick else 400)), quick=options.quick)


if __name__ == "__main__":
    main()
