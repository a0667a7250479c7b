"""Options of methods, and how they become the library's methods."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from cyclopts import Group, Parameter

from ogive.cli.converters import whole
from ogive.cli.forms.base import Form, Words
from ogive.cli.forms.fields import default_shown, described, option_type
from ogive.cli.forms.plain import form_among
from ogive.cli.help import OF_METHODS
from ogive.errors import ParameterError
from ogive.parameters import choices_of


class Given:
    """A group of options of methods; None stands for nothing said."""

    def given(self) -> dict[str, Any]:
        """What was said."""
        return {name: value for name, value in vars(self).items() if value is not None}


def options_of(method: Any, forms: Mapping[str, Form], *, title: str, heading: Group) -> Any:
    """The group of options that the fields of a method are.

    Args:
        method: The dataclass of the method.
        forms: How words become values, by the types of fields.
        title: Name of the group.
        heading: Under which it stands.
    """
    fields = {field.name: field for field in dataclasses.fields(method)}
    reading = {each: form_among(forms, field) for each, field in fields.items()}
    texts = described(method)

    class MethodOptions(Given):
        name, owners = title, dict.fromkeys(fields, method.name)

        def given(self) -> dict[str, Any]:
            said = super().given()
            return {each: reading[each].read(Words(each, value, said)) for each, value in said.items()}

    MethodOptions.__annotations__ = {
        each: option_type(
            reading[each],
            field.default,
            name=each,
            help=texts[each],
            group=heading,
            shown=default_shown(reading[each], field.default),
            words=choices_of(field),
        )
        for each, field in fields.items()
    }
    for each in fields:
        setattr(MethodOptions, each, None)
    return Parameter(name="*")(dataclass(frozen=True, kw_only=True)(MethodOptions))


@Parameter(name="*", group=OF_METHODS)
@dataclass(frozen=True, kw_only=True)
class OwnerMethodOptions(Given):
    """What owners' reports of a curve leave open."""

    name: ClassVar[str] = "method_options"
    owners: ClassVar[Mapping[str, str]] = {"groups": "histogram"}

    groups: Annotated[int | None, Parameter(converter=whole)] = None
    """Number of groups of a histogram; 30 by default."""


@Parameter(name="*", group=OF_METHODS)
@dataclass(frozen=True, kw_only=True)
class CurveMethodOptions(Given):
    """What methods of curves leave open."""

    name: ClassVar[str] = "method_options"
    owners: ClassVar[Mapping[str, str]] = {
        "degree": "projection",
        "basis": "projection",
        "groups": "histogram",
        "rounds": "adaptive",
        "share": "selected",
    }

    degree: Annotated[int | None, Parameter(converter=whole)] = None
    """Degree of a projection; chosen for the guarantee and the number of records by default."""

    basis: Literal["legendre", "sine", "cosine", "splines"] | None = None
    """Functions of a projection; legendre by default."""

    groups: Annotated[int | None, Parameter(converter=whole)] = None
    """Number of groups of a histogram; 30 by default."""

    rounds: Annotated[int | None, Parameter(converter=whole)] = None
    """Thresholds that adaptive asks for; chosen for the guarantee and the number of records by default."""

    share: str | None = None
    """Share of the budget that selected spends on choosing; 0.1 by default."""


def method_of(method: str, given: Mapping[str, Any], owners: Mapping[str, str]) -> Any:
    """A method with the options that were given for it; its name where there are none.

    Args:
        method: Its name.
        given: Options by name.
        owners: Which method each option is for.

    Raises:
        ParameterError: an option is for another method, or out of range.
    """
    for name in given:
        if method != owners[name]:
            raise ParameterError(f"--{name} requires --method {owners[name]}, got {method}")
    if not given:
        return method
    from ogive.statistics.methods.choose import CURVE_METHODS
    from ogive.statistics.ustatistic.pairs.options import Paired
    from ogive.statistics.ustatistic.reports.trees.options import HierarchyAuc

    of_pairs: dict[str, Any] = {kind.name: kind for kind in (HierarchyAuc, Paired)}
    kind: Any = of_pairs[method] if method in of_pairs else type(CURVE_METHODS[method])
    return kind(**given)
