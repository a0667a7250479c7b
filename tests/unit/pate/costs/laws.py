"""Exact output laws by plain integration, one histogram at a time: the slow oracle of these tests."""

import itertools

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
