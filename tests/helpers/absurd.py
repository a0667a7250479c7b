"""Plain data with absurd values: every place in it, and what else might stand there."""

import copy
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 20, 22, 41, 1 << 31, -(1 << 63), 1 << 63, 10**40,
    0.0, 0.5, 21.0, -1e308, 1e308, float("nan"), float("inf"),
    "", "0", "21", "tree", "1/0", "1e400", "9" * 5000, "ff" * 32, "g" * 64, "f" * 63, " " + "f" * 63,
    "\ud800", "\u0661" * 64,
    [], [0], [[]], {}, {"taken": 1},
)  # fmt: skip


def paths(value, at=()):
    """Every place in plain data, outermost first."""
    yield at
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(inner, (*at, key))


def replaced(content, path, value):
    """The data with another value at a place."""
    if not path:
        return value
    changed = copy.deepcopy(content)
    _holder(changed, path)[path[-1]] = value
    return changed


def without(content, path):
    """The data without a place."""
    changed = copy.deepcopy(content)
    del _holder(changed, path)[path[-1]]
    return changed


def _holder(content, path):
    for key in path[:-1]:
        content = content[key]
    return content
