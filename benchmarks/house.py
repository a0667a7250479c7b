"""Structure of the code in figures: what one call runs, circles, what one feature touches, lines, imports.

    python benchmarks/house.py [--json] [--details] [--against benchmarks/house_before.json]

Run before and after a reorganization: `--json` prints what `--against` reads. Nothing here is a test. The figures:

**Calls.** Functions of the package that one call runs, from a profile hook on every thread, after two calls that warm
up imports, caches and compiled code. A function is a code object of a file of the package; comprehensions and generator
expressions belong to the function around them. A call is one new frame of a function: resuming a generator is none. It
comes from the nearest frame of the package below it on its thread's stack, whatever library lies between, and goes
across files if that is of another one. Calls that no frame of the package made are not counted, the first among them.
Methods that dataclasses write and code compiled by numba are not seen. `os.urandom` is a fixed stream meanwhile, also
where the package keeps it as a default, so that samplers reject as often in every run; and the process keeps to one
processor, so that work is not dealt to threads in another way each time.

**Circles.** An import is a statement anywhere: at the top, inside a function, for types only. `from a.b import c` is an
import of `a.b.c` where that is a module, else of `a.b`. A package's `__init__` is a module like others; that of the
whole package, the front door, is left out with what is imported from it. A circle is a largest set of two or more
modules each of which is reached from each other one by imports. A room is what lies directly in the package: a folder,
with all that is in it, or a module. A folder's own modules are those directly in it, `__init__` among them. Two
modules, rooms or folders are a pair if each imports the other, or its modules do. Texts such as "ogive.cli.ecdf:ecdf"
that name a module are imports by name; circles are counted without them, and once more with them.

**Features.** What is named in existing files when a statistic or trust model is added. Its own files are those with one
of its words in their path, those listed beside them, and files that only its own files import. Other files are touched
if they name its classes or functions, have its name or schema as a text, or import its own files. Files that
show the package off use features as anybody does, and count in neither. An option touches every file that
has it as a parameter, field, keyword, attribute or text, so also those that compute with it; it is declared in those
that have it as a parameter or field. Files are those of Python in the package. What a feature of today touches is more
than what a new one must: `tests/meta/test_scaffold.py` adds a statistic and a trust model to a copy of the package,
with one changed file each beside the stubs that `make stubs` writes.

**Lines.** Of Python: documentation, which is comments and strings that stand alone, with the blank lines inside these;
code, also where a comment follows; blank, which is the rest. Of pages: documentation and blank.

**Imports.** Modules loaded, and heavy packages among them, at the end of a fresh process; processor seconds of that
process, user and system, the best of three.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest import mock

from house_structure import ROOT, SOURCE, Figures, Table, measure_circles, measure_features, measure_lines

# --- what one call runs ---

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


def measure_calls() -> Table:
    """What eight calls of the package run, each once; in a process that has not imported it before."""
    assert "ogive" not in sys.modules, "its defaults were set before the stream was fixed"
    stream = random.Random()
    with mock.patch("os.urandom", lambda count: stream.randbytes(count)), _one_processor():
        return _measure_calls(stream)


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


def _measure_calls(stream: random.Random) -> Table:
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
                    table[name] = call_figures(calls_of(work, SOURCE))
                else:
                    work()
    return table


# --- what is imported ---

HEAVY = (
    "numpy", "scipy.stats", "sqlalchemy", "pandas", "numba", "duckdb", "ibis", "pyarrow", "matplotlib", "sklearn",
    "torch", "cryptography", "dp_accounting", "cyclopts",
)  # fmt: skip

_ECDF = """
import random
import ogive
generator = random.Random(1)
values = [generator.gauss(50, 10) for _ in range(1000)]
ogive.ecdf(values, bounds=(0, 100), bins=100, privacy=ogive.PureDP(1))
"""
_COMMAND = "from ogive.cli import main\nassert main({arguments!r}) == 0"

_TELL = """
import json, sys
with open({place!r}, "w") as file:
    json.dump(sorted(sys.modules), file)
