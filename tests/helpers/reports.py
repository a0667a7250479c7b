"""Every report that an oracle can send, with its probability and what it adds to the sums; slow on purpose."""

import itertools

import numpy as np


def responses(oracle, symbol):
    """(probability, contribution to the sums) of every report of one owner with this symbol."""
    found = {"krr": _krr, "unary": _unary, "haar": _haar}[oracle.name](oracle, symbol)
    assert abs(sum(chance for chance, _ in found) - 1) < 1e-12
    return found


def _unit(length, place):
    return np.eye(length, dtype=np.int64)[place]


def _krr(oracle, symbol):
    keep = float(oracle.keep)
    return [
        ((1 - keep) / oracle.size + keep * (place == symbol), _unit(oracle.size, place)) for place in range(oracle.size)
    ]


def _unary(oracle, symbol):
    chances = np.full(oracle.size, float(oracle.chance))
    chances[symbol] = 0.5
    found = []
    for bits in itertools.product((0, 1), repeat=oracle.size):
        one = np.array(bits)
        found.append((float(np.prod(np.where(one, chances, 1 - chances))), np.array([*bits, 1])))
    return found


def _haar(oracle, symbol):
    k, depth, flip = oracle.padded, oracle.levels, float(oracle.chance)
    found = []
    for level in range(depth):
        node, half = symbol >> (depth - level), symbol >> (depth - level - 1) & 1
        for index in range(1 << level):
            truth = (1 - 2 * half) * (-1) ** bin(index & node).count("1")
            for sign in (1, -1):
                chance = oracle.level_chances[level] / (1 << level) * (1 - flip if sign == truth else flip)
                added = sign * _unit(k - 1 + depth, (1 << level) - 1 + index) + _unit(k - 1 + depth, k - 1 + level)
                found.append((float(chance), added))
    return found


def outcomes(oracle, symbols):
    """(probability, sums) of everything that owners with these symbols can send together."""
    found = {tuple(np.zeros(oracle.shape, dtype=np.int64)): 1.0}
    for symbol in symbols:
        grown = {}
        for sums, chance in found.items():
            for more, added in responses(oracle, symbol):
                key = tuple(np.array(sums) + added)
                grown[key] = grown.get(key, 0.0) + chance * more
        found = grown
    return [(chance, np.array(sums)) for sums, chance in found.items()]


def moments(pairs):
    """Mean and covariance of vectors, from (probability, vector)."""
    chances = np.array([chance for chance, _ in pairs])
    values = np.array([value for _, value in pairs])
    mean = chances @ values
    centered = values - mean
    return mean, centered.T @ (chances[:, None] * centered)
