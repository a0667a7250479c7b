"""What a cost means, in sentences for readers."""

from __future__ import annotations

from typing import Literal, get_args

from ogive.accounting.rounding import shown_up
from ogive.pate.costs.losing import SCALE_BITS, Noise

Mode = Literal["independent", "joint", "joint_two_sided", "exact", "exact_two_sided", "realised", "expected"]
"""How costs are counted, which decides what they mean."""
MODES: tuple[Mode, ...] = get_args(Mode)

_PRIVATE = (
    "It is not differential privacy, it belongs in no budget, and it depends on the votes: do not publish it as it is."
)

_ADAPTIVE = (
    "This holds for queries, and scores of a student, that were fixed, or drawn, without looking at votes or answers."
)

_NOISES: dict[Noise, str] = {
    "continuous": "continuous noise",
    "discrete": "integer noise on the votes",
    "scaled": f"integer noise on the votes multiplied by 2^{SCALE_BITS}",
}


def statement_of(mode: str, *, epsilon: float, delta: float, noise: Noise, group: int, cap: int | None) -> str:
    """What a cost says, its numbers rounded up, what it takes for granted, and whether it may be published.

    Args:
        mode: How the cost was computed.
        epsilon: At delta.
        delta: Delta of the guarantee.
        noise: Which noise it is for.
        group: Number of teachers of one party.
        cap: Answers after which the run ends.
    """
    who = "one teacher" if group == 1 else f"one party with {group} teachers"
    most, aside = shown_up(epsilon), shown_up(delta)
    pair = f"epsilon = {most} and delta = {aside}"
    closing = f"Computed for {_NOISES[noise]}."
    if mode == "independent":
        ended = "" if cap is None else f", where the run ends after {cap} answers"
        return (
            f"The run is differentially private with {pair}, replacing {who}{ended}. This holds for every data set and "
            f"for queries that depend on earlier answers, and it may be published. {closing}"
        )
    if mode == "expected":
        return (
            f"Averaged over which queries pass, Renyi costs convert to {pair}, replacing {who}. This is the paper's "
            f"figure, for reproduction: it is not a bound. {_PRIVATE} {closing}"
        )
    if mode == "realised":
        return (
            f"For the data set actually held, D, and for every neighbour D' ({who} replaced): with probability of at "
            f"least 1 - {aside} over the run, ln(Pr_D[outputs] / Pr_D'[outputs]) <= {most}. This holds for "
            "queries that depend on earlier answers, and at an order that was fixed before the run. "
            f"{_PRIVATE} {closing}"
        )
    ways = "Pr[M(D) in Y] <= e^epsilon Pr[M(D') in Y] + delta"
    if mode.endswith("two_sided"):
        ways += " and Pr[M(D') in Y] <= e^epsilon Pr[M(D) in Y] + delta"
    return (
        f"For the data set actually held, D, for every neighbour D' ({who} replaced) and every set Y of complete "
        f"outputs: {ways}, with {pair}. {_ADAPTIVE} {_PRIVATE} {closing}"
    )
