"""Measures by name, from kernels and functions, and from plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ogive.errors import ParameterError, quoted
from ogive.kernels.base import Kernel, Measure
from ogive.kernels.clustering import ClusteringLoss
from ogive.kernels.equality import Equal, Untied
from ogive.kernels.function import FunctionKernel
from ogive.kernels.in_order import InOrder
from ogive.kernels.labeled import ScoreOrder
from ogive.kernels.measures import CollisionEntropy, Gamma, GiniCoefficient, KendallB, Mean, PrivateLabelAuc
from ogive.kernels.metric import MetricLoss
from ogive.kernels.numbers import AbsoluteDifference, HalfSquare, PairMeanKernel
from ogive.kernels.ranking import RankingLoss
from ogive.kernels.ranks import Greater, SignProduct
from ogive.kernels.triples import TripleTable


def _gini() -> Mean:
    return Mean(AbsoluteDifference(), "gini")


def _variance() -> Mean:
    return Mean(HalfSquare(), "variance")


def _collision_probability() -> Mean:
    return Mean(Equal(), "collision_probability")


def _kendall() -> Mean:
    return Mean(SignProduct(), "kendall")


def _vus(classes: int = 3) -> Mean:
    return Mean(InOrder(classes), "vus")


def _auc(ties: str = "half") -> Mean:
    return Mean(Greater(ties), "auc")


MEASURES: dict[str, Callable[..., Measure]] = {
    "auc": _auc,
    "auc_private": PrivateLabelAuc,
    "collision": CollisionEntropy,
    "collision_probability": _collision_probability,
    "gamma": Gamma,
    "gini": _gini,
    "gini_coefficient": GiniCoefficient,
    "kendall": _kendall,
    "kendall_b": KendallB,
    "variance": _variance,
    "vus": _vus,
}
"""Makers of measures by name; "auc" and "auc_private" take `ties`, "gini_coefficient" `corrected`, "vus" `classes`."""

KERNELS: dict[str, Callable[..., Kernel]] = {
    kernel.name: kernel
    for kernel in (
        AbsoluteDifference,
        Equal,
        Greater,
        HalfSquare,
        InOrder,
        PairMeanKernel,
        ScoreOrder,
        SignProduct,
        TripleTable,
        Untied,
        ClusteringLoss,
        MetricLoss,
        RankingLoss,
    )
}
"""Makers of kernels by name; a function has none, since it is not plain data."""


def measure_of(
    asked: str | Kernel | Measure | Callable[..., Any],
    *,
    range: tuple[float, float] | None = None,
    name: str | None = None,
    circuit: Callable[..., Any] | None = None,
    **options: Any,
) -> Measure:
    """The measure for a value of `kernel`.

    Args:
        asked: A name in `MEASURES`, a measure, a kernel (its mean), or a function of two records (its mean; see
            `FunctionKernel`).
        range: Smallest and largest value of a function; required for functions only.
        name: Name of a function; by default its own name.
        circuit: Circuit of a function, for pairs of people; see `FunctionKernel`.
        options: Options of a measure in `MEASURES`.

    Raises:
        ParameterError: there is no such name or option, or a function has no range.
    """
    if isinstance(asked, type):
        raise ParameterError(f"pass a kernel, not its class: {asked.__name__}(...)")
    function = callable(asked) and not isinstance(asked, Kernel)
    if not function and (range, name, circuit) != (None, None, None):
        raise ParameterError("only a function has its range, name and circuit stated; those of named kernels are known")
    if isinstance(asked, str):
        if asked not in MEASURES:
            raise ParameterError(
                f"unknown kernel {quoted(asked[:40])}; there are {', '.join(map(repr, sorted(MEASURES)))}"
            )
        try:
            return MEASURES[asked](**options)
        except TypeError:
            raise ParameterError(f"{asked} has no option {', '.join(sorted(options))}") from None
    if options:
        raise ParameterError(f"only measures asked for by name have options, got {', '.join(sorted(options))}")
    if isinstance(asked, Kernel):
        return Mean(asked)
    if isinstance(asked, Measure):
        return asked
    if not callable(asked):
        raise ParameterError(f"a measure must be a name, a kernel, a measure or a function, got {type(asked).__name__}")
    if range is None:
        raise ParameterError("state the range of a function of two records, for example `range=(0, 1)`")
    return Mean(FunctionKernel(asked, str(name or getattr(asked, "__name__", "function")), range, circuit=circuit))


def measure_from_dict(data: Any) -> Measure:
    """Rebuild a measure from `Measure.to_dict`.

    Raises:
        ParameterError: a field is missing or out of range, or the measure is of a function, which is not plain data.
    """
    kind, options = _parts(data, "measure")
    if kind == "mean":
        kernel, title = options.get("kernel"), options.get("name")
        if set(options) != {"kernel", "name"} or not isinstance(title, str):
            raise ParameterError("a mean must have a name and a kernel")
        return Mean(kernel_from_dict(kernel), title)
    if kind not in MEASURES:
        raise ParameterError(f"unknown measure {quoted(kind[:40])}; there are {', '.join(sorted(MEASURES))}")
    try:
        return MEASURES[kind](**options)
    except TypeError:
        raise ParameterError(f"measure {quoted(kind)} has wrong fields") from None


def kernel_from_dict(data: Any) -> Kernel:
    """Rebuild a kernel from `Kernel.to_dict`.

    Raises:
        ParameterError: a field is missing or out of range, or the kernel is a function, which is not plain data.
    """
    kind, options = _parts(data, "kernel")
    if kind == "function":
        raise ParameterError("a kernel that is a function cannot be rebuilt from a description; pass the function")
    if kind not in KERNELS:
        raise ParameterError(f"unknown kernel {quoted(kind[:40])}; there are {', '.join(sorted(KERNELS))}")
    try:
        return KERNELS[kind](**{key: _tuples(value) for key, value in options.items()})
    except TypeError:
        raise ParameterError(f"kernel {quoted(kind)} has wrong fields") from None


def _parts(data: Any, kind: str) -> tuple[str, dict[str, Any]]:
    if not isinstance(data, Mapping) or not isinstance(data.get(kind), str):
        raise ParameterError(f"a {kind} must be an object with the name of one")
    return data[kind], {str(key): value for key, value in data.items() if key != kind}


def _tuples(value: Any) -> Any:
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
