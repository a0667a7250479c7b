"""Which tests run: what `make test` leaves to `make test-all`, and what an earlier run has finished.

`make test` takes a covering part of large products of parameters and smaller simulations; `--everything` takes all
of both. These doors lead here: on a parametrized test the mark `covering` and, where cases are costly, `each_value` or
`one_in`; the mark `everything` on a test that only `make test-all` runs; `size` where a simulation or a protocol has
two sizes; and `is_everything` where a test goes through a part of its cases. At its end a run says what it left out.

`--record FILE` appends the outcome of each test to a file, and `--unfinished FILE` runs only the tests that have not
passed according to it. So an interrupted run is resumed, and what was skipped for want of something runs once that is
there. Both take their file after `=`: as a word of its own it would be taken for a folder of tests.
"""

from __future__ import annotations

import heapq
import itertools
import json
import sys
from collections import Counter
from collections.abc import Hashable, Sequence
from enum import Enum
from pathlib import Path

import hypothesis
import pytest

_EVERYTHING = False
_left: Counter[str] = Counter()
"""Tests that this run leaves out, by the function they belong to."""
_smaller: set[str] = set()
"""Places in tests at which `size` gave less than the full size, or `is_everything` was asked and said no."""


def size(full: int, *, part: int) -> int:
    """The size of a simulation, or of what a test sets up: `full` in `make test-all`, `part` in `make test`.

    Whoever calls it derives levels and tolerances from what it returns, so that the control fails at both sizes.
    """
    assert 0 < part < full
    if _EVERYTHING:
        return full
    _note_place()
    return part


def is_everything() -> bool:
    """Whether this is `make test-all`; a test that goes through fewer cases elsewhere asks this."""
    if not _EVERYTHING:
        _note_place(besides=__file__)
    return _EVERYTHING


def _note_place(besides: str = "") -> None:
    """Note from where the caller of this was called, unless that is a file beside another one."""
    frame = sys._getframe(2)
    place = Path(frame.f_code.co_filename)
    if place.parent != Path(besides).parent:
        _smaller.add(f"{place.name}:{frame.f_lineno}")


def covering(features: Sequence[Sequence[Hashable]]) -> list[int]:
    """Numbers of cases, in order, in which each feature and each pair of features occurs that occurs in any case.

    The choice is greedy and always the same: the case with the most pairs that are new, and the first of several.

    Args:
        features: Of each case the labels that matter, one for each parameter.
    """
    pairs = [
        set(itertools.combinations(enumerate(labels), 2)) | {(each,) for each in enumerate(labels)}
        for labels in features
    ]
    covered: set[tuple[object, ...]] = set()
    chosen: list[int] = []
    # the number of new pairs of a case only falls, so the first case whose number is up to date has the most
    queue = [(-len(each), number) for number, each in enumerate(pairs)]
    heapq.heapify(queue)
    while queue:
        promised, number = heapq.heappop(queue)
        new = len(pairs[number] - covered)
        if new != -promised:
            if new:
                heapq.heappush(queue, (-new, number))
            continue
        chosen.append(number)
        covered |= pairs[number]
    return sorted(chosen)


def spread(features: Sequence[Sequence[Hashable]]) -> list[int]:
    """Numbers of few cases, in order, in which each feature occurs, and each about as often as others of its parameter.

    The choice is greedy and always the same: of the cases with the most new features, the one whose features were
    chosen least.
    """
    used: Counter[tuple[int, Hashable]] = Counter()
    chosen: list[int] = []
    while True:
        new = [sum(not used[each] for each in enumerate(labels)) for labels in features]
        if not max(new, default=0):
            return sorted(chosen)
        often = [sum(used[each] for each in enumerate(labels)) for labels in features]
        number = max(range(len(features)), key=lambda each: (new[each], -often[each], -each))
        chosen.append(number)
        used.update(enumerate(features[number]))


def _itself(value: object) -> Hashable:
    """What tells a value of a parameter from all others; equal objects that cannot be hashed are others."""
    return value if isinstance(value, str | int | float | Enum) else id(value)


def label(value: object) -> Hashable:
    """What counts as the same value of a parameter by default: plain values themselves, objects by name or type."""
    if isinstance(value, str | int | float | Enum | type) or value is None:
        return value
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else type(value).__name__


def pytest_addoption(parser):
    group = parser.getgroup("scope")
    group.addoption("--everything", action="store_true", help="run all tests at full size")
    group.addoption("--record", metavar="FILE", help="append the outcome of each test to this file")
    group.addoption("--unfinished", metavar="FILE", help="run the tests that have not passed according to this file")


