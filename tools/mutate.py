"""Change the package in one place at a time and see whether a test fails: `python tools/mutate.py map`, `run`, `table`.

`map` runs the tests once and writes which test executes which line, and how much processor time each test takes; where
it was interrupted, it goes on with the tests that have not ended, as long as the package and the tests are unchanged.
`run` picks places at random by a seed, changes one after the other in a copy of the tree, and runs the tests that
execute the changed line until one fails: first those near to the module, then all others, the cheap ones first. `table`
shows what was killed and what survived. Everything lies in `.mutants`; an interrupted `run` goes on when it is called
again.

What is changed: numbers, truth values, comparisons, arithmetic, signs, ends of ranges and slices, the order of two
arguments; and statements are dropped. What is left alone: texts, annotations, decorators, assertions, what an exception
says, `__repr__` and `__str__`, typed dictionaries, imports for types, and the folders of `LEFT_OUT`.

This file is also the plugin of pytest that writes the map and runs chosen tests.
"""

from __future__ import annotations

import argparse
import ast
import collections
import concurrent.futures
import contextlib
import functools
import hashlib
import itertools
import json
import os
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

LEFT_OUT = ("demo",)
"""Rooms of the package that are not changed."""
FOLDER = ".mutants"
TESTS_OF_A_FUNCTION_FIRST = 3
"""So many cases of each test function run before the others."""
SECONDS_OF_A_BATCH, FILES_OF_A_BATCH = 60.0, 40
"""One process of pytest runs at most so much, since it imports all files of its tests before the first test."""
HANGS_AFTER, TIMES_SLOWER = 60.0, 20.0
"""A test hangs when it has run for so many seconds, and for so many times its usual processor time beside them."""
COLLECTS_FOR, PATIENCE = 300.0, 10.0
"""Seconds in which the tests of a process are collected at the latest, and in which the fixtures of a test that hangs
may end what they have started."""
MEMORY = 16 << 30
"""Bytes of data of one process of a test."""
_TEST = "MUTATED_TEST"
"""The environment variable by which processes that a test starts know the test; the package refuses unknown ones of its
own name."""
NOT_HANDED_ON = {"COVERAGE_PROCESS_START", "PYTEST_ADDOPTS", _TEST}
NOT_FOR_A_COPY = {"NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE"}
"""Environment variables that tests do not get; a copy keeps compiled code of its own."""

# --- what can be changed ---

COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: (r"is\s+not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: (r"not\s+in", ("in",)),
}
OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
}
# the order of their arguments means nothing, or any test at all fails without it
ORDER_IS_NOTHING = {"cast", "gcd", "getattr", "hasattr", "hypot", "isinstance", "issubclass", "max", "maximum", "min"}
ORDER_IS_NOTHING |= {"minimum", "NewType", "__setattr__", "setattr", "TypeVar"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Fields:
        file: Relative to the root of the repository.
        line, column: Where the changed text starts; lines from 1, columns in bytes from 0.
        mutation: What kind of change it is, and to what.
        before, after: The line as it is, and as it becomes.
        start, end, text: The bytes of the file that are replaced, and by what.
        first, last: The lines of the statement.
        in_function: Whether it runs when a function is called, and not when the module is imported.
    """

    file: str
    line: int
    column: int
    mutation: str
    before: str
    after: str
    start: int
    end: int
    text: str
    first: int
    last: int
    in_function: bool

    @property
    def key(self) -> tuple[str, int, int, str]:
        """What tells it from all others of the same tree."""
        return self.file, self.line, self.column, self.mutation

    @property
    def room(self) -> str:
        """The room of the package that it lies in."""
        return room_of(self.file)

    def applied(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]


def room_of(file: str) -> str:
    """The folder, or the file, of the package in which a source lies."""
    return Path(*Path(file).parts[2:]).parts[0].removesuffix(".py")


class _Finder(ast.NodeVisitor):
    """Collects the changes of one module as (start, end, new text, kind of change, lines of the statement)."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", source))]
        self.found: list[tuple[int, int, str, str, tuple[int, int], bool]] = []
        self._lines = (1, 1)
        self._in_function = False

    def start(self, node: Any) -> int:
        return int(self._starts[node.lineno - 1] + node.col_offset)

    def end(self, node: Any) -> int:
        return int(self._starts[node.end_lineno - 1] + node.end_col_offset)

    def code(self, node: ast.AST) -> str:
        return self.source[self.start(node) : self.end(node)].decode()

    def add(self, start: int, end: int, text: str, mutation: str) -> None:
        self.found.append((start, end, text, mutation, self._lines, self._in_function))

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
            outer, self._lines = self._lines, (node.lineno, last)
            super().visit(node)
            self._lines = outer
        else:
            super().visit(node)

    def each(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    # what is left alone

    def nothing(self, node: ast.AST) -> None:
        """Change nothing in it."""

    visit_Assert = nothing  # noqa: N815 - the name that ast calls
    visit_JoinedStr = nothing  # noqa: N815
    visit_Import = nothing  # noqa: N815
    visit_ImportFrom = nothing  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not any(ast.unparse(base).endswith("TypedDict") for base in node.bases):
            self.each(node.body)

    def visit_FunctionDef(self, node: Function) -> None:
        if node.name in ("__repr__", "__str__"):
            return
        self.each([*node.args.defaults, *node.args.kw_defaults])
        outer, self._in_function = self._in_function, True
        self.each(node.body)
        self._in_function = outer

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if ast.unparse(node.annotation).rpartition(".")[2] != "TypeAlias":
            self.each([node.value])

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            self.each([*node.targets, node.value])

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test).rpartition(".")[2] == "TYPE_CHECKING":
            self.each(node.orelse)
        else:
            self.generic_visit(node)

    # what is changed

    def drop(self, node: ast.stmt) -> None:
        self.add(self.start(node), self.end(node), "pass" + "\n" * self.code(node).count("\n"), "dropped statement")

    def visit_Raise(self, node: ast.Raise) -> None:
        self.drop(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        if not isinstance(node.value, ast.Yield | ast.YieldFrom | ast.Await):
            self.drop(node)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.drop(node)
        if type(node.op) in OPERATORS:
            old, new = OPERATORS[type(node.op)]
            self.between(node.target, node.value, re.escape(old + "="), [new + "="], "operator")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        start, end = self.start(node), self.end(node)
        if type(node.value) is bool:
            self.add(start, end, str(not node.value), "truth value")
        elif type(node.value) is int:
            self.add(start, end, str(node.value + 1), "constant + 1")
            self.add(start, end, str(node.value - 1) if node.value else "(-1)", "constant - 1")
        elif type(node.value) is float:
            self.add(start, end, repr(node.value * 1.5 or 1.0), "constant * 1.5")

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            old, news = COMPARISONS[type(operator)]
            self.between(left, right, old, news, "comparison")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = [isinstance(side, ast.JoinedStr) or _is_text(side) for side in (node.left, node.right)]
        if type(node.op) in OPERATORS and not any(texts):
            old, new = OPERATORS[type(node.op)]
            self.between(node.left, node.right, re.escape(old), [new], "operator")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub):
            self.add(self.start(node), self.start(node) + 1, "+", "sign")
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        self.ends([node.lower, node.upper])
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func).rpartition(".")[2]
        starred = any(isinstance(each, ast.Starred) for each in node.args)
        if name in ("range", "arange") and node.args and not starred:
            self.ends(node.args[:2])
        if name not in ORDER_IS_NOTHING and not starred:
            for left, right in itertools.pairwise(node.args):
                first, second = self.code(left), self.code(right)
                if first != second:
                    gap = self.source[self.end(left) : self.start(right)].decode()
                    self.add(self.start(left), self.end(right), second + gap + first, "swapped arguments")
        self.each([node.func, *node.args])
        # whether `zip` complains of unequal lengths is no matter of results
        self.each(word.value for word in node.keywords if word.arg != "strict")

    def between(self, left: ast.AST, right: ast.AST, old: str, news: Iterable[str], mutation: str) -> None:
        """Change the operator between two expressions."""
        start, end = self.end(left), self.start(right)
        match = re.search(old, self.source[start:end].decode())
        for new in news if match else ():
            assert match is not None
            self.add(start + match.start(), start + match.end(), new, f"{mutation} {match[0]} to {new}")

    def ends(self, nodes: Iterable[ast.expr | None]) -> None:
        """Change the ends of a range or slice by one; constants are changed as such."""
        for node in nodes:
            if node is not None and not isinstance(node, ast.Constant | ast.UnaryOp):
                for sign in "+-":
                    self.add(self.start(node), self.end(node), f"({self.code(node)}) {sign} 1", f"end {sign} 1")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _essence(code: CodeType) -> object:
    """What a module does, without the numbers of its lines."""
    constants = [
        _essence(each) if isinstance(each, CodeType) else (type(each).__name__, repr(each)) for each in code.co_consts
    ]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_exceptiontable


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """All changes of a module that compile and do something else.

    Args:
        file: Its path, relative to the root of the repository.
        source: What stands in it.
    """
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    source, found = source + b"\n", []
    for start, end, text, mutation, (first, last), in_function in finder.found:
        line, column = source.count(b"\n", 0, start) + 1, start - (source.rfind(b"\n", 0, start) + 1)
        tail = source.find(b"\n", start)
        after = source[start - column : start].decode() + text + source[end : source.find(b"\n", end)].decode()
        before = source[start - column : tail].decode()
        one = Mutant(
            file, line, column, mutation, before.strip(), after.split("\n")[0].strip(), start, end, text, first, last,
            in_function,
        )  # fmt: skip
        found.append(one)
    return found


