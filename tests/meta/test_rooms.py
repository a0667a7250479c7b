"""Every class that loads a room beside it finds that room, and in it what it asks for."""

import ast
import importlib
from pathlib import Path
from typing import NamedTuple

import ogive
from ogive.rooms import room

ROOT = Path(ogive.__file__).parent


class Asked(NamedTuple):
    """One use of `room`: where it stands, the class it names, the module and the attribute of that module."""

    place: str
    owner: str
    module: str
    attribute: str


def uses(root: Path, package: str) -> list[Asked]:
    """All uses of the form `room(Class, "module").attribute`.

    Raises:
        AssertionError: `room` is used in another form, so that what it asks for cannot be read.
    """
    found = []
    for path in sorted(root.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = ".".join((package, *path.relative_to(root).with_suffix("").parts))
        called = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_room(node.func)]
        read = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for call in called:
            place = f"{module}:{call.lineno}"
            assert id(call) in read, f"{place}: write room(Class, 'module').attribute"
            owner, name = call.args
            assert isinstance(owner, ast.Name), f"{place}: name the class"
            assert isinstance(name, ast.Constant), f"{place}: write the module's name as a string"
            classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
            assert owner.id in classes, f"{place}: {owner.id} is not a class of this module"
            found.append(Asked(place, owner.id, f"{module.rpartition('.')[0]}.{name.value}", read[id(call)]))
    return found


def _is_room(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id == "room"


def missing(asked: list[Asked]) -> list[str]:
    """Uses whose module does not exist, or lacks the attribute."""
    found = []
    for each in asked:
        try:
            module = importlib.import_module(each.module)
        except ModuleNotFoundError as error:
            if error.name != each.module:
                raise
            found.append(f"{each.place}: there is no {each.module}")
            continue
        if not hasattr(module, each.attribute):
            found.append(f"{each.place}: {each.module} has no {each.attribute}")
    return found


def test_every_class_has_the_rooms_that_it_asks_for():
    assert missing(uses(ROOT, "ogive")) == []


def test_the_walk_sees_a_room_that_is_missing_and_one_that_lacks_a_function(tmp_path, monkeypatch):
    package = tmp_path / "made_for_rooms"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "text.py").write_text("def table(of): return str(of)\n")
    (package / "estimate.py").write_text(
        "from ogive.rooms import room\n"
        "class Estimate:\n"
        "    def good(self): return room(Estimate, 'text').table(self)\n"
        "    def lacks(self): return room(Estimate, 'text').lines(self)\n"
        "    def gone(self): return room(Estimate, 'plot').draw(self)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert missing(uses(package, "made_for_rooms")) == [
        "made_for_rooms.estimate:4: made_for_rooms.text has no lines",
        "made_for_rooms.estimate:5: there is no made_for_rooms.plot",
    ]


def test_a_room_is_a_module_in_the_folder_of_the_class():
    from ogive.local.base import Oracle

    assert room(Oracle, "codec").__name__ == "ogive.local.codec"
