"""Commands that distributions of their own bring, found by their entry points when they are used."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Annotated, Any

from cyclopts import Parameter

from ogive.errors import ParameterError

GROUP = "ogive.commands"
"""The group of entry points; each is a function or an App, named as its command."""

INSTALLED_BY = {"reproduce": "pip install ./papers, in a copy of ogive's repository"}
"""What installs a command's distribution."""


def __getattr__(name: str) -> Any:
    if name not in INSTALLED_BY:
        raise AttributeError(name)
    for each in entry_points(group=GROUP, name=name):
        try:
            return each.load()
        except ModuleNotFoundError as problem:  # its package is gone
            if problem.name != each.module.partition(".")[0]:
                raise
    return _absent(name)


def _absent(name: str) -> Callable[..., None]:
    """What stands for a command whose distribution is not installed."""

    def absent(*words: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> None:
        raise ParameterError(f"`ogive {name}` comes with a package that is not installed; run {INSTALLED_BY[name]}")

    return absent
