"""The verbs of the functions on arrays, with columns in place of arrays; `verbs.pyi` has their signatures."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import MethodType
from typing import Any

from ogive.releasing.calls import verb_of
from ogive.statistics.base import Estimate
from ogive.statistics.kinds import CALLED, Kind, function_called


class Verbs(ABC):
    """One method for each statistic; all of them release it by `release`."""

    @abstractmethod
    def release(self, statistic: Any, **options: Any) -> Any:
        """Release a statistic."""

    def __getattr__(self, name: str) -> Any:
        """The method of a command that has another name."""
        return getattr(self, function_called(name, f"a session has no attribute {name!r}"))

    @abstractmethod
    def _named(self, **named: Any) -> tuple[str, ...]:
        """The columns that parameters name; refuses those that were left out or are not names."""


class _Derived:
    """A verb that is made when it is used, so that one statistic does not load all others."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def __get__(self, session: Verbs | None, owner: type[Verbs]) -> Callable[..., Estimate]:
        verb = verb_of(self.kind)
        setattr(Verbs, self.kind.function, verb)
        return verb if session is None else MethodType(verb, session)


for _kind in CALLED.values():
    setattr(Verbs, _kind.function, _Derived(_kind))