def pytest_configure(config):
    global _EVERYTHING
    _EVERYTHING = config.getoption("everything")
    # no example has to be fast on a busy machine; `make test` takes the same ones each time, `make test-all` others
    hypothesis.settings.register_profile("ogive", deadline=None, derandomize=not _EVERYTHING)
    hypothesis.settings.load_profile("ogive")
    config.addinivalue_line(
        "markers",
        "covering(*each, **labels): `make test` runs cases in which each pair of values of two parameters occurs; "
        "`each` names parameters of which every value occurs, a keyword how a parameter counts (attribute, function)",
    )
    config.addinivalue_line(
        "markers",
        "each_value(**labels): `make test` runs cases in which each value of each parameter occurs; a keyword as above",
    )
    config.addinivalue_line("markers", "one_in(number): of so many neighbouring cases `make test` runs the first")
    config.addinivalue_line("markers", "everything: only `make test-all` runs this test")
    record = config.getoption("record")
    if record and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Record(Path(config.invocation_params.dir, record)))


_PARTS = ("covering", "each_value", "one_in")


def _mark(item: pytest.Item) -> pytest.Mark | None:
    """The mark by which `make test` runs a part of a function's cases."""
    return next((mark for mark in item.iter_markers() if mark.name in _PARTS), None)


def _chosen(items: list[pytest.Item]) -> list[pytest.Item]:
    """The cases that run of one function that has such a mark."""
    mark = _mark(items[0])
    assert mark is not None
    if mark.name == "one_in":
        return items[:: mark.args[0]]
    pairwise = mark.name == "covering"
    features = []
    for item in items:
        values = item.callspec.params
        labels: list[Hashable] = []
        for name, value in values.items():
            reader = mark.kwargs.get(name, label if pairwise else _itself)
            labels.append(getattr(value, reader) if isinstance(reader, str) else reader(value))
        # a value counts as itself where every one of them shall occur, but makes no pairs
        features.append((labels, [(name, _itself(values[name])) for name in mark.args]))
    numbers = set((covering if pairwise else spread)([labels for labels, _ in features]))
    seen = {own for number in numbers for own in features[number][1]}
    for number, (_, owns) in enumerate(features):
        if not seen.issuperset(owns):
            numbers.add(number)
            seen.update(owns)
    return [item for number, item in enumerate(items) if number in numbers]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out what only `make test-all` runs, and what an earlier run has finished."""
    left: list[pytest.Item] = []
    if not _EVERYTHING:
        products: dict[str, list[pytest.Item]] = {}
        for item in items:
            if item.get_closest_marker("everything"):
                left.append(item)
            elif _mark(item):
                products.setdefault(item.nodeid.partition("[")[0], []).append(item)
        for cases in products.values():
            kept = set(_chosen(cases))
            left.extend(item for item in cases if item not in kept)
        _left.update(item.nodeid.partition("[")[0] for item in left)
    finished = _passed(config)
    out = {*left, *(item for item in items if item.nodeid in finished)}
    if out:
        config.hook.pytest_deselected(items=list(out))
        items[:] = [item for item in items if item not in out]


def _passed(config) -> set[str]:
    """The tests that have passed according to the file of `--unfinished`."""
    name = config.getoption("unfinished")
    if name is None:
        return set()
    path = Path(config.rootpath, name)
    if not path.exists():
        return set()
    last: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            outcome, nodeid = json.loads(line)
        except ValueError:  # a line of a run that was killed
            continue
        last[nodeid] = outcome
    return {nodeid for nodeid, outcome in last.items() if outcome == "passed"}


class _Record:
    """Writes the outcome of each test as soon as it is known."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8", buffering=1)
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):  # a run was killed while it wrote
            self._file.write("\n")
        self._worst: dict[str, str] = {}

    def pytest_runtest_logreport(self, report):
        order = ("passed", "skipped", "failed")
        self._worst[report.nodeid] = max(self._worst.get(report.nodeid, "passed"), report.outcome, key=order.index)
        if report.when == "teardown":
            self._file.write(json.dumps([self._worst.pop(report.nodeid), report.nodeid]) + "\n")

    def pytest_unconfigure(self):
        self._file.close()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session, exitstatus):
    # nothing is left of a run that is resumed
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and _passed(session.config):
        session.exitstatus = pytest.ExitCode.OK
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left"], output["smaller"] = dict(_left), sorted(_smaller)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    output = getattr(node, "workeroutput", {})
    _left.update({name: number - _left[name] for name, number in output.get("left", {}).items()})
    _smaller.update(output.get("smaller", ()))


def pytest_terminal_summary(terminalreporter):
    if _left or _smaller:
        terminalreporter.write_line(
            f"left to `make test-all`: {sum(_left.values()):,} tests of {len(_left)} functions, and the full size, or "
            f"all cases, at {len(_smaller)} places"
        )
