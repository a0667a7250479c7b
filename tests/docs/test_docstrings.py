"""Examples in docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import ogive

MODULES = sorted(part.name for part in pkgutil.walk_packages(ogive.__path__, "ogive.") if not part.ispkg)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_some_docstrings_have_examples():
    found = doctest.DocTestFinder(exclude_empty=True)
    examples = [test for name in MODULES for test in found.find(importlib.import_module(name)) if test.examples]
    assert len(examples) >= 2
