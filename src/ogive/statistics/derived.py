"""What verbs, functions and commands share: those made of the fields of questions, and statistics of some records.

Statistics that have no function and verb of their own get them from the fields of their questions. A field without a
default is a column: the function takes an array for it, the verb its name. The fields of the statistic's `TypedDict`
are options.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast, overload

from ogive.columns import LabelValue
from ogive.errors import ParameterError
from ogive.statistics.base import Estimate, EstimateT, Statistic
from ogive.statistics.kinds import Kind
from ogive.statistics.options import Where, entries, takes_options_of

if TYPE_CHECKING:
    from ogive.statistics.groups.estimate import GroupEstimates

Taken = Mapping[str, Any]


def call_of(
    kind: Kind,
    release: Callable[[Taken, Taken, Taken], Estimate],
    own: Mapping[str, tuple[Any, str]],
    *,
    first: tuple[str, ...] = (),
    called: Mapping[str, str] = MappingProxyType({}),
) -> Callable[..., Estimate]:
    """A function with a signature and documentation from the fields of the kind's question."""
    columns = _columns(kind)
    if len(columns) > 1:
        called = {}  # of several columns each keeps its name
    usual = inspect.Parameter.empty if not first else None
    signature = inspect.Signature(
        [
            *(inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in first),
            *(
                inspect.Parameter(called.get(name, name), inspect.Parameter.POSITIONAL_OR_KEYWORD, default=usual)
                for name in columns
            ),
            *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=own[name][0]) for name in own),
            inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD),
        ]
    )

    def call(*arguments: Any, **given: Any) -> Estimate:
        bound = signature.bind(*arguments, **given)
        bound.apply_defaults()
        held = bound.arguments
        return release(
            {name: held[called.get(name, name)] for name in columns},
            held["options"],
            {name: held[name] for name in (*first, *own)},
        )

    known = [(called.get(name, name), text) for name, text in columns.items()]
    lines = [f"    {name}: {text}" for name, text in [*known, *((name, own[name][1]) for name in own)]]
    call.__doc__ = "\n".join([f"Release {kind.summary}.", "", "Args:", *lines])
    call.__name__ = kind.function
    cast(Any, call).__signature__ = signature
    return takes_options_of(kind.statistic, kind.options)(call)


def _columns(kind: Kind) -> dict[str, str]:
    """The fields that are columns, and what the documentation of the statistic says of them."""
    fields = dataclasses.fields(cast(Any, kind.statistic))
    known = entries(inspect.cleandoc(kind.statistic.__doc__ or ""), "Fields")
    texts = {name: text.partition(": ")[2] for names, text in known for name in names}
    return {each.name: texts[each.name] for each in fields if each.default is dataclasses.MISSING}


# --- A statistic of some of the records


@overload
def asked(
    statistic: Statistic[EstimateT], *, where: Where | None = None, by: None = None, groups: None = None
) -> Statistic[EstimateT]: ...
@overload
def asked(
    statistic: Statistic[EstimateT], *, where: Where | None, by: str | None, groups: Sequence[LabelValue] | None
) -> Statistic[EstimateT | GroupEstimates[EstimateT]]: ...
def asked(
    statistic: Statistic[Any],
    *,
    where: Where | None = None,
    by: str | None = None,
    groups: Sequence[LabelValue] | None = None,
) -> Statistic[Any]:
    """A statistic of all records, of groups of them, or of those that satisfy a condition."""
    if by is None and groups is not None:
        raise ParameterError("`groups` are the values of a column; name it with `by=`")
    if by is not None:
        from ogive.statistics.groups.statistic import Grouped

        statistic = Grouped(statistic, by, None if groups is None else tuple(groups))
    if where is None:
        return statistic
    from ogive.statistics.groups.statistic import Subset  # most questions are about all records

    return Subset(statistic, where)
