"""What the files of a package say of its structure: imports and their circles, what a feature touches, lines.

Nothing is imported or run: files are read as text. What is counted is written at the top of `house.py`.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ogive"
Figures = dict[str, float | str]
Table = dict[str, Figures]
"""Figures by what was measured."""

# --- imports and their circles ---

AT_ONCE, IN_A_FUNCTION, FOR_TYPES, BY_NAME = "at once", "in a function", "for types", "by name"


@dataclass(frozen=True, order=True)
class Import:
    """One import of a module of a package by another.

    Fields:
        source: Dotted name of the module that imports.
        target: Dotted name of the module that is imported.
        place: File, relative to the package, and line.
        when: AT_ONCE, IN_A_FUNCTION, FOR_TYPES or BY_NAME.
    """

    source: str
    target: str
    place: str
    when: str


def modules_of(root: Path) -> dict[str, Path]:
    """The files of a package by the dotted names of their modules."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(root: Path) -> list[Import]:
    """All imports of a package's modules by each other, but for those by and through its front door."""
    modules = modules_of(root)
    door = root.name
    found = set()
    for source, path in modules.items():
        if source == door:
            continue
        package = source if path.name == "__init__.py" else source.rpartition(".")[0]
        for name, line, when in _names(ast.parse(path.read_text(encoding="utf-8")), package, AT_ONCE):
            target = name
            while target and target not in modules:
                target = target.rpartition(".")[0]
            if target not in ("", door, source) and (when != BY_NAME or target == name):
                found.add(Import(source, target, f"{path.relative_to(root).as_posix()}:{line}", when))
    return sorted(found)


def _names(tree: ast.AST, package: str, when: str) -> Iterator[tuple[str, int, str]]:
    """Dotted name, line and time of each import below a node; the name's end may not be a module."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno, when) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((f"{base}.{alias.name}", node.lineno, when) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.fullmatch(r"\w+(\.\w+)+(:\w+)?", node.value):
                yield node.value.partition(":")[0], node.lineno, BY_NAME
        elif isinstance(node, ast.If) and _is_for_types(node.test):
            for inner in node.body:
                yield from _names(ast.Module([inner], []), package, FOR_TYPES)
            for inner in node.orelse:
                yield from _names(ast.Module([inner], []), package, when)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _names(node, package, when if when == FOR_TYPES else IN_A_FUNCTION)
        else:
            yield from _names(node, package, when)


def _is_for_types(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def circles(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Largest sets of two or more nodes each of which is reached from each other one, largest first."""
    following = defaultdict(set)
    for source, target in edges:
        following[source].add(target)
    reached: dict[str, set[str]] = {}
    for start in following:
        reached[start], waiting = set(), [start]
        while waiting:
            fresh = following.get(waiting.pop(), set()) - reached[start]
            reached[start] |= fresh
            waiting += fresh
    found = {
        tuple(sorted(other for other in reached[node] if node in reached.get(other, ())))
        for node in reached
        if node in reached[node]
    }
    return sorted((list(circle) for circle in found if len(circle) > 1), key=lambda circle: (-len(circle), circle))


def closing(circle: Iterable[str], imports: Iterable[Import]) -> list[Import]:
    """The imports among a circle's modules that do not happen at once.

    Where those that do make no circle by themselves, there is none without the ones that are returned.
    """
    inside = set(circle)
    return [one for one in imports if {one.source, one.target} <= inside and one.when != AT_ONCE]


def room(module: str) -> str:
    """The part of the package that lies directly in it and has the module."""
    return ".".join(module.split(".")[:2])


def folders(modules: Mapping[str, Path], root: Path) -> dict[str, str]:
    """The folder of each module, and for those directly in the package the module itself."""
    return {
        name: name if path.parent == root else ".".join(path.parent.relative_to(root.parent).parts)
        for name, path in modules.items()
    }


