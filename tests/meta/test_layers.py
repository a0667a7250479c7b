"""Imports point down only, members of one line do not import each other, and no import closes a circle.

All imports count: those inside functions, those for types alone, and names of a package that load when they are used.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from helpers.examples import NEW
from helpers.sources import nodes, parsed

import ogive
import ogive_papers
from ogive.statistics.kinds import KINDS

ROOT = Path(ogive.__file__).parent
ARCHITECTURE = Path(__file__).parents[2] / "docs" / "architecture.md"

# The picture of the architecture, highest line first. Change it, and docs/architecture.md, in the commit that changes
# the code. A name with a dot is a part of another room that has a place of its own.
LAYERS = """
cli
demo pairs.network
study
report
pate ranking
releasing
trust plots
statistics
records
queries streams
strategies
local kernels showing ledger
columns noise accounting provenance pairs
privacy crypto segments
core datasets
errors
"""

# The same within rooms whose parts have an order of their own.
INNER = {
    "releasing": """
        session
        verbs functions noisy_counts
        calls collecting accounts
        planning pointwise
        release
        """,
    "statistics": """
        combining
        describe
        groups
        boxplot group_auc survival
        quantiles roc calibration bounds labels ustatistic crosstab
        histogram
        sums
        ecdf
        methods
        curve
        kinds
        prediction discovery
        significance functionals
        base
        plain_json questions confidence
        """,
    "strategies": """
        smoothing
        composed reported hats_smoothed
        hats
        path tree balanced_roots projection counts
        square_root
        base
        density shrinkage path_smoothed
        """,
    "trust": """
        servers
        imagined
        pairs secagg
        table
        models modulus
        base
        """,
}

# a statistic that is not drawn may use all others
INNER["statistics"] = INNER["statistics"].replace(
    "describe\n", " ".join(("describe", *(kind.folder for kind in NEW if kind.folder != "survival"))) + "\n"
)

# Parts of one room that import each other both ways, file by file without a circle; none may be added.
ENTANGLED = {"pate": {frozenset({"aggregators", "costs"})}}

# Rooms that serve every statistic and know none: what is special about one, it says itself.
SERVING_ALL = ("releasing.planning",)

EXEMPT = {"__main__"}
Graph = dict[str, dict[str, int]]


def graph(root: Path, package: str) -> Graph:
    """Of each module the modules of the package that it imports, and the line in which it does.

    What a package loads by its stub, `__init__.pyi`, it imports. The front door imports everything, so it is left out.
    """
    files = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        files[".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))] = path
    found: Graph = {}
    for module, path in files.items():
        imported = dict[str, int]()
        stub = path.with_suffix(".pyi")
        for source in (path, stub) if stub.exists() else (path,):
            for name, line in _names(source, module):
                # the name is a module of the package, or something in one
                there = name if name in files else name.rpartition(".")[0]
                if there in files and there not in (module, package):
                    imported.setdefault(there, line)
        if module != package:
            found[module] = imported
    return found


def _names(source: Path, module: str) -> list[tuple[str, int]]:
    """Full names of all that a file imports, with their lines; stubs write imports of their own package with a dot."""
    found = []
    for node in nodes(parsed(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 or source.name == "__init__.pyi", f"{source}: write imports in full"
            assert node.level < 2, f"{source}: write imports in full"
            base = ".".join(filter(None, (module if node.level else "", node.module)))
            found += [(f"{base}.{alias.name}", node.lineno) for alias in node.names]
    return found


def circles(edges: dict[str, set[str]]) -> set[frozenset[str]]:
    """The largest sets of nodes each of which reaches every other one, but for single nodes."""
    reached: dict[str, set[str]] = {}
    for start in edges:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = edges.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        reached[start] = seen
    return {
        frozenset(other for other in reached[start] if start in reached[other])
        for start in edges
        if start in reached[start]
    }


def ranks(picture: str) -> dict[str, int]:
    """The number of the line of each name, 0 at the bottom."""
    lines = [line.split() for line in picture.split("\n") if line.strip()]
    return {name: rank for rank, line in enumerate(reversed(lines)) for name in line}


def place(module: str, above: str, known: dict[str, int]) -> str | None:
    """The longest name in a picture that a module of the room `above` belongs to; None for the room's own module."""
    parts = module.removeprefix(above).strip(".").split(".")
    whole = [".".join(parts[:many]) for many in range(len(parts), 0, -1)]
    return next((name for name in whole if name in known), parts[0] or None)


def upward(modules: Graph, above: str, picture: str) -> list[str]:
    """Imports within the room `above` that do not point to a lower line of its picture."""
    known, found = ranks(picture), []
    for module, imported in modules.items():
        if not module.startswith(f"{above}."):
            continue
        here = place(module, above, known)
        for other, line in imported.items():
            there = place(other, above, known) if other.startswith(f"{above}.") else None
            if there not in (None, here) and known.get(there, 99) >= known.get(here, -1):
                found.append(f"{module}:{line} imports {other}")
    return found


def particular(modules: Graph, room: str, folders: set[str]) -> list[str]:
    """Imports in a room of what lies in these folders of the statistics."""
    found = []
    for module, imported in modules.items():
        if module.split(".")[1] == room:
            found += [f"{module}:{line} imports {name}" for name, line in imported.items() if folder(name) in folders]
    return found


def folder(module: str) -> str | None:
    """The folder of a statistic that a module lies in; None outside of all of them."""
    parts = module.split(".")
    return parts[2] if parts[1:2] == ["statistics"] and len(parts) > 2 else None


