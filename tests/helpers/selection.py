"""Exact probabilities of the answers of noisy maxima and sparse vectors, computed without the code that draws them.

Sums over one noise value run far enough that what is cut off is below the accuracy asked of it.
"""

import numpy as np


def geometric(scale, reach):
    """Probabilities of 0..reach."""
    ratio = np.exp(-1 / float(scale))
    return (1 - ratio) * ratio ** np.arange(reach + 1)


def laplace(scale, reach):
    """Probabilities of -reach..reach."""
    ratio = np.exp(-1 / float(scale))
    return (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-reach, reach + 1))


def geometric_at_most(scale, values):
    """Chance of at most each value."""
    return np.where(values < 0, 0.0, -np.expm1(-(np.maximum(values, 0) + 1.0) / float(scale)))


def laplace_at_most(scale, values):
    """Chance of at most each value."""
    ratio = np.exp(-1 / float(scale))
    below = ratio ** np.maximum(-values, 0) / (1 + ratio)
    above = 1 - ratio ** (np.maximum(values, 0) + 1.0) / (1 + ratio)
    return np.where(values < 0, below, above)


def noisy_max(scores, scale, *, at_most=geometric_at_most, law=geometric, low=0, reach=60):
    """Chance that each candidate leads; the lowest number wins ties."""
    steps = int(reach * float(scale)) + int(np.ptp(scores))
    noise = np.arange(low * steps, steps + 1)
    chances = law(scale, steps)
    found = []
    for j, own in enumerate(scores):
        product = chances.copy()
        for i, other in enumerate(scores):
            if i != j:
                product = product * at_most(scale, noise + own - other - (1 if i < j else 0))
        found.append(product.sum())
    return np.array(found)


def first_beyond(counts, limit_scale, count_scale, beyond=0, reach=60):
    """Chance of each place to stop, where counts are the numbers of records beyond each place but the last.

    The search stops where count + noise <= beyond - noise of the limit.
    """
    steps = int(reach * float(max(limit_scale, count_scale)))
    limits = beyond - np.arange(-steps, steps + 1)
    chances = laplace(limit_scale, steps)
    going = np.ones_like(chances)
    found = []
    for count in counts:
        stops = laplace_at_most(count_scale, limits - count)
        found.append(float((chances * going * stops).sum()))
        going = going * (1 - stops)
    return np.array([*found, float((chances * going).sum())])


def beyond(histogram, side):
    """Numbers of records beyond each bin but the last that is searched, in the order of the search."""
    ordered = list(histogram) if side == "high" else list(histogram)[::-1]
    return [sum(ordered[i + 1 :]) for i in range(len(ordered) - 1)]


def largest_ratio(one, other):
    """Largest log-ratio of probabilities, either way."""
    return float(np.abs(np.log(one) - np.log(other)).max())
