"""Described variables as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

from typing import Any

from ogive.accounting import at_least, total_loss
from ogive.columns import MAX_GROUPS
from ogive.errors import DataError, ParameterError, plain
from ogive.privacy import Loss, PrivacyUnit
from ogive.provenance import Provenance
from ogive.queries.aggregates import check_groups
from ogive.queries.discovery import LARGEST_THRESHOLD
from ogive.statistics.base import Estimate
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.variables import KNOWN, Categories, Number, Share, Variable
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.kinds import read_estimate
from ogive.statistics.plain_json import Fields, is_number, is_text
from ogive.statistics.stated_price import loss_of
from ogive.statistics.sums.estimate import NumberEstimate

MOST_VARIABLES = 1000
_NEEDED = ("variables", "by", "groups", "public_groups", "guessed", "left_out", "found", "provenance")
_PARTS = {
    "mean": "ogive.mean/1",
    "quantiles": "ogive.quantiles/1",
    "proportion": "ogive.proportion/1",
    "histogram": "ogive.histogram/1",
    KNOWN: "ogive.proportion/1",
}


def to_dict(found: DescribeEstimate) -> dict[str, Any]:
    """Plain data of described variables."""
    return {
        "schema": DescribeEstimate.schema,
        "variables": [_written(variable) for variable in found.variables],
        "by": found.by,
        "groups": list(found.groups),
        "public_groups": found.public_groups,
        **({} if found.threshold is None else {"threshold": found.threshold}),
        "guessed": list(found.guessed),
        "left_out": dict(found.left_out),
        "found": [estimate.to_dict() for estimate in found.found],
        "provenance": None if found.provenance is None else found.provenance.to_dict(),
    }


def _written(variable: Variable) -> dict[str, Any]:
    own: dict[str, Any]
    if isinstance(variable, Number):
        own = {"bounds": None if variable.bounds is None else list(variable.bounds)}
    elif isinstance(variable, Share):
        own = {"positive": variable.positive}
    else:
        own = {"values": list(variable.values)}
    return {
        "column": variable.column,
        "kind": variable.kind,
        **own,
        "missing": variable.missing,
        "confidence_level": variable.confidence_level,
        **({"count_missing": True} if variable.count_missing else {}),
    }


def from_dict(data: Any) -> DescribeEstimate:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: these are no described variables that this version can read.
    """
    known = Fields.of(data, DescribeEstimate.schema, "described variables", _NEEDED)
    variables = _variables(known)
    by, groups = _groups(known)
    public = known.flag("public_groups")
    provenance = known.provenance(*((by,) if public and by is not None else ()))
    held = data["found"]
    if not isinstance(held, list):
        raise DataError("the field 'found' of described variables must be a list of estimates")
    found = DescribeEstimate(
        variables,
        by,
        groups,
        tuple(map(_estimate, held)),
        public,
        tuple(_texts(known, "guessed")),
        _reasons(known),
        threshold=_threshold(known),
    )
    _check_found(found)
    if provenance is None:
        return found
    told = found.with_provenance(provenance)
    if [each.provenance for each in told.found] != [each.provenance for each in found.found]:
        raise DataError("the provenance of each estimate must be that of the release, with its group's condition")
    _check_price(told, provenance)
    return told


def _estimate(data: Any) -> Estimate:
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema not in (*_PARTS.values(), "ogive.bounds/1"):
        raise DataError("described variables hold bounds, means, quantiles, proportions and histograms alone")
    return read_estimate(data)


