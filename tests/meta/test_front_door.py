"""The front door is sorted, complete and inert."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ogive

ROOT = Path(__file__).parents[2]


def test_exports_are_sorted_and_exist():
    assert sorted(ogive.__all__) == ogive.__all__ == dir(ogive)
    missing = [name for name in ogive.__all__ if not hasattr(ogive, name)]
    assert not missing


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = ogive.no_such_name


STUB = (Path(ogive.__file__).parent / "__init__.pyi").read_text(encoding="utf-8")
PARTS = re.findall(r"^from \. import (\w+)", STUB, re.MULTILINE)


def test_parts_with_names_of_their_own_load_when_they_are_used():
    code = (
        f"import sys, types, ogive; parts = {PARTS!r}\n"
        "print([name for name in parts if f'ogive.{name}' in sys.modules])\n"
        "print([name for name in parts if not isinstance(getattr(ogive, name), types.ModuleType)])\n"
        "print(ogive.pate.label.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["[]", "[]", "label"]


def test_the_parts_that_the_manual_imports_are_among_them():
    manual = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    named = {part for page in manual for part in re.findall(r"^from ogive\.(\w+)", page.read_text(), re.MULTILINE)}
    assert "pate" in named
    assert named <= {*PARTS}


def test_import_is_quick_and_loads_nothing_heavy():
    heavy = ("numba", "scipy", "ibis", "duckdb", "matplotlib", "pandas", "polars")
    code = f"import sys, ogive; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_import_prints_nothing_and_reads_no_arguments():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import ogive, ogive.errors", "--nonsense"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == ""
    assert done.stderr == ""


def test_no_public_name_is_hidden_by_a_module_of_the_same_name():
    code = (
        f"import pkgutil, types, importlib, ogive; parts = {PARTS!r}\n"
        "for part in pkgutil.walk_packages(ogive.__path__, 'ogive.'):\n"
        "    importlib.import_module(part.name)\n"
        "names = [name for name in ogive.__all__ if name not in parts]\n"
        "print([name for name in names if isinstance(getattr(ogive, name), types.ModuleType)])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "[]"
