"""The list of trust models: a model is one folder, or one file, and one line here.

Modules are imported when a model is used, so that one model does not load all others. The options of a model that is a
folder are in its `__init__.py`, those of models in `table.py` and `pairs.py` here, which load nothing of weight; those
of another model that is one file are in that file.
"""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ogive.core.checks import Progress, among
from ogive.errors import ParameterError, quoted
from ogive.provenance import trust_statement
from ogive.trust.base import TableModel, TrustModel, TrustOptions

if TYPE_CHECKING:
    from ogive.queries import Kind


MODELS = {
    "central": "table:Central",
    "clear": "table:Clear",
    "local": "table:Local",
    "pairs": "pairs:Pairs",
    "secagg": "secagg.model:SecAgg",
    "servers": "servers.model:Servers",
}
"""Where the class of each model is, by the model's name."""

TRUST_MODELS: tuple[type[TableModel], ...]
"""Those who can hold records of one table; this imports every model."""


def __getattr__(name: str) -> object:
    if name != "TRUST_MODELS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return tuple(map(model_named, MODELS))


def model_named(name: str) -> type[TableModel]:
    result = cast(type[TableModel], _load(MODELS[among(name, "trust", MODELS)]))
    if result.name != name:
        raise TypeError(f"{MODELS[name]} is listed as {name}, and its options are those of {result.name}")
    return result


def options_named(name: str) -> type[TrustOptions]:
    """The options of a trust model of the list, read without the model itself where they lie apart from it."""
    module, _, kind = MODELS[name].partition(":")
    module = "models" if module in ("table", "pairs") else module.removesuffix(".model")
    return cast(type[TrustOptions], _load(f"{module}:{kind}Options"))


def _load(place: str) -> object:
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
        self._given = options
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
        text = "".join(f", {name}={value!r}" for name, value in self._given.items())
        return f"Simulation({self.model.__name__}{text})"


TrustOf = type[TrustModel] | Simulation | str
"""What names a trust model that is made of one table: its type, its name, or a simulation with options."""


# --- Options of the trust models that are made of one table: what is known of them without any records

# --- A trusted curator


@dataclass(frozen=True)
class CentralOptions(TrustOptions):
    """A curator has no options."""

    name: ClassVar[str] = "central"
    summary: ClassVar[str] = "one trusted curator"
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear", "curator"})
    assumption: ClassVar[str] = trust_statement(
        holds="One curator holds every record and adds the noise.",
        sees="The curator sees every record and the noise; everyone else learns only what is published.",
        assumed="The curator keeps the records and the noise secret.",
    )


# --- Exact answers


@dataclass(frozen=True)
class ClearOptions(TrustOptions):
    """Exact answers have no options."""

    name: ClassVar[str] = "clear"
    summary: ClassVar[str] = "exact answers, no privacy"
    private: ClassVar[bool] = False
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear", "curator"})
    assumption: ClassVar[str] = "Not private: the answers are exact; only people who may see the records may see them."


# --- Owners who randomize their records


@dataclass(frozen=True)
class LocalOptions(TrustOptions):
    """Owners have no options."""

    name: ClassVar[str] = "local"
    summary: ClassVar[str] = "every owner randomizes their own record"
    serves: ClassVar[frozenset[Kind]] = frozenset({"reports"})
    limits: ClassVar[str] = "under local no party does"
    assumption: ClassVar[str] = trust_statement(
        holds="Each owner holds their own record, and their own device randomizes it.",
        sees="Everyone else sees only the randomized report that was sent. The owners were simulated in one process, "
        "which saw everything.",
        assumed="Nobody is trusted with another's record.",
    )


# --- Pairs of people

GARBLED, CLEAR = "garbled", "clear"
"""How the circuits of all pairs are evaluated: garbled, as people would, or faster, gate by gate in the clear."""


@dataclass(frozen=True)
class PairsOptions(TrustOptions):
    """How people meet.

    Fields:
        circuits: "garbled", as people would evaluate them, or "clear", which gives the same result faster.
        absent: Share of the people who do not take part, from 0 to less than 1.

    Raises:
        ParameterError: an option is out of range.
    """

    name: ClassVar[str] = "pairs"
    summary: ClassVar[str] = "pairs of people compute noisy values together"
    serves: ClassVar[frozenset[Kind]] = frozenset({"pairs"})
    assumption: ClassVar[str] = trust_statement(
        holds="Each person holds their own record. Pairs of people evaluate garbled circuits, which add noise from "
        "both.",
        sees="The partner and everyone else see at most values with noise. The people were simulated in one process, "
        "which saw everything.",
        assumed="Nobody is trusted with another's record. People follow the protocol, and AES-128 and edwards25519 are "
        "secure. The guarantee holds even if all other people share what they know.",
    )

    circuits: str = GARBLED
    absent: float = 0.0

    def __post_init__(self) -> None:
        among(self.circuits, "circuits", (GARBLED, CLEAR))
        absent = self.absent
        if isinstance(absent, bool) or not isinstance(absent, int | float) or not 0 <= absent < 1:
            raise ParameterError(f"`absent` must be a share from 0 to less than 1, got {quoted(absent)}")
