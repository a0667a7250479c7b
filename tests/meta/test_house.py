"""The figures of `benchmarks/house.py` and `tools/hops.py` on small packages whose figures are known."""

import importlib
import sys
from pathlib import Path

import pytest

import ogive

ROOT = Path(__file__).parents[2]


@pytest.fixture
def house(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("house")


@pytest.fixture
def hops(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("hops")


@pytest.fixture
def structure(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("house_structure")


@pytest.fixture
def made(tmp_path):
    """What writes a package, its files by their paths, and returns its folder; forgotten afterwards."""

    def write(**files):
        root = tmp_path / "made"
        for name, text in {"__init__": "", **files}.items():
            path = root / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return root

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "made"]:
        del sys.modules[name]


LAZY = {
    "inner": "def f():\n    from made.outer import g\n    return g\n",
    "outer": "from made import inner\ndef g():\n    return inner\n",
}
TYPED = {
    "estimate": "from made.text import told\n",
    "text": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from made.estimate import Estimate\ndef told(): ...\n"
    ),
}
STRAIGHT = {"high": "from made.low import f\n", "low": "def f():\n    import json\n    return json\n"}


def circles(structure, root):
    return structure.circles((one.source, one.target) for one in structure.imports_of(root) if one.when != "by name")


# --- circles ---


@pytest.mark.parametrize(("files", "members"), [(LAZY, ["inner", "outer"]), (TYPED, ["estimate", "text"])])
def test_a_circle_that_closes_late_is_found(structure, made, files, members):
    assert circles(structure, made(**STRAIGHT, **files)) == [[f"made.{name}" for name in members]]


def test_there_is_no_circle_where_imports_go_one_way(structure, made):
    root = made(**STRAIGHT)
    assert [(one.source, one.target) for one in structure.imports_of(root)] == [("made.high", "made.low")]
    assert circles(structure, root) == []


def test_what_closes_a_circle_is_told_by_file_and_line(structure, made):
    imports = structure.imports_of(made(**LAZY, **TYPED))
    closing = structure.closing(["made.inner", "made.outer"], imports)
    assert [(one.place, one.target, one.when) for one in closing] == [("inner.py:2", "made.outer", "in a function")]
    closing = structure.closing(["made.estimate", "made.text"], imports)
    assert [(one.place, one.target, one.when) for one in closing] == [("text.py:3", "made.estimate", "for types")]


def test_two_circles_that_share_a_module_are_one_and_two_apart_are_two(structure):
    assert structure.circles(["ab", "ba", "bc", "cb", "xy", "yx", "cx"]) == [["a", "b", "c"], ["x", "y"]]
    assert structure.circles(["ab", "bc", "ac"]) == []


def test_an_import_goes_to_the_submodule_that_it_names_and_else_to_the_package(structure, made):
    root = made(
        **{"room/__init__": "from .leaf import f\n", "room/leaf": "def f(): ...\n"},
        by_leaf="from made.room import leaf\n",
        by_name="from made.room import f\n",
        by_path="import made.room.leaf\n",
    )
    found = {one.source: one.target for one in structure.imports_of(root)}
    assert found == {
        "made.room": "made.room.leaf",
        "made.by_leaf": "made.room.leaf",
        "made.by_name": "made.room",
        "made.by_path": "made.room.leaf",
    }


def test_the_front_door_is_in_no_circle(structure, made):
    door = {"__init__": "from made.part import f\n", "part": "def f():\n    from made import f\n"}
    assert structure.imports_of(made(**door)) == []


def test_texts_that_name_modules_are_imports_by_name(structure, made):
    root = made(list='PLACES = ("made.part:f", "made.nothing:f", "some.text")\n', part="from made import list\n")
    assert [(one.target, one.when) for one in structure.imports_of(root)] == [
        ("made.part", "by name"),
        ("made.list", "at once"),
    ]
    table, _ = structure.measure_circles(root)
    assert table["circles, all imports"]["count"] == 0
    assert table["circles, with modules named in texts"] == {"count": 1, "modules": 2, "largest": 2}


def test_folders_that_import_each_other_are_pairs_though_no_modules_do(structure, made):
    files = {
        "left/a": "from made.right import c\n",
        "left/b": "",
        "right/c": "",
        "right/d": "from made.left import b\n",
        "right/inner/e": "from made.right import c\n",
        "right/f": "from made.right.inner import e\n",
    }
    table, lines = structure.measure_circles(made(**files))
    assert table["circles, all imports"]["count"] == 0
    assert table["pairs of rooms"] == {"count": 1}
    assert table["pairs of folders, beside each other"] == {"count": 1}
    assert table["pairs of folders, one inside the other"] == {"count": 1}
    assert "pair of folders: made.left and made.right" in lines
    assert "    left/a.py:1 imports made.right.c (at once)" in lines


# --- calls ---

FIRST = """
import functools
import threading
from . import second

def direct():
    return second.leaf() + near()

def near():
    return 1

def through_a_library():
    return sorted([2, 1], key=second.leaf_of)

def over_a_generator():
    return sum(second.numbers())

def in_a_comprehension():
    return [second.leaf() for _ in range(3)]

def in_a_thread():
    thread = threading.Thread(target=second.leaf)
    thread.start()
    thread.join()
"""
SECOND = """
def leaf():
    return 1

def leaf_of(_):
    return leaf()

def numbers():
    yield 1
    yield 2
    yield 3
"""


@pytest.mark.parametrize(
    ("name", "files", "functions", "calls", "across"),
    [
        ("direct", 2, 3, 2, 1),
        ("near", 1, 1, 0, 0),
        ("through_a_library", 2, 3, 4, 2),  # leaf_of twice across, each of which calls leaf
        ("over_a_generator", 2, 2, 1, 1),  # though resumed four times
        ("in_a_comprehension", 2, 2, 3, 3),
        ("in_a_thread", 2, 2, 0, 0),  # run, but called by none of the package
    ],
)
def test_calls_of_a_tiny_package_are_counted(hops, made, monkeypatch, name, files, functions, calls, across):
    root = made(first=FIRST, second=SECOND)
    monkeypatch.syspath_prepend(str(root.parent))
    first = importlib.import_module("made.first")
    found = hops.calls_of(getattr(first, name), root)
    assert hops.call_figures(found) == {
        "files": files,
        "functions": functions,
        "calls": calls,
        "across files": across,
    }
    assert hops.calls_of(lambda: None, root) == []


def test_the_hook_is_gone_when_the_work_fails(hops, tmp_path):
    earlier = sys.getprofile()
    with pytest.raises(ZeroDivisionError):
        hops.calls_of(lambda: 1 / 0, tmp_path)
    assert sys.getprofile() is earlier


# --- features ---

FEATURED = {
    "__init__": '__all__ = ["Mean"]\n',
    "statistics/mean": "class Mean: ...\nfrom made.statistics.means_only import half\n",
    "statistics/means_only": "half = 0.5\n",
    "statistics/both": "",
    "statistics/median": "from made.statistics import both\nclass Median: ...\n",
    "report/mean": "from made.statistics import both\n",
    "lists": "from made.statistics.mean import Mean\nfrom made.statistics.median import Median\n",
    "command": 'def run(weights=None):\n    return "mean", run(weights=weights)\n',
    "schema": 'SCHEMA = "made.mean/1"\n',
    "demo/table": "from made.statistics.mean import Mean\n",
    "demo/mean": "",
    "apart": '"""Mean, mean."""\n',
}


def test_files_of_a_feature_are_told_from_those_that_it_touches(structure, made):
    root = made(**FEATURED)
    modules = {name: path.relative_to(root).as_posix() for name, path in structure.modules_of(root).items()}
    words = {file: structure.words_of(file, (root / file).read_text(encoding="utf-8")) for file in modules.values()}
    imports = [(modules[one.source], modules[one.target]) for one in structure.imports_of(root)]
    mean = structure.Feature(("mean",), ("Mean",), ("mean", "made.mean"))
    own = structure.own_files(mean, words, imports)
    assert own == {"statistics/mean.py", "statistics/means_only.py", "report/mean.py"}
    assert structure.touched(mean, own, words, imports) == {"__init__.py", "lists.py", "command.py", "schema.py"}
    listed = structure.Feature((), ("Median",), files=("statistics",))
    assert structure.own_files(listed, words, imports) == {file for file in words if file.startswith("statistics/")}
    without = structure.Feature(("mean",), (), without=("report",))
    assert "report/mean.py" not in structure.own_files(without, words, imports)


def test_an_option_is_counted_where_it_is_declared_handed_on_and_used(structure):
    words = structure.words_of("command.py", FEATURED["command"])
    assert words.figures("weights") == {"declared": 1, "handed on": 1, "used": 1}
    assert words.figures("mean") == {"declared": 0, "handed on": 0, "used": 1}
    field = structure.words_of(
        "a.py", 'class A:\n    """weights"""\n    weights: int\n    def f(self):\n        self.weights\n'
    )
    assert field.figures("weights") == {"declared": 1, "handed on": 0, "used": 1}


@pytest.mark.everything
def test_every_feature_and_option_of_the_table_is_found_in_the_package(structure):
    table, _ = structure.measure_features()
    features = structure.STATISTICS | structure.TRUST_MODELS
    assert set(table) == {*features, *(f"option {name}" for name in structure.OPTIONS)}
    for name, figures in table.items():
        assert figures["touched files"] > 0, name
        assert figures.get("own files", 1) > 0, name
    for option in structure.OPTIONS:
        assert table[f"option {option}"]["declaring files"] > 0, option
    for name, feature in features.items():
        for place in feature.files:
            assert any((structure.SOURCE / f"{place}{end}").exists() for end in ("", ".py")), f"{name}: {place}"
    for name in set(features) - {"Labels"}:
        assert name in ogive.__all__, name


# --- lines ---

LINES = '''"""What it is.

Two paragraphs.
"""

import os  # code with a comment

# a comment
NAME = """text
of two lines"""
"""What the name means."""


def f():
    """Do it."""

    return os
'''


def test_lines_are_told_apart(structure):
    assert structure.line_figures(LINES) == {"code": 5, "documentation": 7, "blank": 5}
    assert structure.line_figures("") == {"code": 0, "documentation": 0, "blank": 0}
    assert structure.page_figures("# Title\n\nText.\n") == {"code": 0, "documentation": 2, "blank": 1}


def test_lines_are_added_up_by_room(structure, tmp_path):
    for place in (
        "src/made/room/a.py",
        "src/made/room/deep/b.py",
        "src/made/c.py",
        "tests/unit/test_a.py",
        "docs/d.md",
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("x = 1\n\n", encoding="utf-8")
    table = structure.measure_lines(tmp_path)
    assert {name: figures["files"] for name, figures in table.items()} == {
        "src, all": 3,
        "src/room": 2,
        "src/c.py": 1,
        "tests, all": 1,
        "tests/unit": 1,
        "docs, all": 1,
    }
    assert table["src/room"] == {"files": 2, "code": 2, "documentation": 0, "blank": 2, "under 70": 2, "over 500": 0}


# --- imports and the table ---


def test_modules_are_those_of_a_fresh_process(house, tmp_path):
    bare, _ = house.processed("pass", tmp_path)
    loaded, seconds = house.processed("import wsgiref.util", tmp_path)
    assert "wsgiref.util" in loaded
    assert "wsgiref.util" not in bare
    assert not {module for module in bare if module.partition(".")[0] == "ogive"}
    assert seconds > 0


def test_a_process_that_fails_is_no_figure(house, tmp_path):
    with pytest.raises(RuntimeError, match="no module of this name"):
        house.processed("raise ImportError('no module of this name')", tmp_path)


def test_figures_of_before_stand_beside_those_of_now(house):
    now = {"circles": {"all": {"count": 0}, "fresh": {"count": 2}}}
    before = {"circles": {"all": {"count": 16}, "gone": {"count": 3}}}
    assert house.report(now) == "circles  count\nall          0\nfresh        2"
    assert [line.split() for line in house.report(now, before).splitlines()] == [
        ["circles", "count", "now"],
        ["all", "16", "0"],
        ["fresh", "2"],
        ["gone", "3"],
    ]
