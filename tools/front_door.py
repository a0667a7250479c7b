"""Complete the stubs by which public names are found, and the reference: `python tools/front_door.py`, or `make stubs`.

The lists of statistics and of trust models say which names there are: of each statistic the question, the estimate and
the function, of each trust model its class. A name that a stub lacks gets a line, and one that no page of the reference
has an entry at the end of its page; what is there stays. The signatures of functions and verbs, with the types of the
options, are written anew.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
from pathlib import Path
from typing import Any

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


# --- Signatures of functions and verbs, for type checkers and editors

OF_PARAMETERS = {
    "self": "",
    "privacy": "Privacy | None",
    "adjacency": "Adjacency",
    "trust": "TrustOf",
    "source": "RandomSource | None",
    "na_values": "NaValues",
    "batch": "str | None",
    "labels": "Any",
    "where": "Where | None",
    "by": "str",
    "groups": "Sequence[LabelValue]",
}
COMMON = {
    "Any": "typing",
    "Sequence": "collections.abc",
    "Adjacency": "ogive.privacy",
    "Privacy": "ogive.privacy",
    "TrustOf": "ogive.trust",
    "RandomSource": "ogive.noise.base",
    "NaValues": "ogive.records.missing_words",
    "Where": "ogive.statistics.base",
    "LabelValue": "ogive.columns",
    "GroupEstimates": "ogive.statistics.groups.estimate",
}
VERBS = """
class Verbs(ABC):
    @abstractmethod
    def release(
        self,
        statistic: Statistic[EstimateT],
        *,
        privacy: Privacy | None = None,
        batch: str | None = None,
        source: RandomSource | None = None,
    ) -> EstimateT: ...
    @abstractmethod
    def _named(self, **named: Any) -> tuple[str, ...]: ...
"""
OF_VERBS = {"ABC": "abc", "abstractmethod": "abc", "overload": "typing", "Statistic": "ogive.statistics.base"}
OF_VERBS["EstimateT"] = "ogive.statistics.base"


def imported(module: str) -> dict[str, str]:
    """Where each name comes from that a module may use in annotations; its own names come from itself."""
    path = sys.modules[module].__file__
    known = {}
    for node in ast.walk(ast.parse(Path(str(path)).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            known |= {alias.asname or alias.name: str(node.module) for alias in node.names}
        elif isinstance(node, ast.ClassDef):
            known[node.name] = module
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            known |= {target.id: module for target in targets if isinstance(target, ast.Name)}
    return known


def typed(kind: Any, *, verb: bool, needed: dict[str, str]) -> str:
    """The signature of a function or verb with its types; adds where these are imported from."""
    from ogive.releasing.calls import columns_of, options_of, own_parameters

    module, fields = kind.statistic.__module__, {each.name: each for each in dataclasses.fields(kind.statistic)}
    known = imported(module)
    estimate = kind.estimate.__name__
    own = own_parameters(kind, verb=verb)
    types = {name: str(fields[name].type) for name in (*options_of(kind, verb=verb), *kind.positional)}
    names = {node.id for text in types.values() for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    wanted = {name: known[name] for name in names & known.keys()} | {estimate: kind.estimate.__module__}
    for name, place in wanted.items():
        if needed.setdefault(name, place) != place:  # another type of that name
            alias = f"{kind.question}{name}"
            needed[alias] = f"{place}:{name}"
            types = {each: re.sub(rf"\b{name}\b", alias, text) for each, text in types.items()}
    grouped = next((name for name in ("groups", "by_groups") if "by" in own and name in own), None)

    def written(by: bool) -> str:
        first = ["self"] if verb else []
        named = columns_of(kind, verb=verb)
        column = "str | tuple[str, ...] | None = None" if "columns" in named else "str | None = None"
        first += [f"{name}: {column}" if verb else f"{name}: Any" for name in named]
        first += [f"{name}: {types[name]} = ..." for name in kind.positional]
        more = []
        for name in own:
            of_type = OF_PARAMETERS["groups" if name == grouped else name]
            if name == "by":
                more.append(f"by: {of_type}" if by else "by: None = None")
            elif name == grouped:
                more.append(f"{name}: {of_type} | None = None" if by else f"{name}: None = None")
            else:
                more.append(f"{name}: {of_type} = ...")
        more += [f"{name}: {types[name]} = ..." for name in options_of(kind, verb=verb)]
        result = f"GroupEstimates[{estimate}]" if by else estimate
        decorator = "@overload\n" if grouped else ""
        listed = "".join(f"    {each},\n" for each in [*first, "*", *more])
        return f"{decorator}def {kind.function}(\n{listed}) -> {result}: ...\n"

    return "".join(written(by) for by in ([False, True] if grouped else [False]))


def signatures(*, verbs: bool) -> str:
    """The stub of the module of functions or of verbs."""
    from ogive.statistics.kinds import CALLED

    needed = COMMON | (OF_VERBS if verbs else {})
    kinds = sorted(CALLED.values(), key=lambda kind: kind.function)
    text = "".join(typed(kind, verb=verbs, needed=needed) for kind in kinds)
    if verbs:
        text = VERBS + "".join(f"    {line}\n" for line in text.splitlines())
    used = {name: place.partition(":") for name, place in needed.items() if re.search(rf"\b{name}\b", text)}
    lines = [f"from {at} import {of or name}" + f" as {name}" * bool(of) for name, (at, _, of) in used.items()]
    return "\n".join(["# Written by tools/front_door.py.", "", *sorted(lines), "", text.strip("\n"), ""])


def main(package: Path = PACKAGE) -> None:
    """Write the stubs of a package, and the pages of its reference where these lie beside it."""
    package = package.resolve()
    sys.path.insert(0, str(package.parent))
    for name, names in names_of(str(package)).items():
        path = package / name
        path.write_text(completed(path.read_text(encoding="utf-8"), names), encoding="utf-8")
    for name in ("functions", "verbs"):
        path = package / "releasing" / f"{name}.pyi"
        path.write_text(signatures(verbs=name == "verbs"), encoding="utf-8")
    folder = package.parents[1] / "docs" / "api"
    pages = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    for name, text in (entered(pages) if pages else {}).items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
