"""Functions on arrays, each made when it is first used; `functions.pyi` has their signatures."""

from collections.abc import Callable

from ogive.releasing.calls import function_of
from ogive.statistics.base import Estimate
from ogive.statistics.kinds import CALLED


def __getattr__(name: str) -> Callable[..., Estimate]:
    """The function of a kind."""
    if name not in CALLED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return function_of(CALLED[name])
