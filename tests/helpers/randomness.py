"""`make test` draws noise from keys that follow from the name of the test, so that each run draws the same.

A test of what is near the truth fails for one key in many thousands, and there are thousands of such tests: with the
system's randomness some run of `make test` would be red. `make test-all` draws from the system's, as releases do.

Replaced are the keys of noise and of ledgers, and what owners draw from. Other processes, masks of shares and the
functions of circuits, whose random numbers do not move what is computed, draw as they always do. A child of a test's
process draws others than its parent.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import os
import threading
from types import ModuleType

import pytest
from helpers import scope

_REPLACED = {
    "ogive.noise.source": ("os", "urandom"),
    "ogive.ledger.ledger": ("secrets", "token_bytes"),
    "ogive.ledger.keys": ("secrets", "token_bytes"),
    "ogive.local.randomizer": ("os", "urandom"),
    "ogive.local.collection": ("secrets", "token_bytes"),
}
"""Modules, and the function of a module of Python's by which each draws."""


class _Named(ModuleType):
    """A module of Python's in which one function draws from the name of the test.

    Args:
        module: The module.
        function: Name of the function, which takes a number of bytes.
    """

    def __init__(self, module: ModuleType, function: str) -> None:
        super().__init__(module.__name__)
        self._module = module
        setattr(self, function, draw)

    def __getattr__(self, name: str) -> object:
        return getattr(self._module, name)


_process = os.getpid()
_names = [""]
_counts = [itertools.count()]
_lock = threading.Lock()


def draw(size: int) -> bytes:
    """Bytes that follow from what is run now, and from how often it has drawn before."""
    with _lock:
        number = next(_counts[-1])
    process = "" if os.getpid() == _process else f" in process {os.getpid()}"
    return hashlib.shake_256(f"{_names[-1]} {number}{process}".encode()).digest(size)


def _begin(name: str) -> None:
    _names.append(name)
    _counts.append(itertools.count())


def _end() -> None:
    _names.pop()
    _counts.pop()


@pytest.fixture(scope="session", autouse=True)
def _keys_of_tests():
    if scope.is_everything():
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        for name, (attribute, function) in _REPLACED.items():
            module = importlib.import_module(name)
            patch.setattr(module, attribute, _Named(getattr(module, attribute), function))
        yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    _begin(item.nodeid)
    try:
        return (yield)
    finally:
        _end()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef, request):
    """A fixture of many tests draws the same, whichever of them is the first that needs it."""
    whose = request.node.nodeid if fixturedef.scope == "function" else fixturedef.baseid
    _begin(f"{whose} {fixturedef.argname} {getattr(request, 'param_index', 0)}")
    try:
        return (yield)
    finally:
        _end()
