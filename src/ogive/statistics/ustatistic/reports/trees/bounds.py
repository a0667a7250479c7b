"""How far off an AUC from two noisy trees may be, whatever the scores; and which nodes to look into, therefore.

For trees of L levels of b children whose nodes have variances of at most v+ and v-, with n+ and n- records, and

    B = max(1, (n+ / sqrt(v+) + n- / sqrt(v-)) / (2 (sqrt(a) - 1)))

at least the expected number of nodes of a level that are looked into, the mean squared error in pairs is at most

    2 (R + E)  +  4 G  +  4 F     for the variant "half",     2 (R + E) + 8 G'     for "zero" (G' = 2 G),
    R = L ((b - 1)(v- n+^2 + v+ n-^2) + b (b - 1) / 2 B v+ v-)     what nodes that are looked into add
    E = (v- n+^2 + v+ n-^2) / 4 + b / 4 B v+ v-                    leaves, if ties count one half
    G = (a + 1/4) L min(n+^2 v-, n-^2 v+)                          what is lost in nodes that are not
    F = L b B (b / 2 (1 + 4 a) + b^2 / 4) v+ v-                    the noise of what is taken instead.

B is for two children. With more, the argument behind it (Lemma 4 of the paper) needs 2 sqrt(a) > b, and a second one
a > 5 b / 8; `looked_into` takes the better. `docs/proofs/hierarchy.md` has the proofs.

Source: Bell, Bellet, Gascon and Kulkarni 2020, Theorem 3 and Corollaries 4 and 5, corrected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from scipy.optimize import minimize_scalar

from ogive.core.checks import among
from ogive.errors import ParameterError, quoted

Variant = Literal["half", "zero"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
TIES = ("half", "strict")
CONSTANTS = ("corrected", "paper")

_LARGEST_LOG = 12.0


@dataclass(frozen=True)
class Sizes:
    """What a bound depends on; all of it is public.

    Fields:
        positives: Records of the positive class, n+.
        negatives: Records of the negative class, n-.
        positive_variance: At least the variance of every node of the positive tree, v+.
        negative_variance: At least that of the negative tree, v-.
        levels: Levels below the root, L.
        branching: Children of a node, b.
        variant: "half" or "zero": what pairs in nodes that are not looked into count.
        ties: "half" or "strict": what pairs in one leaf count.
    """

    positives: int
    negatives: int
    positive_variance: float
    negative_variance: float
    levels: int
    branching: int = 2
    variant: str = "half"
    ties: str = "half"

    def __post_init__(self) -> None:
        among(self.variant, "variant", VARIANTS)
        among(self.ties, "ties", TIES)
        if min(self.positives, self.negatives, self.levels) < 1 or not 2 <= self.branching <= 8:
            raise ParameterError("a bound needs a record of each class, a level, and 2 to 8 children of a node")
        for value in (self.positive_variance, self.negative_variance):
            if not 0 < value < math.inf:
                raise ParameterError(f"variances of nodes must be finite and above 0, got {quoted(value)}")

    @property
    def pairs(self) -> float:
        """Number of pairs of a record of each class."""
        return float(self.positives) * self.negatives

    @property
    def squares(self) -> tuple[float, float]:
        """v- n+^2 and v+ n-^2."""
        return self.negative_variance * self.positives**2, self.positive_variance * self.negatives**2

    @property
    def product(self) -> float:
        """v+ v-."""
        return self.positive_variance * self.negative_variance


def least_a(branching: int) -> float:
    """Bounds are finite for a above this."""
    return 1.0 if branching == 2 else min(branching * branching / 4, 5 * branching / 8)


def looked_into(sizes: Sizes, a: float) -> float:
    """At least the expected number of nodes of any level that are looked into; infinite where nothing is proved."""
    signal = sizes.positives / math.sqrt(sizes.positive_variance) + sizes.negatives / math.sqrt(sizes.negative_variance)
    children, root = sizes.branching, math.sqrt(a)
    found = math.inf
    if 2 * root > children:
        found = signal / (2 * root - children)
    empty = 5 / (8 * a)
    if children > 2 and children * empty < 1:
        second = (1 - empty) * signal / ((2 * root - math.sqrt(5 / 2)) * (1 - children * empty))
        found = min(found, second)
    return max(1.0, found)


def lost_bound(sizes: Sizes, a: float) -> float:
    """At least the mean square of what is lost, on average over the noise below, in nodes that are not looked into."""
    factor = a + 0.25 if sizes.variant == "half" else 4 * a + 1
    return factor * sizes.levels * min(sizes.squares) / sizes.pairs**2


def added_bound(sizes: Sizes, nodes: float) -> float:
    """At least the variance of what is added where at most so many nodes of each level are looked into, on average."""
    b, levels = sizes.branching, sizes.levels
    found = levels * ((b - 1) * sum(sizes.squares) + b * (b - 1) / 2 * nodes * sizes.product)
    if sizes.ties == "half":
        found += sum(sizes.squares) / 4 + b / 4 * nodes * sizes.product
    return found / sizes.pairs**2


def mse_bound(sizes: Sizes, a: float) -> float:
    """At least the mean squared error of the AUC of a sample, whatever the scores, if all conditions hold."""
    nodes, b = looked_into(sizes, a), sizes.branching
    if not math.isfinite(nodes):
        return math.inf
    if sizes.variant == "zero":
        return 2 * added_bound(sizes, nodes) + 2 * lost_bound(sizes, a)
    noise = sizes.levels * b * nodes * (b / 2 * (1 + 4 * a) + b * b / 4) * sizes.product / sizes.pairs**2
    return 2 * added_bound(sizes, nodes) + 4 * lost_bound(sizes, a) + 4 * noise


def all_nodes_variance(sizes: Sizes) -> float:
    """What looking into all nodes adds to the variance of the AUC beside what is linear in the noise."""
    b = sizes.branching
    parents = (float(b) ** sizes.levels - 1) / (b - 1)
    found = parents * b * (b - 1) / 2
    if sizes.ties == "half":
        found += float(b) ** sizes.levels / 4
    return found * sizes.product / sizes.pairs**2


def best_a(sizes: Sizes) -> float:
    """The threshold that minimizes `mse_bound`."""
    least = math.sqrt(least_a(sizes.branching))

    def bound(log_gap: float) -> float:
        return mse_bound(sizes, (least + math.exp(log_gap)) ** 2)

    steps = [step / 4 for step in range(-4 * int(_LARGEST_LOG), 4 * int(_LARGEST_LOG))]
    start = min(steps, key=bound)
    best = minimize_scalar(bound, bounds=(start - 0.25, start + 0.25), method="bounded", options={"xatol": 1e-9})
    return float((least + math.exp(best.x)) ** 2)


def boxed_bound(
    positives: int,
    negatives: int,
    c: float,
    levels: int,
    a: float,
    *,
    variant: str = "half",
    ties: str = "half",
    constants: str = "corrected",
) -> float:
    """The bound for two children and v = c n levels in closed form, with B simplified.

    Source: Theorem 3.
    """
    among(constants, "constants", CONSTANTS)
    among(variant, "variant", VARIANTS)
    among(ties, "ties", TIES)
    n, fewer = positives + negatives, min(positives, negatives)
    wide = math.sqrt(2 * n * c * levels) / (math.sqrt(a) - 1)
    extra = 1 / levels if ties == "half" and constants == "corrected" else 0.0
    linear = (2 + extra / 2) * n
    if variant == "zero":
        inner = linear + (8 * a + 2) * fewer + (1 + extra / 2) * wide
    elif constants == "paper":
        inner = linear + (4 * a + 1) * fewer + 21 * wide
    else:
        inner = linear + (4 * a + 1) * fewer + (16 * a + 9 + extra / 2) * wide
    return c * levels**2 * inner / (positives * negatives)


def closed_form_a(positives: int, negatives: int, c: float, levels: int, *, variant: str = "half") -> float:
    """The paper's threshold: near the least of its own bound.

    Source: after Theorem 3 ("half", approximately) and Corollary 5 ("zero", exactly).
    """
    among(variant, "variant", VARIANTS)
    n, fewer = positives + negatives, min(positives, negatives)
    if variant == "zero":
        root = 1 + math.sqrt(math.sqrt(2 * c * levels * n) / (16 * fewer))
    else:
        root = 1 + math.sqrt(21 / 8) * math.sqrt(math.sqrt(2 * c * n * levels) / fewer)
    return root * root
