"""How many records there are of each category: of declared ones, or of those that enough records have."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, cast

from ogive.columns import LISTING_POLICIES, MAX_LISTED, LabelValue, LabelValues, Listed, ListingPolicy, OpenCategories
from ogive.core.checks import among, one_of
from ogive.errors import DataError, ParameterError, quoted
from ogive.queries import Answer, Query
from ogive.statistics.base import Terms
from ogive.statistics.confidence import check_level
from ogive.statistics.discovery import discover
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.kinds import Command
from ogive.statistics.prediction import Errors, Metric, Prediction
from ogive.statistics.sums.measured import Measured
from ogive.statistics.sums.plan import NOISE
from ogive.statistics.sums.statistic import ask_table


@dataclass(frozen=True)
class Histogram:
    """Number and share of the records of each category of a column.

    A value that was not declared is an error by default: most often it is a misspelling, and whether shares are of all
    records or of those with a declared value is for the user to say. To count it costs nothing.

    Fields:
        column: Column of numbers, truth values or text.
        values: The categories, public, in the order in which they are shown. By default those that enough records have
            are found, which needs an `ApproxDP` guarantee and a trusted curator.
        other: What a value that is not declared means: "refuse" (an error), "count" (a category of its own) or "drop"
            (not counted; ADD_OR_REMOVE only).
        missing: What a missing value means: "refuse" (an error), "count" (a category of its own) or "drop" (not
            counted; ADD_OR_REMOVE only).
        confidence_level: Of the intervals, above 0 and at most 0.9999.
    """

    name: ClassVar[str] = "histogram"

    column: str
    _: KW_ONLY
    values: LabelValues | None = None
    other: ListingPolicy = one_of(*LISTING_POLICIES)
    missing: ListingPolicy = one_of(*LISTING_POLICIES)
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        if self.values is not None:
            _ = self.listed
        elif among(self.other, "other", LISTING_POLICIES) != "refuse":
            raise ParameterError(f"`other` is for values that are declared; declare them, {_EXAMPLE}, or leave it out")
        else:
            _ = self.open

    @property
    def open(self) -> OpenCategories:
        """The column of which nobody declared the categories."""
        return OpenCategories(self.column, self.missing)

    @property
    def listed(self) -> Listed:
        """Which declared category a record is of."""
        return Listed(self.column, declared(self.values, "values"), self.other, self.missing)

    def canonical(self) -> Histogram:
        """The one spelling that stands for all of the same question."""
        return self if self.values is None else dataclasses.replace(self, values=self.listed.values)

    def alternatives(self) -> dict[str, Histogram]:
        """There is one way, which the trust model and the adjacency decide."""
        return {"histogram": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, HistogramEstimate]:
        """Count every category once.

        Privacy: one measurement at the whole of `terms.privacy`, or one report of every owner.
        """
        if self.values is None:
            return (yield from self._ask_found(terms))
        listed = self.listed
        measured = yield from ask_table((listed,), terms)
        return HistogramEstimate(
            self.column,
            measured,
            values=listed.values,
            other=self.other,
            missing=self.missing,
            confidence_level=self.confidence_level,
        )

    def _ask_found(self, terms: Terms) -> Generator[Query, Answer, HistogramEstimate]:
        """Find the categories, with their counts; of too many those with the largest."""
        result = yield from discover(self.open, terms, parameter="values")
        values = result.most(MAX_LISTED)
        if not values:
            raise DataError(
                f"no value of column {quoted(self.column)} reaches the threshold of about "
                f"{result.threshold} records; use a larger guarantee, or declare the categories, {_EXAMPLE}"
            )
        counts = [result.counts[value] for value in values]
        return HistogramEstimate(
            self.column,
            Measured(
                "cells",
                tuple(counts if result.missing is None else [*counts, result.missing]),
                result.law,
                terms.adjacency,
                result.total,
            ),
            values=values,
            other=self.other,
            missing=self.missing,
            confidence_level=self.confidence_level,
            threshold=result.threshold or 1,
        )


_EXAMPLE = "for example `values=('A', 'B', 'C')`"


def declared(values: object, parameter: str) -> tuple[LabelValue, ...]:
    """The categories that a user declared, as a tuple."""
    if values is None:
        raise ParameterError(
            f"declare the categories, for example `{parameter}=('A', 'B', 'C')`; they are public, never read from "
            "records"
        )
    listed = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(listed, list | tuple | range):
        raise ParameterError(f"`{parameter}` must be a list of categories such as ('A', 'B'), got {quoted(values)}")
    return tuple(getattr(each, "item", lambda each=each: each)() for each in listed)


# --- How it is planned

THRESHOLD = "threshold"
"""From about how many records on a value is found that nobody declared."""


class HistogramPrediction(Prediction):
    """The noise of each count; with records given, the largest distance from the exact ones too."""

    deciding = (NOISE,)
    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric("noise of a count", "largest standard deviation of the noise of a count, in records"),
        THRESHOLD: Metric(THRESHOLD, "records; values with fewer records will probably not be shown"),
        "share": Metric("share", "largest distance from an exact count, as a share of the records, simulated"),
    }

    @property
    def decided(self) -> bool:
        """The law of the noise always decides."""
        return True

    def errors(self) -> Errors:
        """The standard deviation for the count of a category; from reports it depends a little on the count."""
        estimate = cast(HistogramEstimate, self.rehearsal.estimate)
        noise = {NOISE: max(estimate.noise_errors)}
        return Errors(noise if estimate.threshold is None else {**noise, THRESHOLD: float(estimate.threshold)})


# --- For the command line

COMMAND = Command(
    help={
        "values": "The categories, public, in the order in which they are shown: words, or one word with commas. By "
        "default those that enough records have are found, which needs --delta."
    },
    groups=dict.fromkeys(("values", "other", "missing"), "What is measured"),
    owner_help={
        "other": "What a value that is not declared means: refuse or count.",
        "missing": "What a missing value means: refuse or count.",
    },
    owners={"other": ("refuse", "count"), "missing": ("refuse", "count")},
)
