"""How the errors of a plan are called: as its statistic says, and by their names where nothing is said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ogive.statistics.kinds import prediction_of
from ogive.statistics.prediction import UNDEFINED, Metric

Metrics = Mapping[str, Metric]


def metrics_of(statistic: str) -> Metrics:
    """What the errors of a statistic with that name are, in the order of a table's columns."""
    return {**prediction_of(statistic).metrics, "undefined": UNDEFINED}


def title(metrics: Metrics, name: str) -> str:
    """Heading of an error, also of one that no text is kept for."""
    return metrics[name].title if name in metrics else name.replace("_", " ")


def named(metrics: Metrics, name: str) -> str:
    """The name of an error that was called by it, or as its column is headed."""
    return name if name in metrics else next((each for each in metrics if metrics[each].title == name), name)


def listed(metrics: Metrics, names: Iterable[str]) -> str:
    """Names for a message, each with the heading of its column where that is another."""
    titles = {name: title(metrics, name) for name in names}
    return ", ".join(name if name == heading else f"{name} ({heading})" for name, heading in titles.items())


def in_order(metrics: Metrics, names: Collection[str]) -> list[str]:
    """Names as a table shows them: in the order of their metrics, and those that have none as they come."""
    return [*(name for name in metrics if name in names), *(name for name in names if name not in metrics)]
