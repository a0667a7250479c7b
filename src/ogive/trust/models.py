"""The list of trust models: a model is one folder, or one file, and one line here.

Modules are imported when a model is used, so that one model does not load all others. The options of a model that is a
folder are in its `options.py`, those of models in `table.py` and `pairs.py` in the `options.py` beside them, which load
nothing of weight; those of another model that is one file are in that file.
"""

from __future__ import annotations

import copy
import dataclasses
from importlib import import_module
from typing import Any, cast

from ogive.core.checks import Progress, among
from ogive.errors import ParameterError, quoted
from ogive.trust.base import TableModel, TrustModel, TrustOptions

MODELS = {
    "central": "table:Central",
    "clear": "table:Clear",
    "local": "table:Local",
    "pairs": "pairs:Pairs",
    "secagg": "secagg.model:SecAgg",
    "servers": "servers.model:Servers",
}
"""Where the class of each model is, by the model's name."""

_OPTIONS_BESIDE = ("table", "pairs")
"""Models in these files have their options in `options.py`."""


def model_named(name: str) -> type[TableModel]:
    """The trust model of a name."""
    found = cast(type[TableModel], _found(MODELS[among(name, "trust", MODELS)]))
    if found.name != name:
        raise TypeError(f"{MODELS[name]} is listed as {name}, and its options are those of {found.name}")
    return found


def options_named(name: str) -> type[TrustOptions]:
    """The options of a trust model of the list, read without the model itself where they are in an `options.py`."""
    module, _, kind = MODELS[name].partition(":")
    folder, _, _ = module.partition(".model")
    if folder != module:
        module = f"{folder}.options"
    elif module in _OPTIONS_BESIDE:
        module = "options"
    return cast(type[TrustOptions], _found(f"{module}:{kind}Options"))


def _found(place: str) -> object:
    module, _, name = place.partition(":")
    return getattr(import_module(f"ogive.trust.{module}"), name)


# --- A trust model yet without records: what it is made with, once there is a table
#
# Whoever has one table and wants it released as if others held it makes the model here and only here: a session, a
# call on an array, the command line, and a plan, which has no records at all.


class Simulation:
    """A trust model and its options, to be applied to one table of records.

    Args:
        model: A trust model's type, such as `SecAgg`, or its name, such as "secagg".
        options: Options of the model in addition to the records, for example the number of `SecAgg` parties among
            which the table is divided.

    Raises:
        ParameterError: the model cannot be made from one table, has no such option, or requires another option.

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
        if not (isinstance(model, type) and issubclass(model, TableModel)):
            raise ParameterError(
                "trust must be the type of a trust model that is made of one table, such as Central, its name, such as "
                "central, or a Simulation of one, "
                + (
                    f"not a {type(model).__name__} with records of its own, which ogive.release takes"
                    if isinstance(model, TrustModel)
                    else f"got {quoted(model)}"
                )
            )
        known = {field.name: field for field in model.option_fields()}
        for name in options:
            if name not in known:
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                raise ParameterError(f"trust {model.name} has no option {name}; {takes}")
        for name, field in known.items():
            if name not in options and field.default is dataclasses.MISSING:
                raise ParameterError(f"`trust` {model.name} needs `{name}`, for example `{name}=5`")
        self.model = model
        self.options: TrustOptions = model.options_type(**options)  # refuses those that are out of range
        self._said = options
        self._progress: Progress | None = None

    @staticmethod
    def of(trust: TrustOf) -> Simulation:
        """The simulation that a value of `trust` stands for: itself, or a model's type or name without options.

        Raises:
            ParameterError: the value is none of these.
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
        """The same simulation with a progress function, called with the steps done and the steps in all."""
        changed = copy.copy(self)
        changed._progress = progress
        return changed

    def over(
        self, data: Any, *, person: str | None = None, max_rows_per_person: int = 1, row_choice: str | None = None
    ) -> TrustModel:
        """The trust model, made from a table.

        Args:
            data: Anything `Records.of` reads.
            person: Column with the person's identifier, if a person may have several records.
            max_rows_per_person: How many of a person's records are kept, chosen at random.
            row_choice: What they are chosen by, as for `Central`.

        Raises:
            ParameterError: an option is out of range, or does not fit the table.
            DataError: the records cannot be read.
        """
        if row_choice is not None:
            from ogive.records import Records  # which a plan needs not

            data = Records.of(data).bounded(person, max_rows_per_person, row_choice)
        return self.model.simulated(
            self.options, data, person=person, max_rows_per_person=max_rows_per_person, progress=self._progress
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Simulation) and (self.model, self.options) == (other.model, other.options)

    def __hash__(self) -> int:
        return hash((self.model, self.options))

    def __repr__(self) -> str:
        said = "".join(f", {name}={value!r}" for name, value in self._said.items())
        return f"Simulation({self.model.__name__}{said})"


TrustOf = type[TrustModel] | Simulation | str
"""What names a trust model that is made of one table: its type, its name, or a simulation with options."""
