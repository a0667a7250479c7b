"""The budget of the package: lines, files, rooms, and how many files and functions a call runs.

What shrinks is entered here, so that it does not grow again. A new capability pays for what it adds by what it shares.
"""

import ast
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.sources import nodes, parsed
from helpers.waiting import PATIENCE

import ogive

SOURCE = Path(ogive.__file__).parent
ROOT = Path(__file__).parents[2]

MOST_LINES, MOST_FILES = 120_800, 380
MOST_ROOMS, MOST_FLOORS = 30, 16
MOST_IMPORTS = 0.091
"""Lines of imports as a share of the lines of code."""
SMALL, MOST_SMALL = 150, 8
"""Lines of a file that belongs to its one reader unless it is an idea of its own, and how many such files there are."""
MOST_RUN = {
    "ecdf": (27, 216),
    "Session.ecdf, ledger in a file": (39, 391),
    "Session.ecdf, asked again": (29, 154),
    "ogive mean FILE": (45, 405),
    "release under SecAgg": (38, 391),
    "release under Servers": (44, 520),
}
"""Files and functions that a warm call runs, as `tools/hops.py` counts them."""


@pytest.fixture
def structure(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("house_structure")


def texts_of(root):
    """The text of every file of a package."""
    return {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}


def import_share(texts, structure):
    """Lines of import statements as a share of all lines of code."""
    imports = [node for text in texts for node in nodes(parsed(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    return sum(node.end_lineno - node.lineno + 1 for node in imports) / sum(
        structure.line_figures(text)["code"] for text in texts
    )


def small_with_one_reader(root, structure):
    """Modules of fewer than `SMALL` lines that one other module imports; the stub of their own folder is no reader."""
    readers = {}
    for one in structure.imports_of(root):
        if one.source != root.name and not one.target.startswith(f"{one.source}."):
            readers.setdefault(one.target, set()).add(one.source)
    files = {module: path for module, path in structure.modules_of(root).items() if path.name != "__init__.py"}
    texts = {module: path.read_text(encoding="utf-8") for module, path in files.items()}
    return sorted(
        module for module, text in texts.items() if len(text.splitlines()) < SMALL and len(readers.get(module, ())) == 1
    )


def test_the_package_has_no_more_lines_and_files_than_its_budget(structure):
    texts = texts_of(SOURCE)
    lines = sum(len(text.splitlines()) for text in texts.values())
    assert len(texts) <= MOST_FILES
    assert lines <= MOST_LINES
    assert lines > 0.9 * MOST_LINES, "enter the new number, so that it does not grow again"
    assert import_share(texts.values(), structure) <= MOST_IMPORTS


def test_rooms_and_floors_are_few(structure):
    rooms = {structure.room(module) for module in structure.modules_of(SOURCE)} - {"ogive", "ogive.__main__"}
    assert len(rooms) <= MOST_ROOMS
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = re.search(r"^```text\n(cli\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert 1 < len(picture[1].splitlines()) <= MOST_FLOORS


def test_few_small_files_have_one_reader(structure):
    found = small_with_one_reader(SOURCE, structure)
    assert len(found) <= MOST_SMALL, "\n".join(found)


def test_a_small_file_with_one_reader_is_counted(structure, tmp_path):
    """The control."""
    root = tmp_path / "made"
    root.mkdir()
    for name, text in {
        "__init__": "", "alone": "from made import helper\n", "helper": "", "one": "from made import shared\n",
        "two": "from made import shared\n", "shared": "", "large": "\n" * SMALL, "reader": "from made import large\n",
    }.items():  # fmt: skip
        (root / f"{name}.py").write_text(text, encoding="utf-8")
    assert small_with_one_reader(root, structure) == ["made.helper"]


def test_lines_of_imports_are_counted(structure):
    """The control."""
    texts = ["import a\nfrom b import (\n    c,\n    d,\n)\nx = 1\ny = 2\n", '"""Text."""\nz = 3\n']
    assert import_share(texts, structure) == pytest.approx(5 / 8)


@pytest.fixture(scope="module")
def calls():
    """What warm calls run, by name; in a process of its own, which is measured from its first import on."""
    program = "import json, hops\nprint('\\n' + json.dumps(hops.measure_calls()))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT / "tools", capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", MOST_RUN)
def test_a_call_runs_no_more_files_and_functions_than_its_budget(calls, name):
    files, functions = MOST_RUN[name]
    assert calls[name]["files"] <= files
    assert calls[name]["functions"] <= functions
