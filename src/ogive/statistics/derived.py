"""Functions and verbs of statistics that have none of their own, from the fields of their questions.

A field without a default is a column: the function takes an array for it, the verb its name. The fields of the
statistic's `TypedDict` are options.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from ogive.statistics.base import Estimate
from ogive.statistics.kinds import Kind
from ogive.statistics.options import entries, takes_options_of

Taken = Mapping[str, Any]


def call_of(
    kind: Kind,
    release: Callable[[Taken, Taken, Taken], Estimate],
    own: Mapping[str, tuple[Any, str]],
    *,
    first: tuple[str, ...] = (),
    called: Mapping[str, str] = MappingProxyType({}),
) -> Callable[..., Estimate]:
    """A function with a signature and documentation from the fields of the kind's question.

    Args:
        kind: Of the statistic.
        release: Is called with what was given for columns, for options, and for parameters of the function itself.
        own: Defaults and documentation of these parameters.
        first: Parameters before the columns, such as `self`; columns may then be left out.
        called: The parameter for the only column, where it does not have the name of its field, by that.
    """
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
