"""Mutants of a tiny package: which there are, which tests they meet, what is killed, and how a run is resumed."""

import importlib
import json
import shutil
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
SOURCE = '''"""Sums."""
import time
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from made import later as later

__all__ = ["doubled"]
LEAST = 3


class Row(TypedDict):
    number: int


def doubled(number: int) -> int:
    """Twice a number, of at least 1."""
    if number < LEAST:
        raise ValueError(f"at least {3}, got {number}")
    return 2 * number


def shifted(number: int) -> int:
    return number + LEAST


def paused(number: int) -> int:
    time.sleep(0 * number)
    return number
'''
TESTS = """
import pytest
from made.sums import doubled, paused, shifted


@pytest.fixture(scope="module")
def moved():
    return shifted(1)


def test_doubled():
    assert doubled(4) == 8


def test_shifted(moved):
    assert moved


def test_refused():
    with pytest.raises(ValueError):
        doubled(2)


def test_paused():
    assert paused(3_600) == 3_600
"""
OTHER = """
import made


def test_elsewhere():
    assert made.shifted(1) == 4
"""


@pytest.fixture(scope="module")
def mutate():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOOLS))
        yield importlib.import_module("mutate")


@pytest.fixture(scope="module")
def mapped(mutate, tmp_path_factory):
    """A repository of one package, with its map: five tests in two files."""
    root = tmp_path_factory.mktemp("mapped")
    for name, text in {
        "src/made/__init__.py": "from made.sums import shifted as shifted\n",
        "src/made/sums.py": SOURCE,
        "tests/unit/test_sums.py": TESTS,
        "tests/whole/test_elsewhere.py": OTHER,
        "pytest.ini": "[pytest]\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        plain(patch)
        assert mutate.main(["--root", str(root), "map"]) == 0
    return root


@pytest.fixture
def root(mapped, tmp_path):
    """A copy of it that a test may change."""
    return shutil.copytree(mapped, tmp_path / "root")


def test_an_interrupted_map_goes_on_with_the_tests_that_have_not_ended(mutate, root, mapped, tmp_path, monkeypatch):
    plain(monkeypatch)
    folder, ran = root / ".mutants" / "map", tmp_path / "ran"
    shutil.rmtree(folder)
    interrupting = f"    if not Path({str(ran)!r}).exists():\n        raise KeyboardInterrupt\n"
    text = TESTS.replace("def test_refused():\n", f"def test_refused():\n{interrupting}")
    (root / "tests/unit/test_sums.py").write_text(f"from pathlib import Path\n{text}", encoding="utf-8")
    assert mutate.main(["--root", str(root), "map", "--", "-k", "not none"]) == pytest.ExitCode.INTERRUPTED
    assert not (folder / "tests.json").exists()
    ended = [line[0] for line in mutate._times(folder)]
    assert len(ended) == 2
    ran.touch()  # the second time nothing interrupts
    (folder / "times-0.jsonl").write_text("{", encoding="utf-8")  # of a process that was killed while it wrote
    assert mutate.main(["--root", str(root), "map", "--", "-k", "not none"]) == 0
    tests = json.loads((folder / "tests.json").read_text(encoding="utf-8"))["tests"]
    known = json.loads((mapped / ".mutants/map/tests.json").read_text(encoding="utf-8"))["tests"]
    assert sorted((test, passed) for test, _, passed, _ in tests) == sorted(
        (test, passed) for test, _, passed, _ in known
    )
    found, whole = (mutate.Map(each / ".mutants" / "map", mutate.Tree(each)) for each in (root, mapped))
    for mutant in mutate.mutants_of("src/made/sums.py", SOURCE.encode()):
        assert found.covering(mutant) == whole.covering(mutant)


def plain(patch):
    """No process of pytest loads more plugins than it must, nor believes that it is one of several."""
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        patch.delenv(name, raising=False)
    patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def changes(mutate, source):
    found = mutate.mutants_of("src/made/sums.py", source.encode())
    return [(one.mutation, one.after) for one in found if mutate.does_something(one, source.encode())]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("a = 1", ["a = 2", "a = 0"]),
        ("a = 0", ["a = 1", "a = (-1)"]),
        ("a = 0.5", ["a = 0.75"]),
        ("a = True", ["a = False"]),
        ("a = -b", ["a = +b"]),
        ("a = b <c", ["a = b <=c", "a = b >=c"]),
        ("a = b is  not c", ["a = b is c"]),
        ("a = b not in c", ["a = b in c"]),
        ("a = (b) * (c)", ["a = (b) / (c)"]),
        ("a = b[c:]", ["a = b[(c) + 1:]", "a = b[(c) - 1:]"]),
        ("a = range(b)", ["a = range((b) + 1)", "a = range((b) - 1)"]),
        ("a = f(b, c)", ["a = f(c, b)"]),
        ("a += b", ["pass", "a -= b"]),
        ("f(b)", ["pass"]),
        ("raise f('text', 1)", ["pass"]),
        # what is left alone
        ("a = 'text' + b", []),
        ("a = f'{b + 1}'", []),
        ("a = max(b, c)", []),
        ("a: 'b[1]' = c", []),
        ("assert a < 1", []),
        ("__all__ = [1]", []),
        ("class A(TypedDict):\n    a = 1", []),
        ("class A:\n    def __repr__(self):\n        return str(1)", []),
        ("if TYPE_CHECKING:\n    f(1)", []),
        ("@f(1)\ndef g(): ...", []),
    ],
)
def test_a_line_is_changed_in_these_ways(mutate, line, after):
    assert [text for _, text in changes(mutate, f"{line}\n")] == after