def pairs(
    imports: Iterable[Import], place: Callable[[str], str]
) -> dict[tuple[str, str], tuple[list[Import], list[Import]]]:
    """Places that import each other, with the imports either way."""
    between = defaultdict(list)
    for one in imports:
        if place(one.source) != place(one.target):
            between[place(one.source), place(one.target)].append(one)
    return {(a, b): (ways, between[b, a]) for (a, b), ways in sorted(between.items()) if a < b and (b, a) in between}


def measure_circles(root: Path = SOURCE) -> tuple[Table, list[str]]:
    """How many circles and pairs there are; and which, in lines for people."""
    known = imports_of(root)
    written = [one for one in known if one.when != BY_NAME]
    found = circles((one.source, one.target) for one in written)
    place = folders(modules_of(root), root)
    mutual = pairs(written, lambda module: place[module])
    nested = [(a, b) for a, b in mutual if b.startswith(f"{a}.")]

    def only(*times: str) -> Figures:
        sizes = [len(one) for one in circles((one.source, one.target) for one in known if one.when in times)]
        return {"count": len(sizes), "modules": sum(sizes), "largest": max(sizes, default=0)}

    table = {
        "circles, all imports": only(AT_ONCE, IN_A_FUNCTION, FOR_TYPES),
        "circles, imports at once alone": only(AT_ONCE),
        "circles, without those for types": only(AT_ONCE, IN_A_FUNCTION),
        "circles, without those in functions": only(AT_ONCE, FOR_TYPES),
        "circles, with modules named in texts": only(AT_ONCE, IN_A_FUNCTION, FOR_TYPES, BY_NAME),
        "pairs of modules": {"count": len(pairs(written, str))},
        "pairs of rooms": {"count": len(pairs(written, room))},
        "pairs of folders, beside each other": {"count": len(mutual) - len(nested)},
        "pairs of folders, one inside the other": {"count": len(nested)},
    }
    lines = []
    for circle in found:
        lines.append(f"circle of {len(circle)}: {', '.join(circle)}")
        lines += [f"    {one.place} imports {one.target} ({one.when})" for one in closing(circle, written)]
    for (a, b), (there, back) in mutual.items():
        lines.append(f"pair of folders: {a} and {b}")
        fewer = min(there, back, key=len)
        lines += [f"    {one.place} imports {one.target} ({one.when})" for one in fewer]
    return table, lines


# --- what a feature touches ---


@dataclass(frozen=True)
class Feature:
    """How a statistic or a trust model is known in the files of the package.

    Fields:
        words: Words whose presence in a path makes a file its own.
        names: Its classes and functions.
        texts: Its name, where that means nothing else as a text, and its schema without version.
        files: Files without their suffix, and folders, of its own whose names do not tell it.
        without: Words whose presence in a path makes a file another's.
    """

    words: tuple[str, ...]
    names: tuple[str, ...]
    texts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


_OF_PAIRS = ("ustatistic", "ustatistics", "ustat", "pairwise")

STATISTICS = {
    "Quantiles": Feature(("quantiles",), ("Quantiles", "QuantileEstimates"), ("quantiles", "ogive.quantiles")),
    "Boxplot": Feature(("boxplot", "box"), ("Boxplot", "Boxplots", "Box"), ("boxplot", "ogive.boxplot")),
    "Roc": Feature(("roc",), ("Roc", "RocEstimate", "RocBand"), ("roc", "ogive.roc")),
    "HosmerLemeshow": Feature(
        ("calibration",), ("HosmerLemeshow", "Calibration", "hosmer_lemeshow"), ("calibration", "ogive.calibration")
    ),
    # the text "bounds" is an option of most statistics
    "Bounds": Feature(
        ("bounds",),
        ("Bounds", "BoundsEstimate", "find_bounds"),
        ("ogive.bounds",),
        without=_OF_PAIRS,
    ),
    "Ustatistic": Feature(
        _OF_PAIRS,
        ("Ustatistic", "UstatisticEstimate"),
        ("ustatistic", "ustat", "ogive.ustatistic"),
    ),
    # the word "labels" also means a column of the records
    "Labels": Feature(
        (),
        ("Labels", "LabelsEstimate"),
        ("ogive.labels",),
        files=("statistics/labels", "queries/labels"),
    ),
}

