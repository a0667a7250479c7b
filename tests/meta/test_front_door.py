"""The front door is sorted, complete and inert."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.waiting import PATIENCE

import ogive
from ogive.statistics.kinds import ALIASES, COMMANDED

ROOT = Path(__file__).parents[2]


def test_exports_are_sorted_and_exist():
    assert sorted(ogive.__all__) == ogive.__all__
    assert set(dir(ogive)) == {*ogive.__all__, "__version__"}
    missing = [name for name in ogive.__all__ if not hasattr(ogive, name)]
    assert not missing


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match=r"no_such_name'$"):
        _ = ogive.no_such_name


@pytest.mark.parametrize("name", ALIASES | {kind.command: kind.name for kind in COMMANDED.values()})
def test_the_name_of_a_command_or_statistic_is_that_of_its_function_too(name):
    assert getattr(ogive, name) is getattr(ogive, COMMANDED[ALIASES.get(name, name)].function)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("median", "quantiles"),
        ("quartiles", "quantiles"),
        ("table1", "describe"),
        ("table_one", "describe"),
        ("auc", "roc"),
        ("km", "survival"),
        ("KaplanMeier", "survival"),
    ],
)
def test_names_that_people_try_lead_to_what_releases_it(name, function):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; {function} releases "):
        getattr(ogive, name)


def test_other_names_lead_to_one_statistic_and_are_no_names_of_others():
    words = [word for kind in COMMANDED.values() for word in kind.words.split()]
    assert len(words) == len(set(words))
    assert not set(words) & {*COMMANDED, *ALIASES}


def stubs():
    """Of each package with a stub its name and the lines of the stub."""
    root = Path(ogive.__file__).parent
    for path in sorted(root.rglob("__init__.pyi")):
        parts = ("ogive", *path.parent.relative_to(root).parts)
        yield (
            ".".join(parts),
            [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("from")],
        )


@pytest.mark.parametrize(("package", "lines"), list(stubs()), ids=lambda each: each if isinstance(each, str) else "")
def test_every_line_of_a_stub_is_a_name_that_loads(package, lines):
    module = importlib.import_module(package)
    for line in lines:
        place, name = re.fullmatch(r"from \.([\w.]*) import (\w+) as \2", line).groups()
        held = importlib.import_module(f"{package}.{place or name}")
        assert hasattr(module, name)
        assert not place or hasattr(held, name)
    assert len(module.__all__) == len(lines)
    assert set(module.__all__) <= set(dir(module))


STUB = (Path(ogive.__file__).parent / "__init__.pyi").read_text(encoding="utf-8")
PARTS = re.findall(r"^from \. import (\w+)", STUB, re.MULTILINE)


def test_parts_with_names_of_their_own_load_when_they_are_used():
    code = (
        f"import sys, types, ogive; parts = {PARTS!r}\n"
        "print([name for name in parts if f'ogive.{name}' in sys.modules])\n"
        "print([name for name in parts if not isinstance(getattr(ogive, name), types.ModuleType)])\n"
        "print(ogive.pate.label.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.split() == ["[]", "[]", "label"]


def test_the_parts_that_the_manual_imports_are_among_them():
    manual = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    # what goes into the package itself is written as py, and imports what it needs
    texts = [re.sub(r"^```py\n.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL) for page in manual]
    named = {part for text in texts for part in re.findall(r"^from ogive\.(\w+)", text, re.MULTILINE)}
    assert "pate" in named
    assert named <= {*PARTS}


def test_import_is_quick_and_loads_nothing_heavy():
    heavy = ("numba", "scipy", "ibis", "duckdb", "matplotlib", "pandas", "polars")
    code = f"import sys, ogive; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.strip() == "[]"


def test_import_prints_nothing_and_reads_no_arguments():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import ogive, ogive.errors", "--nonsense"],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert done.stdout == ""
    assert done.stderr == ""


def test_no_public_name_is_hidden_by_a_module_of_the_same_name():
    code = (
        f"import pkgutil, types, importlib, ogive; parts = {PARTS!r}\n"
        "names = [name for name in ogive.__all__ if name not in parts]\n"
        # an import sets one name, its own, in the package right above
        "for part in pkgutil.iter_modules(ogive.__path__):\n"
        "    if part.name in names: importlib.import_module(f'ogive.{part.name}')\n"
        "print([name for name in names if isinstance(getattr(ogive, name), types.ModuleType)])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def front_door(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("front_door")


def test_stubs_have_every_name_of_the_lists(front_door):
    package = Path(ogive.__file__).parent
    for name, names in front_door.names_of(str(package)).items():
        stub = (package / name).read_text(encoding="utf-8")
        assert front_door.completed(stub, names) == stub, "run make stubs"
        line = re.search(rf"^from \S+ import {list(names)[-1]} as .*\n", stub, re.MULTILINE)[0]
        assert f" import {list(names)[-1]} as " in front_door.completed(stub.replace(line, ""), names)


def test_the_signatures_of_functions_and_verbs_are_those_of_the_questions(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    tool = importlib.import_module("front_door")
    for name in ("functions", "verbs"):
        stub = (Path(ogive.__file__).parent / "releasing" / f"{name}.pyi").read_text(encoding="utf-8")
        assert stub == tool.signatures(verbs=name == "verbs"), "run `make stubs`"
        assert all(f"def {kind.function}(" in stub for kind in COMMANDED.values())