@cache
def modules() -> Graph:
    """The graph of the package itself."""
    return graph(ROOT, "ogive")


def parts_of(room: str, modules: Graph) -> set[str]:
    """The modules and folders that lie directly in a room."""
    inner = {module.removeprefix(f"{room}.").split(".")[0] for module in modules if module.startswith(f"{room}.")}
    return inner - EXEMPT


def test_every_part_has_a_place_in_the_picture():
    assert parts_of("ogive", modules()) == {name for name in ranks(LAYERS) if "." not in name}, "draw them into LAYERS"
    assert all(f"ogive.{name}" in modules() for name in ranks(LAYERS))


@pytest.mark.parametrize("room", INNER)
def test_every_part_of_a_room_has_a_place_in_its_picture(room):
    assert parts_of(f"ogive.{room}", modules()) == set(ranks(INNER[room])), "draw them into INNER"


def test_imports_point_down_only():
    own = {module: imported for module, imported in modules().items() if module.split(".")[1] not in EXEMPT}
    up = upward(own, "ogive", LAYERS)
    assert not up, "\n".join(up)


@pytest.mark.parametrize("room", INNER)
def test_imports_within_a_room_point_down_only(room):
    up = upward(modules(), f"ogive.{room}", INNER[room])
    assert not up, "\n".join(up)


@pytest.mark.parametrize("room", SERVING_ALL)
def test_what_serves_every_statistic_imports_none(room):
    assert particular(modules(), room, {"curve", *(kind.folder for kind in KINDS)}) == []


def test_no_import_closes_a_circle():
    of_papers = graph(Path(ogive_papers.__file__).parent, "ogive_papers")
    found = circles({module: set(imported) for module, imported in (modules() | of_papers).items()})
    assert not found, "\n".join(" ".join(sorted(circle)) for circle in found)


@pytest.mark.parametrize("room", sorted({path.relative_to(ROOT).parts[0] for path in ROOT.glob("*/**/[!_]*.py")}))
def test_parts_of_a_room_are_not_entangled(room):
    above, edges = f"ogive.{room}.", {}
    for module, imported in modules().items():
        if module.startswith(above):
            here = module.removeprefix(above).split(".")[0]
            there = {name.removeprefix(above).split(".")[0] for name in imported if name.startswith(above)}
            edges.setdefault(here, set()).update(there - {here})
    assert circles(edges) == ENTANGLED.get(room, set())


def test_the_manual_has_the_same_picture():
    drawn = re.search(r"## Layers\n.*?```text\n(.*?)```", ARCHITECTURE.read_text(encoding="utf-8"), re.DOTALL)
    assert drawn is not None
    assert ranks(drawn[1]) == ranks(LAYERS)


def made(folder: Path, files: dict[str, str]) -> Graph:
    """The graph of a package with these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return graph(folder, "made")


def test_the_walk_sees_an_import_that_points_up(tmp_path):
    found = made(
        tmp_path,
        {
            "noise/__init__.py": "",
            "noise/bad.py": "def f():\n    from made.releasing import release\n    return release\n",
            "noise/good.py": "from made.errors import DataError\nfrom made.noise import bad\n",
            "pairs/__init__.py": "",
            "pairs/network.py": "from made.study import relay\n",
            "study.py": "from made.pairs import design\n",
            "pairs/choosing.py": "from made.pairs import network\n",
            "crypto.py": "import made.noise\n",
            "releasing/release.py": "",
            "errors.py": "",
        },
    )
    assert sorted(upward(found, "made", LAYERS)) == [
        "made.crypto:1 imports made.noise",
        "made.noise.bad:2 imports made.releasing.release",
        "made.pairs.choosing:1 imports made.pairs.network",
    ]


def test_an_import_of_one_statistic_is_caught(tmp_path):
    found = made(
        tmp_path,
        {
            "planning/__init__.py": "",
            "planning/bad.py": "def f():\n    from made.statistics.roc.statistic import Roc\n    return Roc\n",
            "planning/good.py": "from made.statistics.base import Statistic\nfrom made.statistics import methods\n",
            "statistics/__init__.py": "",
            "statistics/base.py": "",
            "statistics/methods.py": "",
            "statistics/roc/__init__.py": "",
            "statistics/roc/statistic.py": "class Roc: ...\n",
            "cli.py": "from made.statistics.roc import statistic\n",
        },
    )
    assert particular(found, "planning", {"roc", "ecdf"}) == [
        "made.planning.bad:2 imports made.statistics.roc.statistic"
    ]


def test_circles_of_lazy_and_type_only_imports_and_of_stubs_are_caught(tmp_path):
    found = made(
        tmp_path,
        {
            "__init__.py": "from made.lazy import f\n",
            "lazy.py": "def f():\n    from made.eager import g\n    return g\n",
            "eager.py": "import made.lazy\n",
            "typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from made.plain import Plain\n",
            "plain.py": "from made import typed, lazy\nclass Plain: ...\n",
            "room/__init__.py": "",
            "room/__init__.pyi": "from .inner import name as name\n",
            "room/inner.py": "from made.room import name\n",
            "innocent.py": "from made.room.inner import name\nfrom made.plain import Plain\n",
        },
    )
    assert circles({module: set(imported) for module, imported in found.items()}) == {
        frozenset({"made.lazy", "made.eager"}),
        frozenset({"made.typed", "made.plain"}),
        frozenset({"made.room", "made.room.inner"}),
    }
