"""Examples in docstrings run."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import ogive

ROOT = Path(ogive.__file__).parent


def module_of(path):
    """The name of the module in a file of the package."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


WITH_EXAMPLES = sorted(module_of(path) for path in ROOT.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings_hold(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


def test_every_module_can_be_imported_and_no_other_has_examples():
    found = doctest.DocTestFinder(exclude_empty=True)
    names = sorted(part.name for part in pkgutil.walk_packages(ogive.__path__, "ogive."))
    with_examples = [name for name in names if any(test.examples for test in found.find(importlib.import_module(name)))]
    assert with_examples == WITH_EXAMPLES
    assert len(with_examples) >= 2
