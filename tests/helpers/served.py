"""The statistics that a study of parties serves, made from the examples of all statistics."""

import dataclasses

from helpers.examples import EXAMPLES
from helpers.study import AGE, text_of

from ogive.privacy import PrivacyUnit, PureDP
from ogive.study.common import StudyRelease
from ogive.study.document import Study


def _smaller(statistic):
    """With fewer bins where these take many rounds, or a long choice of the method by every party."""
    if getattr(statistic, "method", None) == "bisection" or getattr(statistic, "kernel", None) == "gini":
        return dataclasses.replace(statistic, bins=8)
    return statistic


# these are chosen by who sees all records; parties who only add up refuse them
_SERVED = [
    (number, _smaller(each))
    for examples in EXAMPLES.values()
    for number, each in enumerate(examples)
    if getattr(each, "method", None) not in ("five_numbers", "selected", "exponential", "joint")
]
# the first of every kind come first
STATISTICS = [each for _, each in sorted(_SERVED, key=lambda served: served[0])]
KINDS = len({each.name for each in STATISTICS})


def study_of(statistics, adjacency, *, parties, dropouts=0):
    """A study of some statistics of 2,000 records, each with epsilon 2."""
    releases = tuple(StudyRelease(f"r{number}-{each.name}", each, PureDP(2)) for number, each in enumerate(statistics))
    text = text_of(parties, releases=(AGE,), budget="{ epsilon = 200 }", dropouts=dropouts, records=2_000)
    return dataclasses.replace(Study.parse(text), releases=releases, unit=PrivacyUnit(adjacency), budget=PureDP(200))
