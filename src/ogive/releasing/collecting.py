"""A collection by hand: what a statistic asks of every owner, and the estimate from what they sent."""

from __future__ import annotations

from typing import Any

from ogive.columns.grids import Grid
from ogive.core.checks import among, completed, whole
from ogive.errors import ParameterError, PeerError, UnsupportedError, plain
from ogive.local.collection import Collection
from ogive.local.description import Description
from ogive.privacy import Adjacency, ApproxDP, Privacy, PrivacyUnit, PureDP, check_privacy
from ogive.queries import Query, ReportsQuery
from ogive.releasing.release import as_asked, release
from ogive.statistics.base import Statistic, Terms, describe
from ogive.statistics.kinds import COMMANDED
from ogive.statistics.methods.choose import CURVE_METHODS
from ogive.trust.base import reportable, unserved
from ogive.trust.table import Collected

# --- Statistics from plain data


def statistic_from_dict(data: Any) -> Statistic[Any]:
    """Rebuild a statistic from `ogive.statistics.base.describe`; the data need not be trusted.

    Those are read that owners of records can be asked for, as their commands say: `Command.owners`.
    """
    given = data.get("name") if isinstance(data, dict) else None
    known = {kind.name: kind for kind in COMMANDED.values() if kind.owners}
    name = among(given, "a described statistic", known)
    question: Any = known[name].statistic
    if hasattr(question, "from_dict"):
        rebuilt: Statistic[Any] = question.from_dict(data)
        return rebuilt
    fields = {str(key): value for key, value in data.items() if key != "name"}
    if fields.get("grid") is not None:
        if not isinstance(fields["grid"], dict):
            raise ParameterError(f"the grid of a described {name} must be an object")
        fields["grid"] = Grid.from_dict(fields["grid"])
    for field in ("method", "curve"):
        if isinstance(fields.get(field), dict):
            fields[field] = _curve_method(fields[field])
    for field in ("probabilities", "groups", "shares"):
        if isinstance(fields.get(field), list):
            fields[field] = tuple(fields[field])
    try:
        result: Statistic[Any] = question(**completed(question, fields))
    except TypeError:
        raise ParameterError(f"a described {name} lacks a field, or has one that there is not") from None
    return result


def _curve_method(data: dict[str, Any]) -> Any:
    name = among(data.get("name"), "the method of a described statistic", CURVE_METHODS)
    kind: Any = type(CURVE_METHODS[name])
    try:
        return kind(**completed(kind, {str(key): value for key, value in data.items() if key != "name"}))
    except TypeError:
        raise ParameterError(f"the method {name} of a described statistic has an option that there is not") from None


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