TRUST_MODELS = {
    "Local": Feature(("local", "collected"), ("Local", "Collected"), ("local",)),
    # the word "pairs" also means pairs of records
    "Pairs": Feature((), ("Pairs",), ("pairs",), files=("trust/pairs",)),
    "SecAgg": Feature(("secagg",), ("SecAgg",), ("secagg",)),
    "Servers": Feature(("servers",), ("Servers",), ("servers",)),
}

OPTIONS = {
    "positive_when of Roc": "positive_when",
    "public_labels of Roc and Ustatistic": "public_labels",
    "public_groups of Boxplot": "public_groups",
    "false_alarm of Bounds": "false_alarm",
    "colluding of SecAgg": "colluding",
    "expected_records of several": "expected_records",
}

USERS = ("demo",)
"""Words in the paths of files that use the package as anybody does."""


@dataclass(frozen=True)
class Words:
    """What one file names.

    Fields:
        path: The words of its path.
        names: Names and attributes in its code, of what it imports and defines among them.
        texts: Strings in its code, but for those that stand alone.
        declared: How often parameters and fields have each name.
        handed: How often keywords of calls have each name.
        used: How often attributes, loaded names and texts are each name.
    """

    path: frozenset[str]
    names: frozenset[str]
    texts: frozenset[str]
    declared: Counter[str]
    handed: Counter[str]
    used: Counter[str]

    @property
    def of_user(self) -> bool:
        """Whether the file uses features as anybody does."""
        return not self.path.isdisjoint(USERS)

    def figures(self, option: str) -> Figures:
        """How often an option is declared, handed on and used."""
        return {"declared": self.declared[option], "handed on": self.handed[option], "used": self.used[option]}


