"""Files and functions of the package that one call runs: `python tools/hops.py [--path NAME]`.

What is counted: functions of the package that one call runs, from a profile hook on every thread, after two calls that
warm up imports, caches and compiled code. A function is a code object of a file of the package; comprehensions and
generator
expressions belong to the function around them. A call is one new frame of a function: resuming a generator is none. It
comes from the nearest frame of the package below it on its thread's stack, whatever library lies between, and goes
across files if that is of another one. Calls that no frame of the package made are not counted, the first among them.
Methods that dataclasses write and code compiled by numba are not seen. `os.urandom` is a fixed stream meanwhile, also
where the package keeps it as a default, so that samplers reject as often in every run; and the process keeps to one
processor, so that work is not dealt to threads in another way each time.

`--path "ecdf"` prints the functions of one of the calls in the order in which they are first entered, with their files,
which is the way of a record through the package.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest import mock

SOURCE = Path(__file__).parents[1] / "src" / "ogive"
Figures = dict[str, float | str]
Table = dict[str, Figures]

_INLINED = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_RESUMED = 0x20 | 0x80 | 0x200
"""Flags of the code of generators, coroutines and asynchronous generators."""


@dataclass(frozen=True)
class Call:
    """One call of a function of the package.

    Fields:
        target: The code that was entered.
        source: The nearest code of the package below it on the stack; None where there is none.
    """

    target: CodeType
    source: CodeType | None

    @property
    def across(self) -> bool:
        """Whether it goes from one file to another."""
        return self.source is not None and self.source.co_filename != self.target.co_filename


def calls_of(work: Callable[[], object], root: Path) -> list[Call]:
    """Run work and list the calls of functions whose files lie in a folder; see the top for what counts.

    Threads that exist before are followed from Python 3.12 on.
    """
    prefix = f"{root}{os.sep}"
    found: list[Call] = []
    seen: dict[int, FrameType] = {}  # kept alive, so that no other frame gets the same id

    def hook(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code.co_name in _INLINED or not code.co_filename.startswith(prefix):
            return
        if code.co_flags & _RESUMED:
            if id(frame) in seen:
                return
            seen[id(frame)] = frame
        below = frame.f_back
        while below is not None and not below.f_code.co_filename.startswith(prefix):
            below = below.f_back
        found.append(Call(code, None if below is None else below.f_code))

    everywhere: Callable[[Any], None] = getattr(threading, "setprofile_all_threads", threading.setprofile)
    earlier = sys.getprofile()
    everywhere(hook)
    sys.setprofile(hook)
    try:
        work()
    finally:
        everywhere(None)
        sys.setprofile(earlier)
    return found


def call_figures(calls: list[Call]) -> Figures:
    """How many files and functions were run, and how many of the calls between them go across files."""
    inside = [call for call in calls if call.source is not None]
    return {
        "files": len({call.target.co_filename for call in calls}),
        "functions": len({(call.target.co_filename, call.target) for call in calls}),
        "calls": len(inside),
        "across files": sum(call.across for call in inside),
    }


def measure_calls(paths: dict[str, list[Call]] | None = None) -> Table:
    """What eight calls of the package run, each once; in a process that has not imported it before.

    Args:
        paths: Gets the calls of each, by its name.
    """
    assert "ogive" not in sys.modules, "its defaults were set before the stream was fixed"
    stream = random.Random()
    with mock.patch("os.urandom", lambda count: stream.randbytes(count)), _one_processor():
        return _measure_calls(stream, {} if paths is None else paths)


def _quietly(main: Callable[[list[str]], object], words: list[str]) -> None:
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        main(words)


@contextmanager
def _one_processor() -> Iterator[None]:
    """Keep this process to one of its processors, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, processors)


def _measure_calls(stream: random.Random, paths: dict[str, list[Call]]) -> Table:
    import ogive
    from ogive.core import compiling

    assert Path(ogive.__file__).parent == SOURCE, (
        f"this measures {SOURCE}, but the interpreter imports {ogive.__file__}"
    )
    compiling.PLAIN_STEPS = 0  # compiled loops make no frames, so that calls are counted alike whatever their size
    generator = random.Random(1)
    values = [generator.gauss(50, 10) for _ in range(1000)]
    asked: dict[str, Any] = {"bounds": (0, 100), "bins": 100, "privacy": ogive.PureDP(1)}
    ecdf = ogive.Ecdf("value", bounds=(0, 100), bins=100)
    thirds = [{"value": values[start::3]} for start in range(3)]

    def session(folder: Path) -> Any:
        return ogive.Session({"value": values}, limit=ogive.PureDP(1), ledger=folder / "ledger.db", name="values")

    def ask_open_session(folder: Path, stack: ExitStack) -> Callable[[], object]:
        one = stack.enter_context(session(folder))
        return lambda: one.ecdf("value", **asked)

    def ask_again(folder: Path, stack: ExitStack) -> Callable[[], object]:
        work = ask_open_session(folder, stack)
        work()
        return work

    def command(folder: Path, _: ExitStack) -> Callable[[], object]:
        from ogive.cli import main

        (folder / "values.csv").write_text("\n".join(["value", *map(str, values)]), encoding="utf-8")
        words = ["mean", str(folder / "values.csv"), "--column", "value", "--bounds", "0", "100", "--epsilon", "1"]
        return lambda: _quietly(main, words)

    def ask_new_session(folder: Path, _: ExitStack) -> Callable[[], object]:
        return lambda: session(folder).ecdf("value", **asked)

    # each makes what is called, which is measured without the making
    makers: dict[str, Callable[[Path, ExitStack], Callable[[], object]]] = {
        "ecdf": lambda *_: lambda: ogive.ecdf(values, **asked),
        "ecdf, method tree_ls": lambda *_: lambda: ogive.ecdf(values, **asked, method="tree_ls"),
        "Session.ecdf, ledger in a file": ask_open_session,
        "Session.ecdf, asked again": ask_again,
        "Session(...).ecdf, the same": ask_new_session,
        "ogive mean FILE": command,
        "release under SecAgg": lambda *_: (
            lambda: ogive.release(ecdf, trust=ogive.SecAgg(thirds), privacy=ogive.PureDP(1))
        ),
        "release under Servers": lambda *_: (
            lambda: ogive.release(ecdf, trust=ogive.Servers({"value": values}), privacy=ogive.PureDP(1))
        ),
    }
    table = {}
    for name, maker in makers.items():
        for warm in (False, False, True):
            stream.seed(1)
            with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
                work = maker(Path(folder), stack)
                if warm:
                    paths[name] = calls_of(work, SOURCE)
                    table[name] = call_figures(paths[name])
                else:
                    work()
    return table


def main(arguments: list[str] | None = None) -> None:
    """Measure the calls, and print them or the way of one."""
    options = argparse.ArgumentParser(description="Count the files and functions that one call runs.")
    options.add_argument("--path", metavar="NAME", help="print the functions of this call in order")
    given = options.parse_args(arguments)
    sys.path.insert(0, str(SOURCE.parent))
    paths: dict[str, list[Call]] = {}
    table = measure_calls(paths)
    if given.path:
        for code in dict.fromkeys(call.target for call in paths[given.path]):
            print(f"{Path(code.co_filename).relative_to(SOURCE)}:{code.co_firstlineno} {code.co_qualname}")
        return
    print(f"{'calls of one call':<32}{'files':>7}{'functions':>11}{'calls':>7}{'across files':>14}")
    for name, row in table.items():
        print(f"{name:<32}{row['files']:>7}{row['functions']:>11}{row['calls']:>7}{row['across files']:>14}")


if __name__ == "__main__":
    main()
