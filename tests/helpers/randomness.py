"""`make test` draws noise from keys that follow from the name of the test, so that each run draws the same.

A test of what is near the truth fails for one key in many thousands, and there are thousands of such tests: with the
system's randomness some run of `make test` would be red. `make test-all` draws from the system, as releases do.

Replaced are the keys of noise and of ledgers, and what owners draw from. Still drawn from the system are the masks of
shares and the functions of circuits, which do not move what is computed, and everything in other programs that a test
starts. Threads of one test share its keys in the order in which they ask, and a child that a test forks draws other
keys than its parent.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import itertools
import os
from collections.abc import Iterator
from types import ModuleType

import pytest
from helpers import scope

_REPLACED = {
    "ogive.noise.source": ("os", ("urandom",)),
    "ogive.ledger.entries": ("secrets", ("token_bytes",)),
    "ogive.ledger.ledger": ("secrets", ("token_bytes", "token_hex")),
    "ogive.ledger.mark": ("secrets", ("token_bytes",)),
    "ogive.local.description": ("os", ("urandom",)),
    "ogive.local.collection": ("secrets", ("token_bytes",)),
}
"""Modules, and the functions of a module of Python's by which each draws."""


class _Named(ModuleType):
    """A module of Python's in which some functions draw from the name of the test.

    Args:
        module: The module.
        functions: Names of the functions, which take a number of bytes.
    """

    def __init__(self, module: ModuleType, functions: tuple[str, ...]) -> None:
        super().__init__(module.__name__)
        self._module = module
        for name in functions:
            setattr(self, name, _draw_hex if name == "token_hex" else draw)

    def __getattr__(self, name: str) -> object:
        return getattr(self._module, name)


_process = os.getpid()
_running: list[tuple[str, Iterator[int]]] = [("", itertools.count())]
"""What is run now, innermost last: a test or a fixture by name, and how often it has drawn."""


def draw(size: int) -> bytes:
    """Bytes that follow from what is run now, and from how often it has drawn before."""
    name, numbers = _running[-1]
    process = "" if os.getpid() == _process else f" in process {os.getpid()}"
    return hashlib.shake_256(f"{name} {next(numbers)}{process}".encode()).digest(size)


def _draw_hex(size: int) -> str:
    return draw(size).hex()


@contextlib.contextmanager
def runs(name: str) -> Iterator[None]:
    """Within the block keys follow from the name; for what several tests share that is made by the first of them."""
    _running.append((name, itertools.count()))
    try:
        yield
    finally:
        _running.pop()


@pytest.fixture(scope="session", autouse=True)
def _keys_of_tests():
    if scope.is_everything():
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        for name, (attribute, functions) in _REPLACED.items():
            module = importlib.import_module(name)
            patch.setattr(module, attribute, _Named(getattr(module, attribute), functions))
        yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    with runs(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef, request):
    """A fixture of many tests draws the same, whichever of them is the first that needs it."""
    whose = request.node.nodeid if fixturedef.scope == "function" else fixturedef.baseid
    with runs(f"{whose} {fixturedef.argname} {getattr(request, 'param_index', 0)}"):
        return (yield)