def words_of(file: str, source: str) -> Words:
    """Read what a file names; its path is relative to the package."""
    names, texts = set(), set()
    declared, handed, used = Counter[str](), Counter[str](), Counter[str]()
    alone = set()
    for node in ast.walk(ast.parse(source)):  # from above, so that a statement comes before the string in it
        if isinstance(node, ast.Name):
            names.add(node.id)
            used[node.id] += isinstance(node.ctx, ast.Load)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
            used[node.attr] += 1
        elif isinstance(node, ast.alias | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            declared[node.arg] += 1
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            declared[node.target.id] += 1
        elif isinstance(node, ast.keyword) and node.arg:
            handed[node.arg] += 1
        elif isinstance(node, ast.Expr):
            alone.add(id(node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            texts.add(node.value)
            used[node.value] += 1
    path = re.split(r"[/_]", file.removesuffix(".py"))
    return Words(frozenset(path), frozenset(names), frozenset(texts), declared, handed, used)


def own_files(feature: Feature, words: Mapping[str, Words], imports: Iterable[tuple[str, str]]) -> set[str]:
    """The files of a feature: by their paths, by the list, and those that only these import.

    Args:
        feature: Whose files.
        words: Of each file of the package.
        imports: Importing and imported file.
    """
    own = set()
    for file, known in words.items():
        listed = any(file == f"{place}.py" or file.startswith(f"{place}/") for place in feature.files)
        if listed or (known.path & set(feature.words) and known.path.isdisjoint(feature.without) and not known.of_user):
            own.add(file)
    importers = defaultdict(set)
    for source, target in imports:
        importers[target].add(source)
    while more := {file for file in words if file not in own and importers[file] and importers[file] <= own}:
        own |= more
    return own


def touched(
    feature: Feature, own: set[str], words: Mapping[str, Words], imports: Iterable[tuple[str, str]]
) -> set[str]:
    """Files that name a feature or import its own files, and are neither its own nor mere users."""
    importing = {source for source, target in imports if target in own}
    known = {*feature.names, *feature.texts}
    return {
        file
        for file, found in words.items()
        if file not in own
        and not found.of_user
        and (
            file in importing
            or not found.names.isdisjoint(feature.names)
            or any(text.partition("/")[0] in known for text in found.texts)
        )
    }


def measure_features(root: Path = SOURCE) -> tuple[Table, list[str]]:
    """What each feature and option touches; and which files, in lines for people."""
    modules = modules_of(root)
    files = {name: path.relative_to(root).as_posix() for name, path in modules.items()}
    words = {files[name]: words_of(files[name], path.read_text(encoding="utf-8")) for name, path in modules.items()}
    imports = [(files[one.source], files[one.target]) for one in imports_of(root)]

    def rooms(files: Iterable[str]) -> int:
        return len({file.partition("/")[0] for file in files})

    table: Table = {}
    lines = []
    for name, feature in (STATISTICS | TRUST_MODELS).items():
        own = own_files(feature, words, imports)
        others = touched(feature, own, words, imports)
        table[name] = {
            "own files": len(own),
            "own rooms": rooms(own),
            "touched files": len(others),
            "touched rooms": rooms(others),
        }
        lines.append(f"{name}, own files: {' '.join(sorted(own))}")
        lines.append(f"{name}, touched files: {' '.join(sorted(others))}")
    for name, option in OPTIONS.items():
        found = {file: known.figures(option) for file, known in words.items() if not known.of_user}
        found = {file: figures for file, figures in found.items() if any(figures.values())}
        total = Counter[str]()
        for figures in found.values():
            total.update(figures)  # type: ignore[arg-type]
        declaring = {file for file, figures in found.items() if figures["declared"]}
        table[f"option {name}"] = {
            "declaring files": len(declaring),
            "touched files": len(found),
            "touched rooms": rooms(found),
            **total,
        }
        lines.append(f"option {name}, declaring files: {' '.join(sorted(declaring))}")
        lines.append(f"option {name}, touched files: {' '.join(sorted(found))}")
    return table, lines


# --- lines ---


def line_figures(text: str) -> Figures:
    """How many lines of a Python file are code, documentation and blank."""
    code: set[int] = set()
    written: set[int] = set()
    alone = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            alone.add((node.lineno, node.col_offset))
    no_matter = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in no_matter:
            documents = token.type == tokenize.COMMENT or (token.type == tokenize.STRING and token.start in alone)
            (written if documents else code).update(range(token.start[0], token.end[0] + 1))
    total = len(text.splitlines())
    return {
        "code": len(code),
        "documentation": len(written - code),
        "blank": total - len(code | written),
    }


def page_figures(text: str) -> Figures:
    """How many lines of a page are text and blank."""
    lines = text.splitlines()
    blank = sum(not line.strip() for line in lines)
    return {"code": 0, "documentation": len(lines) - blank, "blank": blank}


def measure_lines(root: Path = ROOT) -> Table:
    """Lines by room of the package, by folder of the tests, of the benchmarks and of the pages."""
    table: dict[str, dict[str, Any]] = {}

    def count(name: str, figures: Figures) -> None:
        entry = table.setdefault(
            name, {"files": 0, "code": 0, "documentation": 0, "blank": 0, "under 70": 0, "over 500": 0}
        )
        size = sum(figures.values())  # type: ignore[arg-type]
        entry["files"] += 1
        entry["under 70"] += size < 70
        entry["over 500"] += size > 500
        for key, value in figures.items():
            entry[key] += value

    for name in ("src", "papers", "tests", "benchmarks", "docs"):
        for path in sorted((root / name).rglob("*")):
            parts = path.relative_to(root / name).parts
            if path.suffix not in (".py", ".md") or "_build" in parts:
                continue
            text = path.read_text(encoding="utf-8")
            figures = line_figures(text) if path.suffix == ".py" else page_figures(text)
            count(f"{name}, all", figures)
            if name in ("src", "tests"):
                at = 1 if name == "src" else 0
                count("/".join((name, *parts[at : at + 1])), figures)
    return table
