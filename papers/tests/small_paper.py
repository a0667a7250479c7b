"""A made-up paper with one figure whose runs are instant, for tests of the reproduction frame.

In a module of its own, since worker processes must be able to import `measure`.
"""

import os
import time

import numpy as np

from ogive_papers.items import FIGURE, Item
from ogive_papers.verdicts import Check, below, every, show


def measure(setting, seed, data):
    """A normal number around the setting's center, and which process made it."""
    if setting["trouble"] == "fails":
        raise ArithmeticError("no\nsolution")
    if setting["trouble"] == "slow":
        time.sleep(0.2)
    generator = np.random.default_rng(seed)
    return {
        "value": setting["center"] + generator.normal(),
        "word": float(generator.integers(2**50)),
        "process": float(os.getpid()),
    }


def draw(summary, figure):
    places, cells = summary.series("center", "value")
    figure.subplots().plot(places, [cell.mean for cell in cells])


def judge(summary):
    _, cells = summary.series("center", "value")
    return (Check("all values are below 10", every([below(cell, 10) for cell in cells]), show(cells[0])),)


def item(trouble="none", centers=(0.0, 5.0), **fields):
    def settings(quick):
        return tuple({"center": center, "trouble": trouble} for center in (centers[:1] if quick else centers))

    code = fields.pop("code", ("errors.py",))
    return Item("small", FIGURE, 1, "small", settings, measure, draw, judge, code, **fields)


class Silent:
    """Progress that only counts."""

    def __init__(self):
        self.known = self.done = 0

    def begin(self, name, total, known):
        self.known = known

    def advance(self, name):
        self.done += 1
