"""How often do intervals of calibration groups hold the chances of their groups, and how wide are they?

    python benchmarks/calibration.py [--releases 400]

Records are made up: probabilities from a beta law of mean 1/7, labels of 1.2 times that chance; ten groups of 1,024
thresholds. The narrowest width is that of the interval around the true chance which the error of the released share is
in with probability 99.5 % (0.95 for ten groups at once), read off the same releases.
"""

from __future__ import annotations

import argparse

import numpy as np

import ogive
from ogive import Adjacency, PureDP, ZeroConcentratedDP
from ogive.noise import KeyedSource

CASES = (
    ("2,000", PureDP(1), {}),
    ("20,000", PureDP(1), {}),
    ("2,000", PureDP(30), {}),
    ("3,000", ZeroConcentratedDP("0.02"), {"adjacency": Adjacency.ADD_OR_REMOVE}),
    ("5,000", PureDP(1), {"form": "counts"}),
)


def measured(records: int, releases: int, **asked: object) -> tuple[float, float, float, float]:
    """Coverage of all groups at once and of each, mean half width, and mean width over the narrowest."""
    rng, source = np.random.default_rng(5), KeyedSource.from_seed(6)
    held, errors, halves = [], [], []
    for _ in range(releases):
        p = rng.beta(1, 6, records)
        chance = np.clip(1.2 * p, 0, 1)
        labels = (rng.random(records) < chance).astype(int)
        fit = ogive.hosmer_lemeshow(p, labels, groups=10, source=source, **asked)
        points, group = fit.reliability(), np.searchsorted(fit.bounds.thresholds, p, side="left")
        size = np.bincount(group, minlength=fit.bounds.bins)
        true = np.bincount(group, chance, fit.bounds.bins) / np.maximum(size, 1)
        held.append((points.low <= true) & (true <= points.high) | (size == 0))
        if len(size) == 10:
            errors.append(np.abs(points.observed_share - true))
            halves.append((points.high - points.low) / 2)
    narrowest = np.nanquantile(np.array(errors), 0.995, axis=0)
    each = np.mean([part.mean() for part in held])
    width = np.mean(halves, axis=0)
    return (
        float(np.mean([part.all() for part in held])),
        float(each),
        float(width.mean()),
        float((width / narrowest).mean()),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=int, default=400)
    given = parser.parse_args()
    print("| records | guarantee | form | all groups | each | half width | over the narrowest |\n|" + " --- |" * 7)
    for name, privacy, asked in CASES:
        records = int(name.replace(",", ""))
        together, each, width, ratio = measured(records, given.releases, privacy=privacy, **asked)
        form = asked.get("form", "difference")
        print(f"| {name} | {privacy} | {form} | {together:.1%} | {each:.1%} | {width:.4f} | {ratio:.2f} |")
