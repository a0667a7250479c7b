"""Imports point down only; members of one line do not import each other."""

import ast
from pathlib import Path

import ogive

ROOT = Path(ogive.__file__).parent

# The picture of the architecture, highest line first. Change it in the commit that changes the code.
LAYERS = """
cli
reproduce report datasets
functions session collecting pate
planning pointwise
releasing streams
statistics trust
plots smoothing
records ledger
queries
strategies kernels
local pairs
noise accounting crypto
provenance files columns
grids privacy
errors compiling parameters
"""
RANK = {name: rank for rank, line in enumerate(reversed(LAYERS.split("\n"))) for name in line.split()}
EXEMPT = {"__init__", "__main__"}


def top(module: str) -> str | None:
    """The package or module directly under `ogive` that a dotted name belongs to."""
    parts = module.split(".")
    return parts[1] if parts[0] == "ogive" and len(parts) > 1 else None


def edges(root: Path, package: str = "ogive") -> list[tuple[str, str, str]]:
    """(from, to, place) for every import of one part of the package by another."""
    found = []
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root).with_suffix("")
        here = relative.parts[0]
        if len(relative.parts) == 1 and here in EXEMPT:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: write imports in full"
                module = node.module or ""
                names = [f"{package}.{alias.name}" for alias in node.names] if module == package else [module]
            for name in names:
                there = top(name)
                if there is not None and there != here:
                    found.append((here, there, f"{relative}:{node.lineno}"))
    return found


def test_every_part_has_a_place_in_the_picture():
    parts = {path.relative_to(ROOT).with_suffix("").parts[0] for path in ROOT.rglob("*.py")} - EXEMPT
    assert parts == set(RANK), "draw new parts into LAYERS, and take old ones out"


def test_imports_point_down_only():
    up = [
        f"{place} imports {there}"
        for here, there, place in edges(ROOT)
        if RANK.get(there, 99) >= RANK[here] and not (there in EXEMPT or there not in RANK)
    ]
    assert not up, "\n".join(up)


def test_the_walk_sees_an_import_that_points_up(tmp_path):
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise" / "bad.py").write_text(
        "def f():\n    from ogive.releasing import release\n    return release\n"
    )
    assert edges(tmp_path) == [("noise", "releasing", "noise/bad:2")]
    assert RANK["releasing"] >= RANK["noise"]
