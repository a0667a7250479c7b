"""Options of methods, and how they become the library's methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from ogive.cli.converters import whole
from ogive.errors import ParameterError

# which method each option is for
_OF_CURVES = {
    "degree": "projection",
    "basis": "projection",
    "groups": "histogram",
    "rounds": "adaptive",
    "share": "selected",
}


@Parameter(name="*", group=Group("How it is measured", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """The method and what it leaves open."""

    method: str = "auto"
    """auto (smallest predicted error of those that fail on no public reference shape); without bias path, tree_ls,
    hat_ls or sqrt; from a few measurements projection, histogram, adaptive or selected; under trust local reports or
    histogram."""

    degree: Annotated[int | None, Parameter(converter=whole)] = None
    """Degree of a projection; by default one that suits the guarantee and the number of records."""

    basis: Literal["legendre", "sine", "cosine", "splines"] | None = None
    """Functions of a projection; legendre by default."""

    groups: Annotated[int | None, Parameter(converter=whole)] = None
    """Number of groups of a histogram; 30 by default."""

    rounds: Annotated[int | None, Parameter(converter=whole)] = None
    """Thresholds that adaptive asks for; by default as many as suit the guarantee and the number of records."""

    share: str | None = None
    """Part of the budget that selected takes for choosing; 0.1 by default."""

    expected_records: Annotated[int | None, Parameter(converter=whole)] = None
    """A public guess of the number of records, for auto and selected where that number is private."""

    def arguments(self) -> dict[str, Any]:
        """The arguments method and expected_records of a statistic.

        Raises:
            ParameterError: an option is for another method, or out of range.
        """
        given = {name: getattr(self, name) for name in _OF_CURVES if getattr(self, name) is not None}
        return {"method": method_of(self.method, given, _OF_CURVES), "expected_records": self.expected_records}


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
            raise ParameterError(f"--{name} needs --method {owners[name]} beside it, got {method}")
    if not given:
        return method
    from ogive.statistics.methods.choose import CURVE_METHODS
    from ogive.statistics.ustatistic.pairs.options import Paired
    from ogive.statistics.ustatistic.reports.trees.options import HierarchyAuc

    of_pairs: dict[str, Any] = {kind.name: kind for kind in (HierarchyAuc, Paired)}
    kind: Any = of_pairs[method] if method in of_pairs else type(CURVE_METHODS[method])
    return kind(**given)


ANY_METHOD = MethodOptions()