"""


def processed(program: str, folder: Path) -> tuple[list[str], float]:
    """Names of the modules that are loaded at the end of a program in a fresh process, and its processor seconds.

    Bytecode is kept in the folder, as an installation keeps it.

    Raises:
        RuntimeError: it fails.
    """
    place = folder / "modules.json"
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "PYTHONPATH": os.pathsep.join([str(SOURCE.parent), os.environ.get("PYTHONPATH", "")]),
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
    }
    with (folder / "output.txt").open("w", encoding="utf-8") as output:
        child = subprocess.Popen(
            [sys.executable, "-c", program + _TELL.format(place=str(place))],
            cwd=folder, env=environment, stdout=output, stderr=output,
        )  # fmt: skip
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError((folder / "output.txt").read_text(encoding="utf-8"))
    return json.loads(place.read_text(encoding="utf-8")), usage.ru_utime + usage.ru_stime


def measure_imports(runs: int = 3) -> Table:
    """What is loaded after each of several programs, and the processor time of each."""
    table: Table = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generator = random.Random(1)
        with (folder / "values.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["value"], *([generator.gauss(50, 10)] for _ in range(1000))])
        asked = ["ecdf", "values.csv", "--column", "value", "--bounds", "0", "100", "--bins", "100", "--epsilon", "1"]
        programs = {
            "nothing": "pass",
            "import ogive": "import ogive",
            "one ogive.ecdf": _ECDF,
            "ogive --help": _COMMAND.format(arguments=["--help"]),
            "ogive ecdf FILE": _COMMAND.format(arguments=asked),
        }
        for title, program in programs.items():
            modules, seconds = processed(program, folder)
            seconds = min([seconds, *(processed(program, folder)[1] for _ in range(runs - 1))])
            table[title] = {
                "modules": len(modules),
                "of ogive": sum(module.partition(".")[0] == "ogive" for module in modules),
                "seconds": round(seconds, 2),
                "heavy": " ".join(package for package in HEAVY if package in modules) or "-",
            }
    return table


# --- the table ---


def commit(root: Path = ROOT) -> str:
    """The commit that is measured, with a sign where files that are measured differ from it; "unknown" without one."""
    try:
        head = _git(root, "rev-parse", "--short=12", "HEAD").strip()
        changed = _git(root, "status", "--porcelain", "--", "*.py", "*.md").strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head} with changes" if changed else head


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout


def report(sections: Mapping[str, Table], before: Mapping[str, Table] | None = None) -> str:
    """The figures as text; with those of before each has two columns, and what is gone is shown, too."""
    blocks = []
    for title in dict.fromkeys([*(before or {}), *sections]):
        now, old = sections.get(title, {}), (before or {}).get(title, {})
        rows = list(dict.fromkeys([*now, *old]))
        heads = list(dict.fromkeys(head for row in rows for head in [*now.get(row, {}), *old.get(row, {})]))
        lines = [[title, *heads]] if before is None else [[title, *(text for head in heads for text in (head, "now"))]]
        for row in rows:
            cells = [row]
            for head in heads:
                if before is not None:
                    cells.append(str(old.get(row, {}).get(head, "")))
                cells.append(str(now.get(row, {}).get(head, "")))
            lines.append(cells)
        blocks.append(_aligned(lines))
    return "\n\n".join(blocks)


def _aligned(lines: list[list[str]]) -> str:
    """Lines in columns, those of numbers to the right."""
    columns = []
    for place, column in enumerate(zip(*lines, strict=True)):
        width = max(map(len, column))
        numbers = place and all(re.fullmatch(r"[\d.]*", cell) for cell in column[1:])
        columns.append([cell.rjust(width) if numbers else cell.ljust(width) for cell in column])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def main(arguments: list[str] | None = None) -> None:
    """Measure everything and print it."""
    options = argparse.ArgumentParser(description="Measure the structure of the code.")
    options.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options.add_argument("--details", action="store_true", help="also print which circles, and which files")
    options.add_argument("--against", type=Path, metavar="FILE", help="JSON of before, for two columns")
    given = options.parse_args(arguments)
    before = json.loads(given.against.read_text(encoding="utf-8")) if given.against else None
    sys.path.insert(0, str(SOURCE.parent))
    circle_table, circle_lines = measure_circles()
    feature_table, feature_lines = measure_features()
    sections = {
        "calls of one call": measure_calls(),
        "circles": circle_table,
        "features": feature_table,
        "lines": measure_lines(),
        "imports": measure_imports(),
    }
    at = {"commit": commit(), "python": sys.version.split()[0]}
    details = {"circles": circle_lines, "features": feature_lines}
    if given.json:
        print(json.dumps({**at, "sections": sections, "details": details}, indent=1))
        return
    if before:
        print(f"before: {before['commit']}, Python {before['python']}")
    print(f"commit {at['commit']}, Python {at['python']}\n\n{report(sections, before and before['sections'])}")
    if given.details:
        print("\n" + "\n".join([*circle_lines, *feature_lines]))


if __name__ == "__main__":
    main()
