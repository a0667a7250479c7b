"""Options that say who holds the records, from the fields of the options of all trust models.

A field that several models have is one option. What is not said is not passed on, so that the defaults are the models'.
"""

# annotations stay values here: the parser reads them off subclasses, whose modules do not have these names

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from cyclopts import Parameter

from ogive.cli.forms import form_of
from ogive.cli.forms.base import Words, default_shown, described, option_type
from ogive.cli.help import OF_TRUST
from ogive.core.parameters import is_python_only
from ogive.errors import ParameterError, quoted
from ogive.trust.models import MODELS, options_named

if TYPE_CHECKING:
    from ogive.statistics.kinds import Kind
    from ogive.trust import Simulation

Fields = Mapping[str, "dataclasses.Field[Any]"]
ClassT = TypeVar("ClassT", bound=type)

_TYPES = {name: options_named(name) for name in MODELS}

if TYPE_CHECKING:
    ModelName = str
else:
    ModelName = Literal[tuple(MODELS)]  # of the list itself, so that a shell completes the names
"""The name of a trust model."""

HOLDERS = ", ".join(f"{name} ({kind.summary})" for name, kind in _TYPES.items())
"""All trust models, each with who holds the records."""

PRIVATE = ", ".join(name for name, kind in _TYPES.items() if kind.private)
"""The names of those whose answers carry noise."""


def declared(types: Mapping[str, type]) -> Mapping[str, Fields]:
    """The fields that are options, by their names, each with the trust models that have it."""
    found: dict[str, dict[str, dataclasses.Field[Any]]] = {}
    for model, kind in types.items():
        fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(kind)
        for field in fields:
            if not is_python_only(field):
                found.setdefault(field.name, {})[model] = field
    return found


def option_of(name: str, fields: Fields, types: Mapping[str, type]) -> Any:
    """The option of a field that one trust model has, or several.

    Raises:
        TypeError: words mean one thing to one of the models and another to another.
    """
    form, *others = (form_of(field) for field in fields.values())
    if any(other is not form for other in others):
        raise TypeError(f"the fields {name} of {', '.join(fields)} are read in different ways")
    texts: dict[str, list[str]] = {}
    for model in fields:
        texts.setdefault(described(types[model])[name], []).append(model)
    defaults = {default_shown(form, field.default) for field in fields.values()}
    return option_type(
        form,
        None,
        name=name.replace("_", "-"),
        help=" ".join(f"With --trust {' or '.join(models)}: {_lower(text)}" for text, models in texts.items()),
        group=OF_TRUST,
        shown=defaults.pop() if len(defaults) == 1 else False,
    )


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


_DECLARED = declared(_TYPES)

NAMES = tuple(name.replace("_", "-") for name in _DECLARED)
"""The names of the options of all trust models."""


def not_of(kind: "Kind") -> frozenset[str]:
    """The options of trust models none of which can serve a kind of statistic."""
    serving = {name for name, options in _TYPES.items() if options.serves & kind.asks}
    return frozenset(f"--{name.replace('_', '-')}" for name, models in _DECLARED.items() if not serving & {*models})


def _with_options(kind: ClassT) -> ClassT:
    """A class with the options of all trust models as its fields; None stands for one that is not given."""
    kind.__annotations__ = {name: option_of(name, fields, _TYPES) for name, fields in _DECLARED.items()}
    for name in _DECLARED:
        setattr(kind, name, None)
    return kind


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
@_with_options
class HolderOptions:
    """What the trust models leave open, such as how many parties there are."""

    def simulations(self, names: Sequence[str]) -> "list[Simulation]":
        """The trust models of these names with their options, to be made of the records.

        Raises:
            ParameterError: there is no such model, an option fits none of them, or one is missing.
        """
        from ogive.trust import Simulation

        for name in names:
            if name not in MODELS:
                raise ParameterError(f"--trust must be one of {', '.join(MODELS)}, got {quoted(name)}")
        said = {name: value for name, value in vars(self).items() if name in _DECLARED and value is not None}
        for option in said:
            if not any(name in _DECLARED[option] for name in names):
                raise ParameterError(f"--{option.replace('_', '-')} requires --trust {' or '.join(_DECLARED[option])}")
        values = {name: _value(name, said) for name in said}
        return [
            Simulation(name, **{option: value for option, value in values.items() if name in _DECLARED[option]})
            for name in names
        ]


def _value(name: str, said: Mapping[str, Any]) -> Any:
    field = next(iter(_DECLARED[name].values()))
    return form_of(field).read(Words(name, said[name], said))
