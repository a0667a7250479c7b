"""A collection by hand: what a statistic asks of every owner, and the estimate from what they sent."""

from __future__ import annotations

from typing import Any

from ogive.asking import as_asked
from ogive.checks import whole
from ogive.errors import ParameterError, PeerError, UnsupportedError, plain
from ogive.local.collection import Collection
from ogive.local.description import Description
from ogive.privacy import Adjacency, ApproxDP, Privacy, PrivacyUnit, PureDP, check_privacy
from ogive.queries import Query, ReportsQuery
from ogive.releasing import release
from ogive.statistics.base import Statistic, Terms, describe
from ogive.statistics.descriptions import statistic_from_dict
from ogive.trust.base import reportable, unserved
from ogive.trust.local.collected import Collected


def describe_collection(
    statistic: Statistic[Any], *, privacy: Privacy, participants: int, title: str = ""
) -> Description:
    """Describe the reports that a statistic needs, for distribution to the owners of records.

    Args:
        statistic: The statistic, for example `Ustatistic("income", "gini", bounds=(0, 100_000))`.
        privacy: The guarantee for every participant.
        participants: Expected number of participants, for which the question is designed.
        title: A one-line title for readers.

    Raises:
        ParameterError: the number is out of range, or reports do not support this kind of guarantee.
        UnsupportedError: the statistic cannot be estimated from reports.

    Example:
        >>> import ogive
        >>> curve = ogive.Ecdf("age", bounds=(0, 120), bins=64)
        >>> asked = ogive.describe_collection(curve, privacy=ogive.PureDP(1), participants=10_000)
        >>> asked.report_bytes
        10
    """
    if not isinstance(privacy := check_privacy(privacy), PureDP | ApproxDP):
        raise ParameterError("reports need a guarantee `PureDP` or `ApproxDP`, which participants can read")
    whole(participants, "participants", 1)

    def refusal(query: Query) -> str | None:
        return as_asked(unserved(query, {"reports"}, instead=f"collect {reportable()}"), query, statistic)

    terms = Terms(privacy, PrivacyUnit(Adjacency.REPLACE), refusal, count=lambda: participants)
    query = next(statistic.questions(terms))
    if not isinstance(query, ReportsQuery):
        reason = refusal(query)
        assert reason is not None, "reports alone are served"
        raise UnsupportedError(reason)
    return Description(
        domain=query.rows.domain,
        oracle=query.oracle,
        privacy=privacy,
        participants=participants,
        rounding=query.rounding,
        statistic=describe(statistic),
        title=title,
    )


def estimate_collection(collection: Collection) -> Any:
    """Estimate the statistic of a description from the collected reports.

    Args:
        collection: The collection that holds the reports.

    Returns:
        The estimate, with its provenance: trust model "local", and the number of accepted reports as total.

    Raises:
        PeerError: this version does not know the statistic of the description.
        UnsupportedError: too few reports were accepted.

    Privacy: post-processing of the reports; each report costs its owner at most `description.privacy`.
    """
    description = collection.description
    if description.statistic is None:
        raise ParameterError("the description names no statistic; name one")
    try:
        statistic = statistic_from_dict(description.statistic)
    except ParameterError as problem:
        raise PeerError(f"what the description is for cannot be told: {plain(problem)}") from None
    # owners were told which columns their reports carry as they are
    public = description.public_columns
    return release(statistic, trust=Collected(collection), privacy=description.privacy, public=public)