def test_a_change_that_does_nothing_or_does_not_compile_is_no_mutant(mutate):
    assert [text for _, text in changes(mutate, "a = -0\n")] == ["a = -1", "a = -(-1)"]
    cases = changes(mutate, "match a:\n    case -1:\n        b()\n")
    assert [text for _, text in cases] == ["case -2:", "case -0:", "pass"]
    assert changes(mutate, "def f(a):\n    a.b = a\n    g(a, *a)\n") == [("dropped statement", "pass")]


def test_the_same_seed_picks_the_same_mutants_and_another_picks_others(mutate, root):
    tree = mutate.Tree(root)
    picked = tree.picked(["sums"], 5, 1)
    assert picked == mutate.Tree(root).picked(["sums"], 5, 1)
    assert {one.key for one in picked} != {one.key for one in tree.picked(["sums"], 5, 2)}
    assert len({(one.line, one.column) for one in picked}) == 5


def test_mutants_of_other_results_are_met_again_where_lines_have_moved(mutate, root):
    picked = [mutate.asdict(one) for one in mutate.Tree(root).picked(["sums"], 5, 1)]
    (root / "src/made/sums.py").write_text(f"\n\n{SOURCE}", encoding="utf-8")
    again = mutate.Tree(root).again(picked)
    assert [(one.line - 2, one.mutation) for one in again] == [(one["line"], one["mutation"]) for one in picked]


@pytest.fixture
def call(mutate, root, capfd, monkeypatch):
    """Calls the command for the package above; returns what it printed."""
    plain(monkeypatch)

    def go(*words):
        assert mutate.main(["--root", str(root), *words]) == 0
        return capfd.readouterr().out

    return go


def test_mutants_are_killed_or_survive_and_no_mutant_runs_twice(mutate, root, call, tmp_path):
    file, results = root / ".mutants" / "results.jsonl", {}

    def outcomes():
        lines = [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]
        results.update({one["mutation"]: one for one in lines})
        return [(one["mutation"], one["outcome"], one["ran"]) for one in lines]

    # the first survives, since no number is 3; no test that is near notices the last
    for line in (18, 24):
        call("run", "--place", f"src/made/sums.py:{line}")
    compared = [("comparison < to <=", "survived", 2), ("comparison < to >=", "killed", 1)]
    shift = ("operator + to -", "killed", 2)
    assert outcomes() == [*compared, shift]
    assert results["comparison < to >="]["by"].startswith("tests/unit/test_sums.py::test_")
    shifted = results["operator + to -"]
    assert (shifted["by"], shifted["stage"]) == ("tests/whole/test_elsewhere.py::test_elsewhere", "covering")

    # interrupted while the last was written
    text = file.read_text()
    file.write_text(text[:-30])
    assert "1 of 1 mutants are left to run" in call("run", "--place", "src/made/sums.py:24")
    assert outcomes() == [*compared, shift]
    assert "0 of 1 mutants are left to run" in call("run", "--place", "src/made/sums.py:24")
    assert (root / "src/made/sums.py").read_text() == SOURCE

    survivor = "`src/made/sums.py:18` (comparison < to <=): `if number < LEAST:` became `if number <= LEAST:`"
    shown = call("table")
    assert "| sums | 3 | 2 | 1 | 0 |" in shown
    assert f"- {survivor}; all 2 tests that execute it passed" in shown
    earlier = tmp_path / "earlier.jsonl"
    earlier.write_text(json.dumps({**results["comparison < to <="], "outcome": "killed", "by": "test_gone"}) + "\n")
    assert "Killed there and alive here:\n\nnone\n" in call("table", "--against", str(file))
    assert f"{survivor}; all 2 tests that execute it passed; killed there by `test_gone`" in call(
        "table", "--against", str(earlier)
    )


