"""Options that the commands of `ogive pate` share, and what they say of those that are rarely meant."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from ogive.cli.data import whole
from ogive.errors import DataError, ParameterError, plain

if TYPE_CHECKING:
    from ogive.core.arrays import Int64
    from ogive.pate.aggregators import Aggregator

_NEEDED = {
    "lnmax": ("scale",),
    "gnmax": ("sigma",),
    "confident": ("threshold", "sigma1", "sigma2"),
    "interactive": ("threshold", "sigma1", "sigma2", "confidence"),
    "margins": ("keep",),
}
_OPTIONS = ("threshold", "sigma1", "sigma2", "sigma", "scale", "keep", "confidence", "student")
_ALLOWED = {**_NEEDED, "margins": ("keep", "sigma")}


@Parameter(name="*", group=Group("Votes", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class VotesOptions:
    """Which votes of a file."""

    name: str | None = None
    """Name of the array, in an .npz file of several."""

    first: Annotated[int | None, Parameter(converter=whole)] = None
    """Use only the first so many queries; all by default."""

    def read(self, path: Path) -> tuple[Int64, Int64]:
        """Vote counts: all of the file, and those that are asked for.

        Raises:
            ParameterError, DataError: these are no votes, or there are not so many.
        """
        from ogive.pate import read_votes

        votes = read_votes(path, name=self.name)
        return votes, votes[: self.count(len(votes))]

    def count(self, there: int) -> int:
        """How many of so many queries are asked for.

        Raises:
            ParameterError: more than there are, or none.
        """
        if self.first is None:
            return there
        if not 1 <= self.first <= there:
            raise ParameterError(f"--first must be from 1 to the {there} queries that there are, got {self.first}")
        return self.first


@Parameter(name="*", group=Group("Aggregator", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class AggregatorOptions:
    """How votes become labels; numbers are in votes."""

    aggregator: Literal["confident", "gnmax", "lnmax", "margins", "interactive"] | None = None
    """Which one; by default the one whose options are given."""

    threshold: str | None = None
    """confident, interactive: threshold for the largest noisy count. Above the number of teachers no count reaches it
    without noise: how many queries pass depends on sigma1.
    """

    sigma1: str | None = None
    """confident, interactive: standard deviation of the check's noise."""

    sigma2: str | None = None
    """confident, interactive: standard deviation of the noise of every count of an answer."""

    sigma: str | None = None
    """gnmax, margins: standard deviation of the noise of every count."""

    scale: str | None = None
    """lnmax: scale of the Laplace noise of every count."""

    keep: Annotated[int | None, Parameter(converter=whole)] = None
    """margins: how many queries are labelled, those with the largest noisy margins."""

    confidence: str | None = None
    """interactive: above which probability the student's own label is kept where the teachers agree with it."""

    student: Path | None = None
    """interactive: an .npy file of the student's probabilities, a row for every query."""

    def made(self) -> Aggregator:
        """The aggregator.

        Raises:
            ParameterError: nothing says which one it is, or an option is missing, out of range or of another one.
        """
        from ogive.pate import ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins, LNMax

        kind = self._kind()
        if kind == "lnmax":
            return LNMax(self._given("scale"))
        if kind == "gnmax":
            return GNMax(self._given("sigma"))
        if kind == "margins":
            return LargestMargins(self.sigma, keep=self._given("keep"))
        checked = (self._given("threshold"), self._given("sigma1"), self._given("sigma2"))
        return (
            ConfidentGNMax(*checked) if kind == "confident" else InteractiveGNMax(*checked, self._given("confidence"))
        )

    def probabilities(self, queries: int) -> Any:
        """The student's probabilities of the first queries; None where no file was named.

        Raises:
            ParameterError, DataError: the file holds several arrays, or none.
        """
        if self.student is None:
            return None
        from ogive.pate.arrays import read_array

        found = read_array(self.student, None)
        if found.ndim != 2 or found.dtype.kind not in "iuf":
            raise DataError(f"{plain(self.student)} must hold probabilities of the shape (queries, classes)")
        return found[:queries]

    def _kind(self) -> str:
        given = {name for name in _OPTIONS if getattr(self, name) is not None}
        kind = _inferred(given) if self.aggregator is None else self.aggregator
        fitting = {*_ALLOWED[kind], *(("student",) if kind == "interactive" else ())}
        for name in _OPTIONS:
            if name in given and name not in fitting:
                others = " or ".join(each for each, names in _ALLOWED.items() if name in names) or "interactive"
                raise ParameterError(f"--{name} is for {others}, not for {kind}; leave it out")
        return kind

    def _given(self, name: str) -> Any:
        value = getattr(self, name)
        if value is None:
            raise ParameterError(f"aggregator {self._kind()} needs --{name}")
        return value


def _inferred(given: set[str]) -> str:
    for name, kind in (
        ("student", "interactive"),
        ("confidence", "interactive"),
        ("threshold", "confident"),
        ("scale", "lnmax"),
        ("keep", "margins"),
        ("sigma", "gnmax"),
    ):
        if name in given:
            return kind
    raise ParameterError(
        "say how votes become labels: --threshold with --sigma1 and --sigma2 (confident), --keep (margins), "
        "--sigma (gnmax) or --scale (lnmax)"
    )


ALL_VOTES = VotesOptions()
ANY_AGGREGATOR = AggregatorOptions()


# --- Warnings of what is allowed and rarely meant


def note(aggregator: Aggregator, queries: int, teachers: int | None, max_answers: int | None = None) -> None:
    """Say what is rarely meant, in one line; nothing where nothing is.

    Args:
        aggregator: The aggregator that turns votes into labels.
        queries: How many are asked.
        teachers: How many vote; None where that is private.
        max_answers: After so many answers the run ends.
    """
    said = _said(aggregator, queries, teachers, max_answers)
    if said:
        print(f"ogive: note: {'; '.join(said)}", file=sys.stderr)


def _said(aggregator: Aggregator, queries: int, teachers: int | None, max_answers: int | None) -> list[str]:
    threshold, keep = getattr(aggregator, "threshold", None), getattr(aggregator, "keep", 0)
    said = []
    if teachers == 1:
        said.append("there is one teacher, so that every label is its own, with noise")
    if threshold is not None and threshold <= 0:
        said.append("a threshold of 0 or less refuses hardly any query; --sigma alone checks none, and costs less")
    elif threshold is not None and teachers is not None and threshold > teachers:
        said.append(f"the threshold is above the {teachers} teachers, so that only noise passes it")
    for option, number in (("--keep", keep), ("--max-answers", max_answers or 0)):
        if number > queries:
            said.append(f"{option} {number} is more than the queries that are asked, and counts as {queries}")
    return said
