"""What people see of an object lies beside its class: `text.py`, `plot.py`, `chapter.py` of the same folder.

These modules know the class; the class does not know them. They are loaded by name when they are used.
"""

from importlib import import_module
from types import ModuleType


def room(of: type, name: str) -> ModuleType:
    """The module `name` in the folder of a class's module, for example `ogive.statistics.roc.text`."""
    return import_module(f"{of.__module__.rpartition('.')[0]}.{name}")
