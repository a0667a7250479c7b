"""Public data sets: a test that asks for them finds them, and every other runs as on a machine without them.

The fixture `shared_data` is the only door. Whatever asks for it, itself or through a fixture, carries the mark `data`.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ogive.datasets import data_directory
from ogive.errors import DataError

DOOR = "shared_data"
NOWHERE = Path(tempfile.mkdtemp(prefix="ogive-no-data-"))
"""An empty folder, which OGIVE_DATA names while nobody asks for data."""
atexit.register(shutil.rmtree, NOWHERE, ignore_errors=True)


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Finds a public data set by the name of its file; skips the test where this machine does not have it."""
    return _find


def _find(name: str) -> Path:
    try:
        folder = data_directory()
    except DataError as problem:
        pytest.skip(str(problem))
    if folder == NOWHERE:
        pytest.fail(f"name the fixture {DOOR} as an argument of the test, or of a fixture that it names")
    path = folder / name
    if not path.exists():
        pytest.skip(f"the folder of public data sets has no {name}")
    return path


@contextmanager
def _hidden() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OGIVE_DATA", os.fspath(NOWHERE))
        yield


def pytest_itemcollected(item):
    if DOOR in getattr(item, "fixturenames", ()):
        item.add_marker("data")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    with _hidden():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    if item.get_closest_marker("data"):
        return (yield)
    with _hidden():
        return (yield)
