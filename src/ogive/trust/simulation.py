"""A trust model yet without records: what it is made with, once there is a table.

Whoever has one table and wants it released as if others held it makes the model here and only here: a session, a
call on an array, the command line, and a plan, which has no records at all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ogive.errors import ParameterError, quoted
from ogive.trust.base import TrustModel
from ogive.trust.models import model_named

Progress = Callable[[int, int], None]

_RECORDS = ("data", "person", "max_rows_per_person")
_TOLD = "progress"


class Simulation:
    """A trust model and its options, to be made of one table of records.

    Args:
        model: A trust model's type, such as `SecAgg`, or its name, such as "secagg".
        options: What that model takes beside the records: for `SecAgg` the number of parties to whom the table is
            dealt, for example.

    Raises:
        ParameterError: this is no trust model that can be made of one table, it has no such option, or needs another.

    Example:
        >>> import numpy as np, ogive
        >>> ages = np.random.default_rng(1).integers(18, 90, size=20_000)
        >>> among_five = ogive.Simulation(ogive.SecAgg, parties=5, colluding=1)
        >>> curve = ogive.ecdf(ages, bounds=(0, 120), grid="integers", trust=among_five, privacy=ogive.PureDP(1))
        >>> curve.total
        20000
    """

    def __init__(self, model: type[TrustModel] | str, **options: Any) -> None:
        if isinstance(model, str):
            model = model_named(model)
        parameters = _parameters(model)
        known = options_of(model)
        for name in options:
            if name not in known:
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                raise ParameterError(f"trust {model.name} has no option {name}; {takes}")
        for name in known:
            if name not in options and parameters[name].default is inspect.Parameter.empty:
                raise ParameterError(f"trust {model.name} needs {name}, for example {name}=5")
        self.model = model
        self.options = options
        self._progress: Progress | None = None
        self.planned()  # refuses options that are out of range

    @staticmethod
    def of(trust: TrustOf) -> Simulation:
        """What was given as trust: a simulation as it is, or one of a model that needs no options, by type or name.

        Raises:
            ParameterError: it is none of these.
        """
        if isinstance(trust, str):
            trust = model_named(trust)
        return trust if isinstance(trust, Simulation) else Simulation(trust)

    @property
    def name(self) -> str:
        """The model's short name."""
        return self.model.name

    @property
    def private(self) -> bool:
        """Whether answers would carry noise."""
        return self.model.private

    def telling(self, progress: Progress) -> Simulation:
        """The same, whose models tell how far they are: called with steps done and to do, where there are many."""
        told = Simulation(self.model, **self.options)
        told._progress = progress
        return told

    def over(self, data: Any, *, person: str | None = None, max_rows_per_person: int = 1) -> TrustModel:
        """The trust model, made of a table.

        Args:
            data: Anything `Records.of` reads.
            person: Column that says whose record it is, where a person may have several.
            max_rows_per_person: How many of a person's records are kept, chosen at random.

        Raises:
            ParameterError: an option is out of range, or does not fit the table.
            DataError: the records cannot be read.
        """
        make: Any = getattr(self.model, "simulated", self.model)
        told = {_TOLD: self._progress} if _TOLD in _parameters(self.model) else {}
        made: TrustModel = make(data, person=person, max_rows_per_person=max_rows_per_person, **self.options, **told)
        return made

    def planned(self) -> TrustModel:
        """The trust model without any records, which can be asked what it would refuse and what it would take.

        Raises:
            ParameterError: an option is out of range.
        """
        make: Any = getattr(self.model, "planned", None)
        made: TrustModel = self.model.__new__(self.model) if make is None else make(**self.options)
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Simulation) and (self.model, self.options) == (other.model, other.options)

    def __hash__(self) -> int:
        return hash((self.model, tuple(sorted(self.options))))

    def __repr__(self) -> str:
        said = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"Simulation({self.model.__name__}{said})"


TrustOf = type[TrustModel] | Simulation | str
"""What names a trust model that is made of one table: its type, its name, or a simulation with options."""


def options_of(model: type[TrustModel]) -> tuple[str, ...]:
    """Names of what a trust model takes beside the records.

    Raises:
        ParameterError: this is no trust model that can be made of one table.
    """
    return tuple(name for name in _parameters(model) if name not in (*_RECORDS, _TOLD))


def _parameters(model: Any) -> dict[str, inspect.Parameter]:
    """What a trust model is made of, by name."""
    if isinstance(model, type) and hasattr(model, "open"):
        found = dict(inspect.signature(getattr(model, "simulated", model)).parameters)
        if set(_RECORDS) <= set(found):
            return found
    held = isinstance(model, TrustModel) and not isinstance(model, type)
    raise ParameterError(
        "trust must be the type of a trust model that is made of one table, such as Central, or a Simulation of one, "
        + (
            f"not a {type(model).__name__} with records of its own, which ogive.release takes"
            if held
            else f"got {quoted(model)}"
        )
    )
