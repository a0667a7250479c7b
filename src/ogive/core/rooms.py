"""Modules that are loaded by name when they are used.

What people see of an object lies beside its class: `view.py`, or `text.py` of the same folder. These modules
know the class; the class does not know them. And the public names of a package are loaded from the modules that its
stub, `__init__.pyi`, names, so that importing the package is quick.
"""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

_IMPORT = re.compile(r"^from \.([\w.]*) import (\w+) as (\w+)$", re.MULTILINE)


def room(of: type, name: str) -> ModuleType:
    """The module `name` in the folder of a class's module, for example `ogive.statistics.roc.view`."""
    return import_module(f"{of.__module__.rpartition('.')[0]}.{name}")


def front(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package whose public names load when they are first used.

    Args:
        package: Its `__name__`.
        file: Its `__file__`, beside which lies the stub: a line `from .module import name as name` for each name, or
            `from . import module as module`.
    """
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    places = {name: module for module, name, _ in _IMPORT.findall(stub)}
    names = sorted(places)

    def load(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{places[name] or name}")
        result = getattr(module, name) if places[name] else module
        setattr(package_module, name, result)
        return result

    package_module = sys.modules[package]
    package_module.__dict__["_same_names"] = {
        name for name, module in places.items() if name == module.partition(".")[0]
    }
    package_module.__class__ = _Front
    return load, names.copy, names


class _Front(ModuleType):
    """A package of which a public name may also be the name of the module that holds it.

    Importing a module sets the package's attribute of its name. Here the public name keeps what it stands for.
    """

    _same_names: set[str]

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in self._same_names and isinstance(value, ModuleType)):
            super().__setattr__(name, value)
