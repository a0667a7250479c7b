"""Complete the stubs by which public names are found: `python tools/front_door.py`, or `make stubs`.

The lists of statistics and of trust models say which names there are: of each statistic the question, the estimate and
the function, of each trust model its class. A name that a stub lacks gets a line; lines that are there stay.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "ogive"
_LINE = re.compile(r"from (\.\S*) import (\w+) as \w+")


def names_of(lists: str) -> dict[str, dict[str, str]]:
    """The names that each stub must have, with the modules where they are, from the lists of a package.

    Args:
        lists: The package's folder, which has to be the one that is imported.
    """
    from ogive.statistics import kinds
    from ogive.trust.models import MODELS

    assert Path(kinds.__file__).is_relative_to(lists), f"{kinds.__file__} is not in {lists}"
    questions, estimates, functions = {}, {}, {}
    for kind in kinds.COMMANDED.values():
        module, _, name = kind.estimate_path.partition(":")
        questions[kind.question] = f".{kind.folder}.statistic"
        estimates[name] = f".{module}"
        functions[kind.function] = ".releasing.functions.calling"
    models = {place.partition(":")[2]: f".{place.partition(':')[0]}" for place in MODELS.values()}
    return {
        "__init__.pyi": functions
        | {name: f".statistics{module}" for name, module in (questions | estimates).items()}
        | dict.fromkeys(models, ".trust"),
        "statistics/__init__.pyi": questions,
        "trust/__init__.pyi": models,
    }


def completed(stub: str, names: dict[str, str]) -> str:
    """A stub with a line for every name; those that it has already stay where they are imported from."""
    lines = stub.splitlines()
    imports = [line for line in lines if _LINE.fullmatch(line)]
    known = {line.rpartition(" ")[2] for line in imports}
    more = [f"from {module} import {name} as {name}" for name, module in names.items() if name not in known]
    rest = [line for line in lines if line not in imports]
    return "\n".join([*sorted([*imports, *more], key=_place), *rest]) + "\n"


def _place(line: str) -> list[str]:
    """Lines are in the order of modules, then of names."""
    return line.split()[1::2]


def main(package: Path = PACKAGE) -> None:
    """Write the stubs of a package."""
    sys.path.insert(0, str(package.parent))
    for name, names in names_of(str(package)).items():
        path = package / name
        path.write_text(completed(path.read_text(encoding="utf-8"), names), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
