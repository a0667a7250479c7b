"""Table 1: how the error of the AUC protocol grows with levels, people and privacy, for each way to split.

Scores are those of auc_one, on which every level costs the most. Errors are against the AUC of the sample and, where
users are split, against that of the population, which are the same number here: 1.
"""

from __future__ import annotations

import numpy as np

from ogive.local import PublicClasses, simulate
from ogive.local.tree import design_tree
from ogive.statistics.ustatistic import trees as hierarchy
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.randomness import streams

SPLITS = {
    "budget, basic": {"split": "budget", "composition": "basic"},
    "budget, advanced": {"split": "budget", "composition": "advanced"},
    "budget, exact": {"split": "budget", "composition": "exact"},
    "users": {"split": "users"},
}
"""How each participant's epsilon, or who answers which level, is divided."""

ERROR, BOUND = "squared error", "bound"

DELTA = "1e-6"

BASE = {"levels": 8, "people": 10_000_000, "epsilon": 0.5}
"""So many people that every way to split is where orders say something: noise below what it is in."""

SCANS = {"levels": (4, 16), "people": (2_500_000, 40_000_000), "epsilon": (0.25, 1.0)}

CODE = (
    "local/*.py", "accounting/composition.py", "statistics/ustatistic/trees.py",
    "papers/ustatistics/orders.py",
)  # fmt: skip


def settings(quick: bool) -> tuple[Setting, ...]:
    """For each way to split, three places along each of the parameters."""
    scans = {"levels": SCANS["levels"]} if quick else SCANS
    places = [BASE, *({**BASE, name: value} for name, values in scans.items() for value in values)]
    return tuple({"split": split, **place} for split in SPLITS for place in places)


def squared_errors(setting: Setting, seed: int, data: Places) -> Numbers:
    """Squared error of one collection of reports about auc_one."""
    generator, _ = streams(seed)
    split = SPLITS[str(setting["split"])]
    bins, people = 1 << int(setting["levels"]), int(setting["people"])
    delta = DELTA if split.get("composition") in ("advanced", "exact") else 0
    tree = design_tree(bins, str(setting["epsilon"]), delta, seed=seed >> 65, **split)
    oracle = PublicClasses(tree, 2)
    histogram = np.zeros((bins, 2), dtype=np.int64)
    histogram[0, 0] = histogram[-1, 1] = people
    result = hierarchy.auc(oracle, simulate(oracle, histogram.reshape(-1), generator=generator), a="paper", prune=True)
    return {ERROR: (result.value - 1) ** 2, BOUND: result.bound("population")}
