"""What to install where a command needs a package that is not there."""

from __future__ import annotations

import importlib.metadata
import re

from ogive.errors import plain


def needed(missing: ModuleNotFoundError) -> str | None:
    """What is needed for a command, in a line; None where a module of ogive itself is not there."""
    package = (missing.name or "").partition(".")[0]
    if package in ("", "ogive"):
        return None
    return f"this needs {plain(package)}, which is not installed; run pip install '{_whole(package)}'"


def _whole(package: str) -> str:
    """The installation that has a package: that of an extra, if only an extra names it."""
    named = [each.partition(";") for each in importlib.metadata.requires("ogive") or ()]
    of_package = [extra for spelt, _, extra in named if re.match(rf"{re.escape(package)}\b", spelt, re.IGNORECASE)]
    extras = [found[1] for each in of_package if (found := re.search(r"""extra == ['"](\w+)['"]""", each))]
    return f"ogive[{extras[0]}]" if len(extras) == len(of_package) > 0 else "ogive"