def test_what_is_compiled_meets_all_tests_of_its_module(mutate, root):
    """No tracer sees machine code run."""
    plain, compiled = SOURCE.encode(), SOURCE.replace("def doubled", "@njit()\ndef doubled").encode()
    assert mutate._lines_in_functions(plain, mutate.COMPILED) == set()
    assert mutate._lines_in_functions(compiled, mutate.COMPILED) == {18, 19, 20, 21}
    covering = {}
    for line, source in ((18, plain), (19, compiled)):
        (root / "src/made/sums.py").write_bytes(source)
        digests = json.loads((root / ".mutants/map/tests.json").read_text(encoding="utf-8"))
        digests["digests"]["src/made/sums.py"] = mutate.hashlib.sha256(source).hexdigest()
        (root / ".mutants/map/tests.json").write_text(json.dumps(digests), encoding="utf-8")
        tree = mutate.Tree(root)
        one = next(each for each in mutate.mutants_of("src/made/sums.py", source) if each.line == line)
        covering[line] = mutate.Map(root / ".mutants/map", tree).covering(one)
    assert len(covering[18]) == 2
    assert len(covering[19]) == 4  # all of its own file


def test_a_map_is_of_all_tests(mutate, root):
    others = (root / "conftest.py", root / "papers" / "tests" / "test_figures.py")
    others[1].parent.mkdir(parents=True)
    before = mutate.Tree(root).tests
    for path in others:
        path.write_text("from made import sums\n")
    tree = mutate.Tree(root)
    assert set(tree.tests) - set(before) == {*others}
    assert {"conftest.py", "papers/tests/test_figures.py"} <= set(tree.importers("src/made/sums.py"))


def test_a_test_that_fails_without_a_mutant_kills_none(mutate, root, call):
    (root / "tests/whole/test_elsewhere.py").write_text(OTHER.replace("== 4", "== 7"))
    printed = call("run", "--place", "src/made/sums.py:24")
    assert "left out, since it fails in a copy without a mutant: tests/whole/test_elsewhere.py::test_els" in printed
    assert "killed" not in printed


def test_a_test_that_fails_without_a_mutant_is_left_out_of_whole_files_too(mutate, root, call):
    (root / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--everything', action='store_true')\n"
    )
    (root / "tests/whole/test_elsewhere.py").write_text(
        f"{OTHER.replace('== 4', '== 7')}\n\ndef test_more():\n    assert made.shifted(1) != 7\n"
    )
    printed = call("run", "--place", "src/made/sums.py:24", "--all")
    assert printed.count("left out, since it fails in a copy without a mutant") == 1
    assert "survived" in printed


def test_a_mutant_that_hangs_is_killed_by_its_time(mutate, root, call, tmp_path, monkeypatch):
    monkeypatch.setattr(mutate, "HANGS_AFTER", 4)
    found = mutate.mutants_of("src/made/sums.py", SOURCE.encode())
    one = next(each for each in found if each.after == "time.sleep(1 * number)")
    (tmp_path / "others.jsonl").write_text(json.dumps(mutate.asdict(one)) + "\n")
    assert "1 of 1 mutants are left to run" in call("run", "--again", str(tmp_path / "others.jsonl"))
    (result,) = mutate.read_results(root / ".mutants" / "results.jsonl")
    assert (result["outcome"], result["by"]) == ("timeout", "tests/unit/test_sums.py::test_paused")