def does_something(mutant: Mutant, source: bytes) -> bool:
    """Whether the changed module compiles, and to other bytecode."""
    try:
        changed = compile(mutant.applied(source), mutant.file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return _essence(changed) != _essence(compile(source, mutant.file, "exec", dont_inherit=True))


class Tree:
    """A repository: `src/<package>`, its tests and those of the papers' figures."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = next(path.parent for path in sorted((root / "src").glob("*/__init__.py")))

    @functools.cached_property
    def sources(self) -> dict[str, bytes]:
        """Of each file of the package what stands in it."""
        paths = sorted(self.package.rglob("*.py"))
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in paths}

    @property
    def tests(self) -> list[Path]:
        """The files that decide what tests do, `conftest.py` at the root among them."""
        folders = (self.root / "tests", self.root / "papers" / "tests")
        return [*self.root.glob("conftest.py"), *sorted(path for each in folders for path in each.rglob("*.py"))]

    def module(self, file: str) -> str:
        """The dotted name of a source."""
        parts = Path(file).with_suffix("").parts[1:]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @functools.cached_property
    def imports(self) -> dict[str, set[str]]:
        """Of each file of package and tests the modules of the package, or names in them, that it imports."""
        paths = [*self.package.rglob("*.py"), *self.tests]
        return {path.relative_to(self.root).as_posix(): self._imports(path) for path in paths}

    def _imports(self, path: Path) -> set[str]:
        found: set[str] = set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    here = path.relative_to(self.root).parts[1 : -1 if node.level == 1 else -node.level]
                    base = ".".join([*here, *([base] if base else [])])
                found.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
        return found

    def importers(self, file: str) -> list[str]:
        """The files of package and tests that import a module."""
        module = self.module(file)
        return sorted(each for each, names in self.imports.items() if module in names)

    def picked(self, rooms: Sequence[str], count: int, seed: int) -> list[Mutant]:
        """Mutants at random places, in turn from each room; the same ones for the same sources and seed.

        Rooms in which nothing can be changed are passed over, unless that is so of all of them.
        """
        waiting = []
        for room in rooms:
            places: dict[tuple[str, int, int], list[Mutant]] = {}
            for file, source in self.sources.items():
                inside = Path(*Path(file).parts[2:])
                if Path(room) in (inside, inside.with_suffix(""), *inside.parents) and room_of(file) not in LEFT_OUT:
                    for mutant in mutants_of(file, source):
                        places.setdefault((file, mutant.line, mutant.column), []).append(mutant)
            if not places:
                print(f"nothing can be changed in {room}")
                continue
            draw = random.Random(f"{seed} {room}")
            order = draw.sample(sorted(places), len(places))
            waiting.append(self._fit(draw, [places[place] for place in order]))
        if not waiting:
            raise SystemExit("there is nothing to change")
        found: dict[tuple[str, int, int, str], Mutant] = {}
        while waiting and len(found) < count:
            for each in list(waiting):
                one = next(each, None)
                if one is None:
                    waiting.remove(each)
                elif len(found) < count:
                    found.setdefault(one.key, one)
        return list(found.values())

    def _fit(self, draw: random.Random, places: Iterable[list[Mutant]]) -> Iterator[Mutant]:
        for mutants in places:
            for mutant in draw.sample(mutants, len(mutants)):
                if does_something(mutant, self.sources[mutant.file]):
                    yield mutant
                    break

    def again(self, others: Iterable[dict[str, Any]]) -> list[Mutant]:
        """The mutants of other results that this tree has too, by their text where lines have moved."""
        found = []
        for other in others:
            same = [
                mutant
                for mutant in mutants_of(other["file"], self.sources.get(other["file"], b""))
                if _text_of(asdict(mutant)) == _text_of(other)
            ]
            if same:
                found.append(min(same, key=functools.partial(_distance, other)))
            else:
                print(f"no longer there: {other['file']}:{other['line']} {other['before']}")
        return list({mutant.key: mutant for mutant in found}.values())


def _distance(result: dict[str, Any], mutant: Mutant) -> tuple[int, int]:
    return abs(mutant.line - result["line"]), abs(mutant.column - result["column"])


def _text_of(result: dict[str, Any]) -> tuple[str, ...]:
    return tuple(result[name] for name in ("file", "mutation", "before", "after"))


def _key_of(result: dict[str, Any]) -> tuple[str, int, int, str]:
    return result["file"], result["line"], result["column"], result["mutation"]


# --- which test executes what ---


def _seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def pytest_addoption(parser: pytest.Parser) -> None:
    """Words by which this file calls pytest."""
    group = parser.getgroup("mutants")
    group.addoption(
        "--map-to", metavar="FOLDER", help="write which test executes which line, of the tests not in it yet"
    )
    group.addoption("--only", metavar="FILE", help="run the tests of this list, in its order")
    group.addoption("--progress", metavar="FILE", help="write to this file which test starts and which fails")
    group.addoption("--stop-after", metavar="SECONDS", type=float, help="start no test after so much processor time")


def pytest_configure(config: pytest.Config) -> None:
    """Write the map, or run chosen tests."""
    folder, only = config.getoption("map_to"), config.getoption("only")
    if folder and (hasattr(config, "workerinput") or not config.getoption("numprocesses", None)):
        config.pluginmanager.register(_Mapping(Path(folder), config))
    if only:
        config.pluginmanager.register(_Chosen(Path(only), Path(config.getoption("progress")), config))


class _Mapping:
    """Has a context of coverage for each test, for each fixture that several tests share, and for each file."""

    def __init__(self, folder: Path, config: pytest.Config) -> None:
        import coverage

        self._coverage = coverage.Coverage(config_file=str(folder / "coveragerc"), messages=False)
        self._times = (folder / f"times-{os.getpid()}.jsonl").open("a", encoding="utf-8", buffering=1)
        done = folder / "done.json"
        self._done = set(json.loads(done.read_text(encoding="utf-8"))) if done.exists() else set[str]()
        self._contexts = [""]
        self._failed: set[str] = set()
        self._environment = {"COVERAGE_PROCESS_START": str(folder / "coveragerc"), _TEST: ""}
        self._coverage.start()
        os.environ.update(self._environment)

    @contextlib.contextmanager
    def _context(self, name: str) -> Iterator[None]:
        self._contexts.append(name)
        self._coverage.switch_context(name)
        try:
            yield
        finally:
            self._contexts.pop()
            self._coverage.switch_context(self._contexts[-1])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Any:
        done = yield
        items[:] = [item for item in items if item.nodeid not in self._done]
        return done

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Any:
        if not isinstance(collector, pytest.File):
            return (yield)
        with self._context(f"file {collector.nodeid}"):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Any:
        if fixturedef.scope == "function":
            return (yield)
        with self._context(f"fixture {fixturedef.baseid}::{fixturedef.argname}"):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        before = _seconds()
        os.environ[_TEST] = item.nodeid
        with self._context(item.nodeid):
            done = yield
        os.environ[_TEST] = ""
        known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        shared = {
            f"fixture {one.baseid}::{one.argname}" for each in known.values() for one in each if one.scope != "function"
        }
        line = [item.nodeid, round(_seconds() - before, 4), item.nodeid not in self._failed, sorted(shared)]
        self._times.write(json.dumps(line) + "\n")
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        for name in self._environment:
            os.environ.pop(name, None)
        self._coverage.stop()
        self._coverage.save()


COVERAGE = """
[run]
branch = False
context = ${{{test}-}}
core = ctrace
data_file = {folder}/lines
disable_warnings = module-not-imported,no-data-collected,module-not-measured,module-not-python,couldnt-parse
include = {package}/*
parallel = True
"""


def make_map(tree: Tree, folder: Path, *, jobs: int, words: Sequence[str]) -> int:
    """Run the tests and write what they execute into a folder. Returns pytest's exit status.

    Each process writes after each test. The digests of the package are written first, and tests.json last, so that an
    interrupted map of the same package is gone on with.
    """
    import coverage

    digests = {file: hashlib.sha256(source).hexdigest() for file, source in tree.sources.items()}
    tests = hashlib.sha256(b"".join(path.read_bytes() for path in tree.tests))
    state = json.dumps({"digests": digests, "tests": tests.hexdigest(), "words": list(words)})
    begun = folder / "begun.json"
    if not begun.exists() or begun.read_text(encoding="utf-8") != state:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        begun.write_text(state, encoding="utf-8")
    ended = [line[0] for line in _times(folder)]
    (folder / "done.json").write_text(json.dumps(ended), encoding="utf-8")
    if ended:
        print(f"{len(ended)} tests are in the map already")
    settings = COVERAGE.format(test=_TEST, folder=folder, package=tree.package)
    (folder / "coveragerc").write_text(settings, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", Path(__file__).stem, "-p", "no:cacheprovider", "-q"]
    command += [*(["-n", str(jobs), "--dist", "worksteal"] if jobs > 1 else []), "--map-to", str(folder), *words]
    before = _seconds()
    status = subprocess.run(command, cwd=tree.root, env=_environment(tree.root, NOT_HANDED_ON), check=False).returncode
    data = coverage.CoverageData(str(folder / "map"))
    data.read()  # of the processes before an interruption
    for part in sorted(folder.glob("lines.*")):
        one = coverage.CoverageData(str(part))
        with contextlib.suppress(coverage.CoverageException):  # of a process that was killed while it wrote
            one.read()
            data.update(one)
        part.unlink()
    if status == pytest.ExitCode.NO_TESTS_COLLECTED and ended:
        status = pytest.ExitCode.OK
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return status
    tests = _times(folder)
    (folder / "tests.json").write_text(json.dumps({"digests": digests, "tests": tests}), encoding="utf-8")
    begun.unlink()
    print(
        f"{len(tests)} tests, {_seconds() - before:.0f} s of processor time, map of {len(data.measured_files())} files"
    )
    return status


def _times(folder: Path) -> list[list[Any]]:
    """What the processes of a map have written of the tests that have ended."""
    return [line for part in sorted(folder.glob("times-*")) for line in _read(part)]


def _environment(root: Path, dropped: Set[str]) -> dict[str, str]:
    """The environment of tests of a tree: its package, this plugin, and the public data."""
    tools = str(Path(__file__).resolve().parent)
    names = {"PYTHONPATH": os.pathsep.join([str(root / "src"), tools])}
    return {**{name: value for name, value in os.environ.items() if name not in dropped}, **names}


class Map:
    """What `map` has written: the tests that execute a line, and what each takes."""

    def __init__(self, folder: Path, tree: Tree) -> None:
        import coverage

        if not (folder / "tests.json").exists():
            raise SystemExit(f"there is no map in {folder}: python tools/mutate.py map")
        told = json.loads((folder / "tests.json").read_text(encoding="utf-8"))
        self.tree = tree
        self.seconds = {test: seconds for test, seconds, passed, _ in told["tests"] if passed}
        self._tests: dict[str, set[str]] = {test: {test} for test in self.seconds}
        for test, _, passed, shared in told["tests"]:
            for context in (*shared, f"file {test.partition('::')[0]}") if passed else ():
                self._tests.setdefault(context, set()).add(test)
        self._digests = told["digests"]
        self._data = coverage.CoverageData(str(folder / "map"))
        self._data.read()
        self._paths = {self._relative(path): path for path in self._data.measured_files()}
        self._lock = threading.Lock()
        self._lines = functools.lru_cache(maxsize=4)(self._lines_of)

    def _relative(self, path: str) -> str:
        return f"src/{Path(path).as_posix().rpartition('/src/')[2]}"

    def _lines_of(self, file: str) -> dict[int, set[str]]:
        """Of each line that functions execute the tests."""
        path = self._paths.get(file)
        if path is None:
            return {}
        functions = _lines_in_functions(self.tree.sources[file])
        with self._lock:
            contexts = self._data.contexts_by_lineno(path)
        return {
            line: set().union(*(self._tests.get(name, set()) for name in names))
            for line, names in contexts.items()
            if line in functions
        }

    def of_module(self, file: str) -> set[str]:
        """The tests that execute any function of a module, and those of files that import it."""
        importing = {each for each in self.tree.importers(file) if not each.startswith("src/")}
        return set().union(*self._lines(file).values()) | {
            test for test in self.seconds if test.partition("::")[0] in importing
        }

    def covering(self, mutant: Mutant) -> set[str]:
        """The tests that execute a mutant; those of its module, or of its importers, where that is not known."""
        source = self.tree.sources[mutant.file]
        same = self._digests.get(mutant.file) == hashlib.sha256(source).hexdigest()
        if mutant.in_function and same:
            lines = self._lines(mutant.file)
            found = set().union(*(lines.get(line, set()) for line in range(mutant.first, mutant.last + 1)))
            if mutant.first in _lines_in_functions(source, COMPILED):  # no tracer sees them run as machine code
                found |= self.of_module(mutant.file)
            if found:
                return found
        seen, level = {mutant.file}, [mutant.file]
        found = self.of_module(mutant.file)
        while level and (not found or not mutant.in_function):
            level = [each for file in level for each in self.tree.importers(file) if each.startswith("src/")]
            level = sorted(set(level) - seen)
            seen.update(level)
            found = found.union(*(self.of_module(file) for file in level))
            if not mutant.in_function:  # what is run at import means something to those who import it by name
                break
        return found

    def near(self, mutant: Mutant, tests: Iterable[str]) -> list[str]:
        """Those tests that lie in the mirror of a module, or in files that import it."""
        inside = Path(mutant.file).relative_to("src", self.tree.package.name).with_suffix("")
        words = [part for part in inside.parts if part != "__init__"]
        importing = set(self.tree.importers(mutant.file))

        def is_near(file: str) -> bool:
            path = Path(file)
            named = set(path.stem.split("_")) | set(path.parts)
            mirrors = len(words) == 1 or any(word in path.stem or word in named for word in words[1:])
            return file in importing or (words[0] in named and mirrors)

        files = {test.partition("::")[0] for test in tests}
        fit = {file for file in files if is_near(file)} or {file for file in files if words[0] in Path(file).parts}
        return [test for test in tests if test.partition("::")[0] in fit]

    def batches(self, tests: Iterable[str]) -> list[list[str]]:
        """Tests for one process each: some cases of each function first, files that take little before others."""
        left = sorted(tests, key=lambda test: (self.seconds[test], test))
        seen: collections.Counter[str] = collections.Counter()
        rounds: tuple[list[str], list[str]] = ([], [])
        for test in left:
            function = test.partition("[")[0]
            rounds[seen[function] >= TESTS_OF_A_FUNCTION_FIRST].append(test)
            seen[function] += 1
        found: list[list[str]] = []
        for each in rounds:
            files: dict[str, list[str]] = {}
            for test in each:
                files.setdefault(test.partition("::")[0], []).append(test)
            batch: list[str] = []
            taken, number = 0.0, 0
            for members in sorted(files.values(), key=lambda one: (sum(self.seconds[test] for test in one), one[0])):
                cost = sum(self.seconds[test] for test in members)
                if batch and (taken + cost > SECONDS_OF_A_BATCH or number == FILES_OF_A_BATCH):
                    found.append(batch)
                    batch, taken, number = [], 0.0, 0
                batch, taken, number = [*batch, *members], taken + cost, number + 1
            if batch:
                found.append(batch)
        return found


COMPILED = {"elementwise", "njit"}
"""Decorators of functions that are compiled."""


def _lines_in_functions(source: bytes, decorated: Set[str] = frozenset()) -> set[int]:
    """The lines in the bodies of functions; of those that have such a decorator, where any is named."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, Function):
            continue
        names = {each.id for one in node.decorator_list for each in ast.walk(one) if isinstance(each, ast.Name)}
        if not decorated or names & decorated:
            found.update(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
    return found


NAMED = ("file", "line", "column", "mutation", "before", "after", "room")
"""What is written of a mutant."""

# --- running tests against a mutant ---


class _Chosen:
    """Runs the tests of a list in its order, and writes what happens."""

    def __init__(self, only: Path, progress: Path, config: pytest.Config) -> None:
        chosen = json.loads(only.read_text(encoding="utf-8"))
        self._order = {test: number for number, test in enumerate(chosen["tests"])}
        self._without = set(chosen["without"])
        self._files = {
            test.partition("::")[0]: -number for test, number in sorted(self._order.items(), key=lambda one: -one[1])
        }
        self._whole = config.getoption("everything", False)
        self._file = progress.open("a", encoding="utf-8", buffering=1)
        self._stop: float = config.getoption("stop_after")
        # a mutant may want any number of bytes; browsers reserve addresses without an end
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

    def _write(self, *words: str) -> None:
        self._file.write(json.dumps(words) + "\n")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Any:
        done = yield
        order = self._order
        items[:] = sorted(
            (
                item
                for item in items
                if (item.nodeid in order or item.nodeid.partition("::")[0] in order)
                and item.nodeid not in self._without
            ),
            key=lambda item: (-self._files[item.nodeid.partition("::")[0]], order.get(item.nodeid, 0)),
        )
        return done

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self._write("test", item.nodeid)
        done = yield
        if _seconds() > self._stop:
            item.session.shouldstop = "it took long enough"
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._write("failed", report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write("failed", report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.shouldstop:
            self._write("stopped")


@dataclass
class Outcome:
    """What became of a mutant: "passed", "failed", "hung" or "stopped", the test by which, and what it took."""

    state: str = "passed"
    by: str = ""
    ran: int = 0
    seconds: float = 0.0

    def then(self, other: Outcome) -> Outcome:
        """Both one after the other."""
        return Outcome(other.state, other.by, self.ran + other.ran, self.seconds + other.seconds)


class Copy:
    """A copy of a tree in which one file at a time is changed.

    Args:
        tree: What is copied: what git knows or would add, or all of it where there is no git.
        folder: Where to.
        interrupted: Ends the tests that run when it is set.
    """

    def __init__(self, tree: Tree, folder: Path, interrupted: threading.Event) -> None:
        self.tree, self.folder, self.interrupted = tree, folder, interrupted
        self.root = folder / "tree"
        self._number = 0
        self._environment = _environment(self.root, NOT_HANDED_ON | NOT_FOR_A_COPY)
        if "OGIVE_DATA" not in self._environment and (data := tree.root.parent / "shared" / "data").is_dir():
            self._environment["OGIVE_DATA"] = str(data)
        for name in _files_of(tree.root):
            source = tree.root / name
            if source.is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, self.root / name, follow_symlinks=False)
        for path in (tree.root / "src").rglob("__pycache__/*.nb[ic]"):
            (self.root / path.parent.relative_to(tree.root)).mkdir(exist_ok=True)
            shutil.copy2(path, self.root / path.relative_to(tree.root))
        if (self.root / "src" / tree.package.name / "cli/warming.py").exists():
            words = [sys.executable, "-m", tree.package.name, "warmup"]
            subprocess.run(words, cwd=self.root, env=self._environment, check=True, stdout=subprocess.DEVNULL)
        self._compiled = {path: path.read_bytes() for path in self._code()}

    def _code(self) -> list[Path]:
        return [path for path in (self.root / "src").rglob("__pycache__/*") if path.suffix in (".nbi", ".nbc")]

    @contextlib.contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Change a file, and put it back, with the compiled code that belongs to it."""
        source = self.tree.sources[mutant.file]
        if not mutant.in_function and self._is_compiled_in(mutant.file):
            # a constant becomes part of compiled code, which does not tell that it has changed
            for path in self._code():
                path.unlink()
        self._write(mutant.file, mutant.applied(source))
        try:
            yield
        finally:
            self._write(mutant.file, source)
            for path in set(self._code()) - set(self._compiled):
                path.unlink()
            for path, code in self._compiled.items():
                if not path.exists() or path.read_bytes() != code:
                    path.write_bytes(code)

    def _is_compiled_in(self, file: str) -> bool:
        compiling = f"{self.tree.package.name}.compiling"
        files = [file, *self.tree.importers(file)]
        return any(compiling in self.tree.imports[each] for each in files)

    def _write(self, file: str, source: bytes) -> None:
        path = self.root / file
        for stale in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            stale.unlink()
        path.write_bytes(source)

    def run(
        self,
        tests: Sequence[str],
        usual: Callable[[str], float],
        *,
        stop_after: float,
        everything: bool = False,
        without: Iterable[str] = (),
    ) -> Outcome:
        """Run tests until one fails or hangs, or they have taken long enough.

        Args:
            tests: Identifiers of tests, or whole files.
            usual: Processor time that a test usually takes.
            stop_after: Processor time after which no test starts.
            everything: Whether tests run at full size.
            without: Tests of the files that do not run.
        """
        self._number += 1
        only, progress = (self.folder / f"{name}-{self._number}" for name in ("only", "progress"))
        only.write_text(json.dumps({"tests": list(tests), "without": sorted(without)}), encoding="utf-8")
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist"]
        command += ["-p", Path(__file__).stem, "--only", str(only), "--progress", str(progress)]
        command += ["--stop-after", str(stop_after), *(["--everything"] if everything else []), *files]
        output = self.folder / f"output-{self._number}"
        with output.open("wb") as file:
            process = subprocess.Popen(
                command, cwd=self.root, env=self._environment, start_new_session=True, stdin=subprocess.DEVNULL,
                stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip
            hung, status, seconds = _wait(process, progress, usual, self.interrupted)
        lines = _read(progress)
        ran = sum(line[0] == "test" for line in lines)
        failed = [line[1] for line in lines if line[0] == "failed"]
        if hung is not None:
            found = Outcome("hung", hung, ran, seconds)
        elif failed:
            found = Outcome("failed", failed[0], ran, seconds)
        elif status == 0:
            found = Outcome("stopped" if lines and lines[-1][0] == "stopped" else "passed", "", ran, seconds)
        elif status == 2 and lines and lines[-1][0] == "stopped":
            found = Outcome("stopped", "", ran, seconds)
        elif status == pytest.ExitCode.NO_TESTS_COLLECTED:
            found = Outcome("passed", "", 0, seconds)
        else:  # the process ended without a word of a test: a crash, or conftest.py cannot be imported
            by = next((line[1] for line in reversed(lines) if line[0] == "test"), tests[0])
            found = Outcome("failed", by, ran, seconds)
        for path in (only, progress, output):
            path.unlink(missing_ok=True)
        return found


def _files_of(root: Path) -> list[str]:
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, check=False
    )
    if done.returncode == 0 and (root / ".git").exists():
        return sorted(os.fsdecode(name) for name in done.stdout.split(b"\0") if name)
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if FOLDER not in path.parts)


def _read(path: Path) -> list[list[str]]:
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        with contextlib.suppress(ValueError):  # the process was killed while it wrote
            lines.append(json.loads(line))
    return lines


def _wait(
    process: subprocess.Popen[bytes], progress: Path, usual: Callable[[str], float], interrupted: threading.Event
) -> tuple[str | None, int, float]:
    """Wait for a process of pytest. Returns the test that hung, the exit status, and processor time."""
    hung: str | None = None
    read, since, limit = 0, time.monotonic(), COLLECTS_FOR
    current = "collection"
    while True:
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            process.returncode = os.waitstatus_to_exitcode(status)
            return hung, process.returncode, usage.ru_utime + usage.ru_stime
        over = hung is None and interrupted.is_set()
        if hung is None and not over and progress.exists() and progress.stat().st_size > read:
            with progress.open("rb") as file:
                file.seek(read)
                new = file.read().rpartition(b"\n")[0]
            started = [line[1] for line in map(json.loads, new.splitlines()) if line[0] == "test"]
            if new:
                read, since = read + len(new) + 1, time.monotonic()
            if started:
                current = started[-1]
                limit = HANGS_AFTER + TIMES_SLOWER * usual(current)
        elif over or time.monotonic() - since > limit:
            if hung is None:  # what tests have started is ended by their own fixtures first
                hung, since, limit = current, time.monotonic(), PATIENCE
                process.send_signal(signal.SIGINT)
            else:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        time.sleep(0.05)


@dataclass
class Campaign:
    """Runs mutants one after the other and appends what became of each to a file.

    Fields:
        tree: What is changed.
        map: Which tests execute what.
        results: The file.
        limit: Processor seconds for one mutant, for each of the two or three stages.
        whole: Whether survivors meet the tests of `make test-all`, too.
    """

    tree: Tree
    map: Map
    results: Path
    limit: float
    whole: bool = False
    red: set[str] = field(default_factory=set)
    green: set[str] = field(default_factory=set)
    _lock: Any = field(default_factory=threading.Lock)

    def run(self, mutants: Sequence[Mutant], *, jobs: int) -> None:
        """Run those that are not in the file yet."""
        done = {_key_of(result): result for result in read_results(self.results)}
        waiting: queue.Queue[Mutant] = queue.Queue()
        for mutant in mutants:
            before = done.get(mutant.key)
            if before is None or (self.whole and before["outcome"] == "survived" and not before["whole"]):
                waiting.put(mutant)
        print(f"{waiting.qsize()} of {len(mutants)} mutants are left to run")
        if waiting.empty():
            return
        if self.results.exists() and not self.results.read_bytes().endswith(b"\n"):  # a run was killed while it wrote
            with self.results.open("a", encoding="utf-8") as file:
                file.write("\n")
        with tempfile.TemporaryDirectory(prefix="mutants-") as name:
            interrupted = threading.Event()
            copies = [Copy(self.tree, Path(name, str(number)), interrupted) for number in range(jobs)]
            with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
                working = [threads.submit(self._work, copy, waiting) for copy in copies]
                try:
                    for each in concurrent.futures.as_completed(working):
                        each.result()
                finally:  # also of an interruption, or where one of them has failed
                    interrupted.set()

    def _work(self, copy: Copy, waiting: queue.Queue[Mutant]) -> None:
        while not copy.interrupted.is_set():
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            result = self.judge(copy, mutant)
            if copy.interrupted.is_set():  # the tests have not ended by themselves
                return
            with self._lock:
                with self.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(result) + "\n")
                what = f"{mutant.file}:{mutant.line} {mutant.mutation}"
                print(f"{result['outcome']:9} {result['seconds']:6.0f} s  {what}  {result['by']}", flush=True)

    def judge(self, copy: Copy, mutant: Mutant) -> dict[str, Any]:
        """Run the tests of a mutant, near ones first."""
        covering = self.map.covering(mutant) - self.red
        near = self.map.near(mutant, sorted(covering))
        stages = {"near": self.map.batches(near), "covering": self.map.batches(covering - set(near))}
        if self.whole:
            files = [batch for stage in stages.values() for batch in stage]
            order = dict.fromkeys(test.partition("::")[0] for batch in files for test in batch)
            stages["whole"] = [[file] for file in order]
        found, stage = Outcome(), ""
        stopped = False
        for stage, batches in stages.items():
            left = self.limit
            for batch in batches:
                if left <= 0:
                    stopped = True
                    break
                one = self._fails(copy, mutant, batch, left, everything=stage == "whole")
                found = found.then(one)
                left -= one.seconds
                stopped |= one.state == "stopped"
                if one.state in ("failed", "hung"):
                    break
            if found.state in ("failed", "hung"):
                break
        outcome = {"failed": "killed", "hung": "timeout"}.get(found.state, "survived")
        return {
            **{name: getattr(mutant, name) for name in NAMED},
            "outcome": outcome,
            "by": found.by,
            "stage": stage,
            "ran": found.ran,
            "tests": len(covering),
            "stopped": stopped and outcome == "survived",
            "whole": self.whole,
            "seconds": round(found.seconds, 1),
        }

    def _fails(self, copy: Copy, mutant: Mutant, batch: Sequence[str], limit: float, *, everything: bool) -> Outcome:
        """Run a batch; a test that fails without the mutant, too, is left out from then on."""
        spent = Outcome()
        while True:
            batch = [test for test in batch if test not in self.red]
            if not batch:
                return spent.then(Outcome())
            with copy.changed(mutant):
                one = copy.run(batch, self._usual, stop_after=limit, everything=everything, without=self.red)
            if one.state not in ("failed", "hung") or one.by in self.green or copy.interrupted.is_set():
                return spent.then(one)
            # a file may fail to be collected, or a process ends before its first test
            blamed = [one.by] if "::" in one.by else [test for test in batch if test.startswith(one.by)] or batch
            control = copy.run(blamed[:1], self._usual, stop_after=limit, everything=everything)
            spent = spent.then(Outcome(seconds=control.seconds))
            if control.state == "passed":
                self.green.add(one.by)
                return spent.then(one)
            print(f"left out, since it fails in a copy without a mutant: {one.by}", flush=True)
            self.red.update(blamed)
            spent = spent.then(Outcome(seconds=one.seconds))

    def _usual(self, test: str) -> float:
        return float(self.map.seconds.get(test, HANGS_AFTER))


# --- the table ---


def read_results(path: Path) -> list[dict[str, Any]]:
    """The last result of each mutant."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        with contextlib.suppress(ValueError):  # a run was killed while it wrote
            result = json.loads(line)
            found[_key_of(result)] = result
    return list(found.values())


def table(results: Sequence[dict[str, Any]], against: Sequence[dict[str, Any]] | None = None) -> str:
    """Results in Markdown: by room, then each survivor, and what other results had killed."""
    rooms: dict[str, collections.Counter[str]] = {}
    for result in sorted(results, key=lambda one: str(one["room"])):
        rooms.setdefault(result["room"], collections.Counter())[result["outcome"]] += 1
    rooms["all"] = sum(rooms.values(), collections.Counter())
    lines = ["| room | mutants | killed | survived | timeouts |", "| --- | --- | --- | --- | --- |"]
    for room, numbers in rooms.items():
        each = [sum(numbers.values()), *(numbers[name] for name in ("killed", "survived", "timeout"))]
        lines.append(f"| {room} | {' | '.join(map(str, each))} |")
    alive = sorted((one for one in results if one["outcome"] == "survived"), key=_key_of)
    lines += ["", "Survivors:", "", *(map(_line, alive) if alive else ["none"])]
    if against is not None:
        by_key = {_key_of(one): one for one in against}
        by_text = {_text_of(one): one for one in against}
        there = [(one, by_key.get(_key_of(one)) or by_text.get(_text_of(one))) for one in alive]
        lost = [f"{_line(one)}; killed there by `{other['by']}`" for one, other in there if other and _is_dead(other)]
        lines += ["", "Killed there and alive here:", "", *(lost or ["none"])]
    return "\n".join(lines)


def _is_dead(result: dict[str, Any]) -> bool:
    return bool(result["outcome"] != "survived")


def _line(result: dict[str, Any]) -> str:
    ran = f"all {result['tests']} tests that execute it passed"
    if result["stopped"]:
        ran = f"{result['ran']} tests ran until the limit, {result['tests']} execute it"
    place, change = f"{result['file']}:{result['line']}", f"`{result['before']}` became `{result['after']}`"
    return f"- `{place}` ({result['mutation']}): {change}; {ran}"


# --- the command ---


def main(words: Sequence[str] | None = None) -> int:
    """Map, run or show."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="the repository")
    commands = parser.add_subparsers(dest="command", required=True)
    mapping = commands.add_parser("map", help="run the tests once and write which line each executes")
    mapping.add_argument("-n", dest="jobs", type=int, default=1, help="processes")
    mapping.add_argument("words", nargs="*", help="words for pytest, after --")
    running = commands.add_parser("run", help="change places at random and run the tests that execute them")
    running.add_argument("--count", type=int, default=20, help="mutants")
    running.add_argument("--seed", type=int, default=1)
    running.add_argument("--rooms", nargs="+", help="folders or files of the package, such as noise or privacy.py")
    running.add_argument("--again", type=Path, help="the mutants of these results instead")
    running.add_argument("--place", metavar="FILE:LINE", help="all mutants of one line instead")
    running.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    running.add_argument("--limit", type=float, default=300, help="processor seconds of one mutant and stage")
    running.add_argument("--all", action="store_true", help="run survivors against the tests of make test-all, too")
    showing = commands.add_parser("table", help="what was killed and what survived, in Markdown")
    showing.add_argument("--against", type=Path, help="other results: what was killed there and is alive here")
    for each in (running, showing):
        each.add_argument("--results", type=Path, help="a file; .mutants/results.jsonl if it is not given")
    given = parser.parse_args(words)
    tree = Tree(given.root.resolve())
    folder = tree.root / FOLDER
    if given.command == "map":
        return make_map(tree, folder / "map", jobs=given.jobs, words=given.words)
    results = given.results or folder / "results.jsonl"
    if given.command == "table":
        print(table(read_results(results), read_results(given.against) if given.against else None))
        return 0
    if given.again:
        mutants = tree.again(read_results(given.again))
    elif given.place:
        file, _, line = given.place.rpartition(":")
        mutants = [each for each in mutants_of(file, tree.sources[file]) if each.line == int(line)]
        mutants = [each for each in mutants if does_something(each, tree.sources[file])]
    else:
        rooms = given.rooms or sorted({room_of(file) for file in tree.sources} - set(LEFT_OUT) - {"__init__"})
        mutants = tree.picked(rooms, given.count, given.seed)
    results.parent.mkdir(parents=True, exist_ok=True)
    Campaign(tree, Map(folder / "map", tree), results, given.limit, given.all).run(mutants, jobs=given.jobs)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # its copies go, and its tests end
    sys.exit(main())
