"""What one worker has compiled the others load: loops of the package, and test modules with their assertions rewritten.

In a fresh clone nothing is compiled, and every worker needs all of it within its first minute. To compile all loops
takes a processor a minute, and to rewrite all test modules half of one. Functions of elements (`numba.vectorize`) are
few, and each worker compiles its own.
"""

from __future__ import annotations

import fcntl
import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from _pytest.python import importtestmodule
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Import a part of the test modules before all of them are collected, each worker another part.

    Workers collect in the same order, so that they would all rewrite the same module at the same time.
    """
    config = session.config
    worker = getattr(config, "workerinput", None)
    testpaths = config.getini("testpaths")
    if worker is None or list(config.args) != testpaths:
        return
    modules = sorted(path for folder in testpaths for path in Path(config.rootpath, folder).rglob("test_*.py"))
    number = int(worker["workerid"].removeprefix("gw"))
    for path in modules[number :: worker["workercount"]]:
        before = set(sys.modules)
        try:
            importtestmodule(path, config)
        except (Exception, pytest.skip.Exception):
            # collection imports it again and tells what is wrong with it, if nothing is left of it
            for name in set(sys.modules) - before:
                if vars(sys.modules[name]).get("__file__") == str(path):
                    del sys.modules[name]


@pytest.fixture(scope="session", autouse=True)
def _loops_compiled_once(tmp_path_factory, request):
    """Let one worker compile a loop, while others that need it wait and load what it has kept."""
    if not hasattr(request.config, "workerinput"):
        yield
        return
    folder = tmp_path_factory.getbasetemp().parent / "compiled"
    folder.mkdir(exist_ok=True)
    whole = Dispatcher.compile
    held: set[str] = set()

    def compile_alone(self: Any, signature: Any) -> Any:
        # a loop compiles those that it calls, and none of them calls it; threads of this process wait before all of it
        name = f"{self.py_func.__module__}.{self.py_func.__qualname__}"
        if not name.startswith("ogive."):  # part of numba, which is compiled within loops of the package
            return whole(self, signature)
        with global_compiler_lock:
            if name in held:
                return whole(self, signature)
            held.add(name)
            try:
                with _alone(folder, name):
                    return whole(self, signature)
            finally:
                held.remove(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "compile", compile_alone)
        yield


@contextmanager
def _alone(folder: Path, name: str) -> Iterator[None]:
    """Wait until no other process is within the same name."""
    with (folder / hashlib.sha256(name.encode()).hexdigest()[:32]).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)
