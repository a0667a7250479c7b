"""What the functions on arrays have in common, and those of statistics that have none of their own."""

from __future__ import annotations

from typing import Protocol

from ogive.privacy import Adjacency
from ogive.releasing.release import on_columns
from ogive.statistics.base import Estimate, Statistic
from ogive.statistics.derived import Taken, call_of
from ogive.statistics.kinds import CALLED, Kind
from ogive.trust import Central

COLUMN, GROUP = "value", "group"
SCORE, PROBABILITY, LABEL = "score", "probability", "label"


def declared(column: str, public: bool | None, adjacency: Adjacency) -> tuple[str, ...]:
    """The public columns of a release whose caller may say of one that everybody knows it."""
    return (column,) if public and Adjacency(adjacency) is Adjacency.REPLACE else ()


# --- Functions of statistics that have none of their own, by `__getattr__`

_OWN = {
    "privacy": (None, "The guarantee for the statistic and everything derived from it."),
    "adjacency": (Adjacency.REPLACE, "REPLACE (the number of records is public) or ADD_OR_REMOVE (it is private)."),
    "trust": (Central, "Trust model: its type or name, or a `Simulation`."),
    "source": (None, "Source of the noise key; by default the operating system."),
    "na_values": ((), "Texts and numbers that mark a missing value of a measured column, besides words such as NA."),
}


class Function(Protocol):
    """A function with the columns and options of a statistic."""

    def __call__(self, *columns: object, **options: object) -> Estimate:
        """Release the statistic of some arrays."""
        ...


def __getattr__(name: str) -> Function:
    """The function of a kind, made when it is used."""
    if name not in CALLED:
        raise AttributeError(name)
    return function_of(CALLED[name])


def function_of(kind: Kind) -> Function:
    """The function that releases a statistic of arrays."""

    def release(columns: Taken, options: Taken, own: Taken) -> Estimate:
        called = {name: COLUMN if columns.keys() == {"column"} else name for name in columns}
        statistic: Statistic[Estimate] = kind.statistic(**called, **options)
        return on_columns(statistic, {called[name]: values for name, values in columns.items()}, **own)

    array = "data" if "values" in kind.options.__annotations__ else "values"  # which is the name of an option there
    return call_of(kind, release, _OWN, called={"column": array})
