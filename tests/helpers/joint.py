"""What a joint selection of quantiles costs and tells, computed by linear programming and by listing all candidates."""

import itertools

import numpy as np
from scipy.optimize import linprog


def candidates(bins, quantiles):
    """All vectors of bins that do not decrease."""
    return np.array(list(itertools.combinations_with_replacement(range(bins), quantiles)))


def least_sum(histogram, chosen, shares, total):
    """Least sum of |part - share * total| over all divisions of the chosen bins' records, shape of a number.

    Variables: the records below each cut, and the distance of each part; cuts lie in their bins and do not decrease.
    """
    ranks = np.concatenate(([0], np.cumsum(histogram)))
    count, parts = len(chosen), len(chosen) + 1
    widths = np.diff([0.0, *shares, 1.0]) * total
    objective = np.concatenate((np.zeros(count), np.ones(parts)))
    rows, right = [], []
    for part in range(parts):
        difference = np.zeros(count + parts)
        fixed = 0.0
        if part < count:
            difference[part] += 1
        else:
            fixed += ranks[-1]
        if part > 0:
            difference[part - 1] -= 1
        for sign in (1, -1):
            row = sign * difference
            row[count + part] -= 1
            rows.append(row)
            right.append(sign * (widths[part] - fixed))
    for earlier in range(count - 1):
        row = np.zeros(count + parts)
        row[earlier], row[earlier + 1] = 1, -1
        rows.append(row)
        right.append(0.0)
    bounds = [(ranks[bin_], ranks[bin_ + 1]) for bin_ in chosen] + [(0, None)] * parts
    return linprog(objective, A_ub=np.array(rows), b_ub=right, bounds=bounds).fun


def least_free_sum(histogram, chosen, shares):
    """The least of these over all totals."""
    records = int(np.sum(histogram))
    return min(least_sum(histogram, chosen, shares, total) for total in range(2 * records + 4))


def chances(costs, scale):
    """Probabilities in proportion to exp(-cost / scale)."""
    weights = np.exp(-(costs - costs.min()) / float(scale))
    return weights / weights.sum()
