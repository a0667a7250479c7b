"""Loops that are compiled by numba when they have enough to do; small inputs run without it.

Importing numba and loading compiled loops takes most of a second of processor time, and compiling them on a machine
that never did takes much longer. So a loop whose declaration says how many `steps` a call takes runs as plain Python,
or as its twin in numpy, until all such calls of the process add up to `PLAIN_STEPS`, which take about as long as
importing numba. From then on calls are compiled, so a process takes at most about twice as long as with the better
choice. Loops without `steps` are compiled at their first call.

Both ways return the same numbers, bit for bit, and steps are counted from sizes alone: shapes of arrays, numbers of
bins, rows and draws. No value of a record chooses the way. Where numba is not installed, as on a device that uploads
one record, loops with `steps` always run without it.

Compiled code is kept on disk, in the folders that `machine_code` chooses. Where there is none, code is compiled anew in
each process, which takes seconds and changes no result. The first time that a process compiles rather than loads, a
line of the logger `ogive.compiling` says so.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from ogive.errors import RefusalError

Function = TypeVar("Function", bound=Callable[..., Any])

PLAIN_STEPS = 4_000_000
"""So many steps of uncompiled loops, about 0.2 microseconds each, take as long as importing numba with its cache."""

_ELEMENTS_OF_A_STEP = 10

MESSAGE = "ogive: compiling once for this machine, about 10 s; `ogive warmup` does it beforehand"

NOT_KEPT = (
    "ogive: compiling, about 10 s in each process, since compiled code can be kept nowhere; "
    "set NUMBA_CACHE_DIR to a folder that you alone can write to"
)

_LOGGER = logging.getLogger("ogive.compiling")


class _Process:
    """What this process has done so far."""

    plain_steps = 0
    announced = False
    compiled: list[str] | None = None
    must_be_kept = False
    instructions: list[tuple[Callable[..., Any], Callable[..., Any]]] = []  # noqa: RUF012 - those of the process


class Loop:
    """A function that runs as plain Python or compiled, with equal results."""

    def __init__(
        self,
        function: Callable[..., Any],
        options: dict[str, Any],
        steps: Callable[..., int] | None = None,
        twin: Callable[..., Any] | None = None,
    ) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._options = options
        self._steps = steps
        self._twin = twin

    def __call__(self, *arguments: Any) -> Any:
        """Run it compiled or not, as sizes say."""
        if self._steps is None or "compiled" in self.__dict__:
            return self.compiled(*arguments)
        # compiled code widens integers before it computes, numpy does not
        wide = [value.item() if isinstance(value, np.integer) else value for value in arguments]
        if not _is_plain(self._steps(*wide)):
            return self.compiled(*arguments)
        with wrapping():
            return self.plain(*wide)

    @cached_property
    def compiled(self) -> Any:
        """The function as numba compiles it."""
        result: Any = _numba().njit(**self._options)(self.py_func)
        result._cache = _kept(self.py_func)
        return result

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """What runs uncompiled, and calls nothing compiled."""
        return _plain(self.py_func) if self._twin is None else self._twin

    @property
    def has_plain_form(self) -> bool:
        """Whether it may run uncompiled."""
        return self._steps is not None

    @property
    def _numba_type_(self) -> Any:
        """Its type for numba, so that compiled functions may call it."""
        return self.compiled._numba_type_


def njit(
    *, steps: Callable[..., int] | None = None, twin: Callable[..., Any] | None = None, **options: Any
) -> Callable[[Function], Function]:
    """Make a function a `Loop`; options are those of `numba.njit`."""

    def decorate(function: Function) -> Function:
        return cast(Function, Loop(function, options, steps, twin))

    return decorate


class Elementwise:
    """A function of numbers that is applied to arrays, with broadcasting; several threads may call it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._types: set[tuple[Any, ...]] = set()
        self._one = threading.Lock()

    def __call__(self, *arrays: Any) -> Any:
        """The function of each element."""
        if "compiled" not in self.__dict__ and _is_plain(np.broadcast(*arrays).size // _ELEMENTS_OF_A_STEP):
            with wrapping():
                return self.plain(*arrays)
        types = tuple(np.asarray(each).dtype for each in arrays)
        if types in self._types:
            return self.compiled(*arrays)
        with self._one:  # two threads that compile for the same types get in each other's way
            result = self.compiled(*arrays)
        self._types.add(types)
        return result

    @cached_property
    def compiled(self) -> Any:
        """The function of arrays that numba makes of it."""
        result: Any = _numba().vectorize(self.py_func)
        result._dispatcher.cache = _kept(self.py_func)
        return result

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The function of arrays without numba."""
        return _plain(self.py_func)


def vectorize(function: Function) -> Function:
    """Make a function of numbers an `Elementwise` one, which is compiled as `numba.vectorize` does."""
    return cast(Function, Elementwise(function))


def instruction(typed: Callable[..., Any]) -> Callable[[Function], Function]:
    """Make a function of two numbers one that compiled loops call as instructions of the machine."""

    def decorate(function: Function) -> Function:
        _Process.instructions.append((function, typed))
        return function

    return decorate


def _numba() -> Any:
    """The module numba, which has learned all instructions so far."""
    import numba
    from numba.extending import intrinsic, overload

    while _Process.instructions:
        function, typed = _Process.instructions.pop()
        overload(function)(_calling(intrinsic(typed)))
    return numba


def _calling(compiled: Any) -> Any:
    """What `overload` takes: of arguments of any types a function that calls `made`."""
    return lambda x, y: lambda x, y: compiled(x, y)


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls the plain forms of the loops that it names."""
    code, names = function.__code__, dict(function.__globals__)
    names.update({name: names[name].plain for name in code.co_names if isinstance(names.get(name), Loop)})
    return FunctionType(code, names, argdefs=function.__defaults__)


def wrapping() -> Any:
    """Whole numbers of 64 bits wrap in silence, as those of compiled code do."""
    return np.errstate(over="ignore")


def _kept(function: Callable[..., Any]) -> Any:
    from ogive.core.machine_code import KeptCode

    named = f"{function.__module__}.{function.__qualname__}"
    return KeptCode(function, lambda: _sources(function), lambda kept: _announce(named, kept))


def _sources(function: Callable[..., Any]) -> list[Path]:
    """The files of a function and of all loops that it calls, whose code becomes part of its own."""
    results: dict[Callable[..., Any], None] = {}
    waiting = [function]
    while waiting:
        one = waiting.pop()
        if one not in results:
            results[one] = None
            named = (one.__globals__.get(name) for name in one.__code__.co_names)
            waiting += [each.py_func for each in named if isinstance(each, Loop)]
    return sorted({Path(each.__code__.co_filename) for each in results})


@contextmanager
def everything(*, kept: bool = False) -> Iterator[list[str]]:
    """Run all loops compiled, whatever their sizes, and log nothing."""
    _Process.compiled, _Process.must_be_kept = [], kept
    try:
        yield _Process.compiled
    finally:
        _Process.compiled, _Process.must_be_kept = None, False


def _is_plain(steps: int) -> bool:
    """Whether so many steps more are taken uncompiled; they are counted if so."""
    if _Process.plain_steps + steps > PLAIN_STEPS or _Process.compiled is not None:
        return not _has_numba()
    _Process.plain_steps += steps
    return True


@cache
def _has_numba() -> bool:
    try:
        import numba  # noqa: F401 - whoever asks has so much to do that it is compiled
    except ImportError:
        return False
    return True


def _announce(name: str, kept: bool) -> None:
    """Say once that this process compiles; loading says nothing."""
    if _Process.must_be_kept:
        raise RefusalError(f"{name} is not compiled for this machine; run ogive warmup")
    if _Process.compiled is not None:
        _Process.compiled.append(name)
    elif not _Process.announced:
        _Process.announced = True
        _LOGGER.warning(MESSAGE if kept else NOT_KEPT)
