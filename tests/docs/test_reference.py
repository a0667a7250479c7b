"""Every public name has its entry in the reference, which is made of docstrings."""

import importlib
import inspect
import re
import types
from functools import cache
from pathlib import Path

import ogive

REFERENCE = Path(__file__).parents[2] / "docs" / "api"
DIRECTIVE = re.compile(r"^\.\. (?:auto|py:)(\w+):: ([\w.]+)\n((?:   .*\n)*)", re.MULTILINE)
PARTS = [name for name in ogive.__all__ if isinstance(getattr(ogive, name), types.ModuleType)]


def found(path):
    """What a dotted name stands for."""
    names = path.split(".")
    for count in range(len(names), 0, -1):
        try:
            value = importlib.import_module(".".join(names[:count]))
        except ModuleNotFoundError:
            continue
        for name in names[count:]:
            value = getattr(value, name)
        return value
    raise ModuleNotFoundError(path)


def documented(text):
    """The dotted names that a page documents; those of a module's classes and functions follow from its own list."""
    names = set()
    for kind, path, options in DIRECTIVE.findall(text):
        thing = found(path)
        if kind != "module":
            names.add(path)
            continue
        hidden = re.search(r":exclude-members: (.*)", options)
        left_out = set(hidden[1].split(", ")) if hidden else set()
        members = {name: getattr(thing, name) for name in thing.__all__ if name not in left_out}
        names |= {
            f"{path}.{name}" for name, value in members.items() if inspect.isclass(value) or inspect.isroutine(value)
        }
    return names


@cache
def reference():
    return documented("\n".join(page.read_text() for page in sorted(REFERENCE.glob("*.md"))))


def missing(names):
    """Public names without an entry, whichever of their paths it stands under."""
    things = [found(path) for path in names]
    wanted = [f"ogive.{name}" for name in ogive.__all__ if name not in PARTS]
    wanted += [f"ogive.{part}.{name}" for part in PARTS for name in getattr(getattr(ogive, part), "__all__", ())]
    return [path for path in wanted if path not in names and not any(found(path) is thing for thing in things)]


def test_every_public_name_is_in_the_reference():
    assert not missing(reference()), "add an entry to a page of docs/api"


def test_a_name_without_an_entry_is_noticed():
    known = missing(reference())
    assert sorted(missing(reference() - {"ogive.ecdf"})) == sorted([*known, "ogive.ecdf"])
    assert sorted(missing(reference() - {"ogive.kernels.KERNELS"})) == sorted([*known, "ogive.kernels.KERNELS"])


def test_every_entry_has_a_docstring_of_its_own():
    for path in reference():
        thing = found(path)
        if inspect.isclass(thing) or inspect.isroutine(thing):
            assert inspect.getdoc(thing), path


def test_the_number_of_parts_and_entries_is_not_small():
    assert len(PARTS) >= 15
    assert len(reference()) >= 250
