"""Every class that loads a room beside it finds that room, and in it what it asks for."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.sources import nodes, parsed

import ogive
from ogive.core.rooms import room

ROOT = Path(ogive.__file__).parent


class Asked(NamedTuple):
    """One use of `room`: where it stands, the class that asks, the room's name and what is wanted of it."""

    place: str
    owner: str
    room: str
    attribute: str | None


def uses(root: Path, package: str) -> list[Asked]:
    """All uses of `room` by a class, for itself: `room(Class, "text").lines`, or with `type(self)` or `cls`.

    Raises:
        AssertionError: `room` is used in another form, so that what it asks for cannot be read.
    """
    found = []
    for path in sorted(root.rglob("*.py")):
        module = ".".join((package, *path.relative_to(root).with_suffix("").parts))
        text = path.read_text(encoding="utf-8")
        if "room" not in text:
            continue
        tree = parsed(text)
        read = {id(node.value): node.attr for node in nodes(tree) if isinstance(node, ast.Attribute)}
        for node in tree.body:
            for call in nodes(node):
                if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "room"):
                    continue
                place, (owner, name) = f"{module}:{call.lineno}", call.args
                assert isinstance(name, ast.Constant), f"{place}: write the room's name as a string"
                assert isinstance(node, ast.ClassDef), f"{place}: a class asks for its rooms itself"
                own = (node.name, "type(self)", "cls")
                assert ast.unparse(owner) in own, f"{place}: name {', '.join(own)}"
                found.append(Asked(place, f"{module}:{node.name}", name.value, read.get(id(call))))
    return found


def finished(asked: str) -> list[type]:
    """A class, or, where others derive from it, those in the same package that are derived from no further."""
    module, _, name = asked.partition(":")
    package, classes = module.split(".")[0], [getattr(importlib.import_module(module), name)]
    for each in classes:
        classes += [derived for derived in each.__subclasses__() if derived.__module__.split(".")[0] == package]
    return [each for each in classes if not any(other is not each and issubclass(other, each) for other in classes)]


def missing(asked: list[Asked]) -> list[str]:
    """Uses whose room does not exist, or lacks what is wanted of it."""
    found = []
    for each in asked:
        for owner in finished(each.owner):
            try:
                module = room(owner, each.room)
            except ModuleNotFoundError as error:
                found.append(f"{each.place}: there is no {error.name}")
                continue
            if each.attribute is not None and not hasattr(module, each.attribute):
                found.append(f"{each.place}: {module.__name__} has no {each.attribute}")
    return found


def test_every_class_has_the_rooms_that_it_asks_for():
    asked = uses(ROOT, "ogive")
    for name in sorted({path.parent.name for path in (ROOT / "statistics").glob("*/estimate.py")}):
        importlib.import_module(f"ogive.statistics.{name}.estimate")
    assert {each.room for each in asked} >= {"text", "view"}
    assert missing(asked) == []


def test_the_walk_sees_a_room_that_is_missing_and_one_that_lacks_a_function(tmp_path, monkeypatch):
    package = tmp_path / "made_for_rooms"
    for folder in ("", "curve", "bare"):
        (package / folder).mkdir(exist_ok=True)
        (package / folder / "__init__.py").touch()
    (package / "curve" / "text.py").write_text("def table(of): return str(of)\n")
    (package / "bare" / "text.py").touch()
    (package / "base.py").write_text(
        "from ogive.core.rooms import room\n"
        "class Estimate:\n"
        "    def __str__(self): return room(type(self), 'text').table(self)\n"
        "    def page(self): return getattr(room(type(self), 'text'), 'html', None)\n"
    )
    for name in ("curve", "bare"):
        (package / name / "estimate.py").write_text(
            "from made_for_rooms.base import Estimate\n"
            "from ogive.core.rooms import room\n"
            f"class {name.capitalize()}(Estimate):\n"
            f"    def plot(self): return room({name.capitalize()}, 'plot').draw(self)\n"
        )
    (package / "curve" / "plot.py").write_text("def draw(of): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("curve", "bare"):
        importlib.import_module(f"made_for_rooms.{name}.estimate")
    assert missing(uses(package, "made_for_rooms")) == [
        "made_for_rooms.bare.estimate:4: there is no made_for_rooms.bare.plot",
        "made_for_rooms.base:3: made_for_rooms.bare.text has no table",
    ]


def test_a_room_is_a_module_in_the_folder_of_the_class():
    from ogive.local.base import Oracle

    assert room(Oracle, "description").__name__ == "ogive.local.description"


def same_names(root, name):
    """Public names that are also the names of the modules that hold them, as 'package name'."""
    found = []
    for stub in sorted(root.rglob("__init__.pyi")):
        package = ".".join((name, *stub.parent.relative_to(root).parts))
        for line in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(line, ast.ImportFrom) and line.level == 1 and line.module:
                found += [f"{package} {name.name}" for name in line.names if name.name == line.module.partition(".")[0]]
    return found


LOOK = """
import sys
from importlib import import_module
for line in sys.stdin.read().splitlines():
    package, name = line.split()
    if sys.argv[1] == "name first":
        getattr(import_module(package), name)
    module = import_module(f"{package}.{name}")
    if getattr(import_module(package), name) is module:
        print(line)
"""


@pytest.mark.parametrize("order", ["name first", "module first"])
def test_a_public_name_is_not_hidden_by_the_module_of_its_name(order, tmp_path):
    front = tmp_path / "made_front"
    front.mkdir()
    (front / "__init__.pyi").write_text("from .statement import statement as statement\n")
    (front / "__init__.py").write_text(
        "from ogive.core.rooms import front\n__getattr__, __dir__, __all__ = front(__name__, __file__)\n"
    )
    (front / "statement.py").write_text("def statement(): ...\n")
    names = [*same_names(ROOT, "ogive"), *same_names(front, "made_front")]
    assert "made_front statement" in names
    found = "\n".join(names)
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{LOOK}", order],
        input=found, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not ran.stdout