def _variables(known: Fields) -> tuple[Variable, ...]:
    found: list[Variable] = []
    rows = known.rows("variables", "a variable", ("column", "kind", "missing", "confidence_level"), nonempty=True)
    if len(rows) > MOST_VARIABLES:
        raise DataError(f"there are more than {MOST_VARIABLES} described variables")
    for row in rows:
        column, kind, missing = row.text("column"), row.text("kind"), row.data["missing"]
        if not (is_text(missing) or is_number(missing)):
            raise DataError("what missing values of a variable mean must be a short text or a number")
        level = row.chance("confidence_level")
        counts = row.flag("count_missing") if "count_missing" in row.data else False
        try:
            if kind == Number.kind:
                found.append(Number(column, _bounds(row.data.get("bounds")), missing, level, counts))
            elif kind == Share.kind:
                found.append(Share(column, row.data.get("positive", True), missing, level, counts))
            elif kind == Categories.kind and isinstance(row.data.get("values"), list):
                found.append(Categories(column, tuple(row.data["values"]), missing, level, counts))
            else:
                kinds = ", ".join(each.kind for each in (Number, Share, Categories))
                raise DataError(f"the kind of a variable must be one of {kinds}, with what belongs to it")
        except ParameterError as problem:
            raise DataError(f"a described variable contradicts itself: {plain(problem)}") from None
    if len({each.column for each in found}) < len(found):
        raise DataError("a variable is described twice")
    return tuple(found)


def _bounds(data: Any) -> Any:
    if data is None:
        return None
    if not isinstance(data, list) or len(data) != 2 or not all(map(is_number, data)):
        raise DataError("the bounds of a variable must be two numbers or null")
    return tuple(data)


def _groups(known: Fields) -> tuple[str | None, tuple[Any, ...]]:
    by, listed = known.data["by"], known.data["groups"]
    if by is None and listed == []:
        return None, ()
    by = known.text("by")
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_GROUPS:
        raise DataError(f"the field 'groups' must be a list of 1 to {MAX_GROUPS} values")
    try:
        check_groups(by, tuple(listed))
    except (ParameterError, TypeError):
        raise DataError("the field 'groups' must list different numbers, texts or truth values") from None
    return by, tuple(listed)


def _threshold(known: Fields) -> int | None:
    """From how many records on groups were found.

    Raises:
        DataError: it is no such number, or there are no groups.
    """
    if "threshold" not in known.data:
        return None
    if known.data["by"] is None or known.data["public_groups"]:
        raise DataError("the field 'threshold' belongs to groups that were found, which are private")
    return known.whole("threshold", 1, LARGEST_THRESHOLD)


def _texts(known: Fields, name: str) -> list[str]:
    listed = known.data[name]
    if not isinstance(listed, list) or not all(map(is_text, listed)):
        raise DataError(f"the field '{name}' of described variables must be a list of texts")
    return listed


def _reasons(known: Fields) -> dict[str, str]:
    reasons = known.data["left_out"]
    if not isinstance(reasons, dict) or not all(is_text(each) for pair in reasons.items() for each in pair):
        raise DataError("the field 'left_out' of described variables must be texts by column")
    return reasons


def _check_found(found: DescribeEstimate) -> None:
    """Refuse estimates that are not those of the variables and groups, in their order."""
    wanted = [(each.column, "ogive.bounds/1") for each in found.finding]
    wanted += [(each.column, _PARTS[part]) for _ in found.columns for each in found.variables for part in each.parts]
    held: list[Any] = list(found.found)
    if [(each.column, each.schema) for each in held] != wanted:
        raise DataError("the estimates of described variables must be those of the variables and groups, in order")


def _check_price(found: DescribeEstimate, source: Provenance) -> None:
    """Refuse a price below that of the noise of all estimates of one group together, with that of finding bounds."""
    if source.privacy is None or source.price is None:
        return
    first = len(found.finding)
    one = (len(found.found) - first) // len(found.columns)
    losses = [loss for each in found.found[: first + one] if (loss := _loss(each, source)) is not None]
    if losses and not at_least(source.price, total_loss(losses)):
        raise DataError(
            f"these described variables contradict themselves: their noise costs {total_loss(losses)}, and their "
            f"stated price is {source.price}"
        )


def _loss(estimate: Estimate, source: Provenance) -> Loss | None:
    """What the noise of an estimate costs."""
    if isinstance(estimate, NumberEstimate | HistogramEstimate):
        adjacency = estimate.measured.adjacency
        unit = source.unit if adjacency is source.adjacency else PrivacyUnit(adjacency, source.person)
        return None if estimate.query is None else estimate.query.price(unit)
    held: Any = estimate
    curve = getattr(held, "curve", held)
    if curve.strategy is None:
        return None
    return loss_of(curve.strategy, source.adjacency, source.max_rows_per_person)
