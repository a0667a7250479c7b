"""The chances of what an owner's device sends, exact, as sentences for the owner."""

from __future__ import annotations

from fractions import Fraction

from ogive.local.base import Oracle
from ogive.local.bits import WORD
from ogive.local.classes import PublicClasses
from ogive.local.haar import HaarOracle
from ogive.local.randomized_response import RandomizedResponse
from ogive.local.tree import TreeOracle
from ogive.local.unary import UnaryOracle


def chances(oracle: Oracle) -> list[str]:
    """What a report says, with the chances with which it is true, a sentence each."""
    if isinstance(oracle, PublicClasses):
        return [
            "The class is sent as it is. The rest of the report is about the other answers.",
            *chances(oracle.inner),
        ]
    if isinstance(oracle, RandomizedResponse):
        return [
            f"The report names one of {oracle.size} possible answers. With probability {exact(oracle.keep)} it is "
            "yours; otherwise it is drawn uniformly from all of them, yours included."
        ]
    if isinstance(oracle, UnaryOracle):
        return [
            f"The report has a yes or no for each of {oracle.size} possible answers. {_bits(oracle.chance)}",
        ]
    if isinstance(oracle, HaarOracle):
        return [
            f"Your number decides which of {oracle.levels} questions you are asked, and a random pattern is drawn that "
            f"splits the possible answers in two. {_side(oracle.chance)}"
        ]
    assert isinstance(oracle, TreeOracle), "there are no others"
    return _tree(oracle)


def _tree(oracle: TreeOracle) -> list[str]:
    groups = " or ".join(str(nodes) for nodes in oracle.layout.nodes)
    if oracle.levels_of is None:
        first = f"The report answers {oracle.levels} questions, each about groups of possible answers: {groups} groups."
    elif oracle.levels == 1:
        first = f"You are asked in which of {groups} groups of possible answers yours is."
    else:
        first = (
            f"Your number decides which of {oracle.levels} questions you are asked: in which of {groups} groups of "
            "possible answers yours is."
        )
    told = [first]
    if any(oracle.layout.unary):
        told.append(f"The report has a yes or no for each group. {_bits(oracle.chance).replace('answer', 'group')}")
    if not all(oracle.layout.unary):
        more = "Where there are more than 1024 groups, a" if any(oracle.layout.unary) else "A"
        told.append(f"{more} random pattern is drawn that splits the groups in two. {_side(oracle.chance)}")
    return told


def _bits(chance: Fraction) -> str:
    return (
        "The one for your answer is yes with probability exactly 1/2, whatever your answer is; each other one is yes "
        f"with probability {exact(chance)}."
    )


def _side(chance: Fraction) -> str:
    return (
        f"The report says on which side yours is. That is true with probability {exact(1 - chance)} and false with "
        f"probability {exact(chance)}."
    )


def exact(chance: Fraction) -> str:
    """A chance to four digits, and exactly."""
    return f"{float(chance):.4f} (exactly {int(chance * WORD)} / 2^64)"
