"""Complete the stubs by which public names are found, and the reference: `python tools/front_door.py`, or `make stubs`.

The lists of statistics and of trust models say which names there are: of each statistic the question, the estimate and
the function, of each trust model its class. A name that a stub lacks gets a line, and one that no page of the reference
has an entry at the end of its page; what is there stays.
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
        functions[kind.function] = ".releasing.functions"
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


def _place(line: str) -> tuple[str, int, str]:
    """Lines are in the order of modules, then of constants, classes and functions, then of names."""
    module, name = line.split()[1:4:2]
    return module, 0 if name.isupper() else 1 if name[0].isupper() else 2, name


def entered(pages: dict[str, str]) -> dict[str, str]:
    """Pages of the reference with an entry for every question, estimate and function, by the names of their files."""
    from ogive.statistics import kinds

    wanted: dict[str, list[str]] = {"statistics.md": [], "estimates.md": [], "functions.md": []}
    for kind in kinds.COMMANDED.values():
        wanted["statistics.md"].append(f".. autoclass:: ogive.{kind.question}\n   :members:")
        wanted["estimates.md"].append(f".. autoclass:: ogive.{kind.estimate_path.partition(':')[2]}\n   :members:")
        wanted["functions.md"].append(f".. autofunction:: ogive.{kind.function}")
    known = set(re.findall(r"^\.\. auto\w+:: (ogive\.\w+)$", "\n".join(pages.values()), re.MULTILINE))
    for name, entries in wanted.items():
        for entry in entries:
            if entry.split()[2] not in known:
                before, fence, after = pages[name].rpartition("\n```")
                pages[name] = f"{before}\n\n{entry}{fence}{after}"
    return pages


def main(package: Path = PACKAGE) -> None:
    """Write the stubs of a package, and the pages of its reference where these lie beside it."""
    package = package.resolve()
    sys.path.insert(0, str(package.parent))
    for name, names in names_of(str(package)).items():
        path = package / name
        path.write_text(completed(path.read_text(encoding="utf-8"), names), encoding="utf-8")
    folder = package.parents[1] / "docs" / "api"
    pages = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    for name, text in (entered(pages) if pages else {}).items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
