"""Exact output laws by plain integration, one histogram at a time: the slow oracle of these tests."""

import itertools
import math

import numpy as np
from scipy.special import log_ndtr, logsumexp


def log_law(counts, sigma, *, step=0.02):
    """ln of the chance that each class wins, by a trapezoid whose upper end grows with the gap."""
    counts = np.asarray(counts, dtype=np.float64)
    found = []
    for own in counts:
        z = np.arange(-13, 13 + (counts.max() - own) / sigma + step, step)
        logs = -(z**2) / 2 - np.log(2 * np.pi) / 2 + np.log(step)
        rivals = [log_ndtr(z + (own - other) / sigma) for other in counts]
        # the class itself is left out once
        found.append(logsumexp(logs + np.sum(rivals, axis=0) - log_ndtr(z)))
    return np.array(found)


def integer_tails(places, scale):
    """ln Pr[Z <= k] and ln Pr[Z > k] of a discrete Gaussian of such a scale, each summed from the outside in."""
    places = np.asarray(places)
    reach = math.ceil(max(np.abs(places).max(), 14 * scale)) + 2
    below = np.logaddexp.accumulate(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * scale**2))
    below -= np.logaddexp(below[reach], below[reach - 1])
    below[reach:-1] = np.log1p(-np.exp(below[reach - 1 :: -1]))
    below[-1] = 0
    return below[places + reach], below[reach - places - 1]


def integer_law(counts, sigma, unit):
    """ln of the chance that each class wins under discrete Gaussian noise on a grid of `unit` votes.

    Enumerates the noise of the class itself; the first of equal counts wins.
    """
    steps = (np.asarray(counts) / unit).round().astype(int)
    scale, gap = sigma / unit, int(np.ptp(steps))
    k = np.arange(-math.ceil(13 * scale), math.ceil(13 * scale) + gap + 1)
    masses = -(k**2.0) / (2 * scale**2)
    masses -= logsumexp(-(np.arange(-math.ceil(40 * scale), math.ceil(40 * scale) + 1.0) ** 2) / (2 * scale**2))
    low = int(k[0]) - gap - 1
    below, _ = integer_tails(np.arange(low, int(k[-1]) + gap + 1), scale)
    found = []
    for own, mine in enumerate(steps):
        rivals = [below[k + mine - other - (j < own) - low] for j, other in enumerate(steps) if j != own]
        found.append(logsumexp(masses + np.sum(rivals, axis=0)))
    return np.array(found)


def integer_step_law(counts, sigma, threshold, sigma_1, unit):
    """ln of the chances of no answer and of each answer of a checked step, with such noise in both."""
    short = math.ceil(threshold / unit) - round(max(counts) / unit)
    refuse, passes = integer_tails([short - 1], sigma_1 / unit)
    return np.concatenate((refuse, passes + integer_law(counts, sigma, unit)))


def histograms(classes, teachers):
    """All counts of so many teachers."""
    for cuts in itertools.combinations(range(teachers + classes - 1), classes - 1):
        edges = (-1, *cuts, teachers + classes - 1)
        yield tuple(edges[i + 1] - edges[i] - 1 for i in range(classes))


def neighbours(counts):
    """All histograms where one vote has moved."""
    for a, c in itertools.permutations(range(len(counts)), 2):
        if counts[a]:
            moved = list(counts)
            moved[a] -= 1
            moved[c] += 1
            yield tuple(moved)


def step_law(counts, sigma, threshold, sigma_1):
    """ln of the chances of no answer and of each answer of a checked step."""
    height = (max(counts) - threshold) / sigma_1
    return np.concatenate(([log_ndtr(-height)], log_ndtr(height) + log_law(counts, sigma)))


def divergence(here, there, order):
    """Renyi divergence of two laws given by their logs."""
    return logsumexp(order * here - (order - 1) * there) / (order - 1)
