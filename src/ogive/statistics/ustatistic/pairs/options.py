"""The options of pairs of people: in how many pairs each is, and who meets whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ogive.checks import among, is_whole, whole
from ogive.errors import ParameterError, quoted
from ogive.kernels.exact import MAX_BITS
from ogive.parameters import one_of
from ogive.queries.pairs import DESIGNS, NOISES, DesignName
from ogive.statistics.ustatistic.base import MethodOptions

DEFAULT_BITS = 16


@dataclass(frozen=True)
class Paired(MethodOptions):
    """Options of method "paired": people meet in pairs and compute the kernel with noise inside a circuit.

    `Ustatistic(method="paired")` uses the default options.

    Fields:
        rounds: Number of pairs of each person, each with a part of epsilon; "auto" for the smallest predicted error,
            which is one pair unless epsilon is large. For an AUC with public labels, the number of pairs of each
            person in the smaller class.
        design: "round_robin" (nobody meets the same person twice), "permutations" (a random person in every round,
            perhaps again) or "independent" (this number of independent random pairs; the epsilon of a pair is divided
            by the larger number of pairs of its two persons).
        noise: "response" (randomized response; a distance is first turned into a random bit with the distance as its
            probability, so that there is no delta), "laplace" (discrete Laplace noise, whose truncation costs a
            delta), or "auto" for the smaller predicted error.
        bits: Resolution of distances: 2^-bits of the distance between the bounds, 1 to 30. Order comparisons use exact
            values.

    Raises:
        ParameterError: a field is out of range.

    Source: Bell, Bellet, Gascon and Kulkarni 2020, section 5.3, corrected; `docs/proofs/pairs.md`.

    Example:
        >>> import ogive
        >>> asked = ogive.Ustatistic(("score", "ill"), "auc", bounds=(0, 1), method=ogive.Paired(rounds=2))
    """

    name: ClassVar[str] = "paired"

    rounds: int | Literal["auto"] = "auto"
    design: DesignName = one_of(*DESIGNS)
    noise: Literal["auto", "response", "laplace"] = one_of("auto", *NOISES)
    bits: int = DEFAULT_BITS

    def __post_init__(self) -> None:
        among(self.design, "design", DESIGNS)
        if self.rounds != "auto" and not (is_whole(self.rounds) and self.rounds >= 1):
            raise ParameterError(f"`rounds` must be auto or a whole number of at least 1, got {quoted(self.rounds)}")
        among(self.noise, "noise", ("auto", *NOISES))
        whole(self.bits, "bits", 1, MAX_BITS)
