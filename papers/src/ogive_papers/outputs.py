"""What a reproduction leaves behind for every item: two pictures, its numbers and its verdict."""

from __future__ import annotations

import contextlib
import json
import platform
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ogive.errors import ParameterError, plain
from ogive_papers.items import Item, Plan
from ogive_papers.summaries import Summary
from ogive_papers.verdicts import Check, remark, verdict

PICTURES = ("png", "svg")
_LIBRARIES = ("ogive", "numpy", "scipy", "numba", "matplotlib", "cvxopt")

INK, GRID = "#1f2933", "#d9dee4"
STYLE: Any = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "svg.hashsalt": "ogive",
    "svg.fonttype": "none",
}


def write_item(item: Item, plan: Plan, summary: Summary, checks: Sequence[Check], folder: Path) -> tuple[Path, ...]:
    """Write the files of one item, each of them whole or not at all.

    Returns:
        Pictures, numbers (CSV) and verdict (JSON).
    """
    written = [
        _replace(folder / f"{item.name}.{kind}", lambda path: _draw(item, plan, summary, path)) for kind in PICTURES
    ]
    written.append(_replace(folder / f"{item.name}.csv", summary.write_csv))
    findings = {
        "paper": item.paper,
        "item": item.name,
        "title": item.title,
        "verdict": verdict(checks),
        "remark": remark(checks, item.runs(plan), item.runs(Plan())),
        "checks": [check.to_dict() for check in checks],
        "runs": item.runs(plan),
        "quick": plan.quick,
        "seed": plan.seed,
        "inputs": dict(item.inputs(plan.data)),
        "versions": _versions(),
    }
    written.append(_replace(folder / f"{item.name}.json", lambda path: _write_json(findings, path)))
    return tuple(written)


def write_overview(findings: Sequence[dict[str, Any]], folder: Path) -> Path:
    """Write the verdicts of all items of this call as one file."""
    return _replace(folder / "verdicts.json", lambda path: _write_json(list(findings), path))


def runs_text(runs: int) -> str:
    """For example "1 run" or "100 runs"."""
    return f"{runs} run" if runs == 1 else f"{runs} runs"


def _draw(item: Item, plan: Plan, summary: Summary, path: Path) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.6, 4.2), layout="constrained")
        item.draw(summary, figure)
        thoroughness = runs_text(item.runs(plan)) + (", quick" if plan.quick else "")
        figure.suptitle(
            f"{item.kind.capitalize()} {item.number}: {item.title} ({thoroughness})",
            x=0.01, ha="left", color=INK, fontsize=11,
        )  # fmt: skip
        metadata: dict[str, Any] = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=150, metadata=metadata)


def _write_json(content: Any, path: Path) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _replace(path: Path, write: Callable[[Path], None]) -> Path:
    with _draft(path) as draft:
        write(draft)
    return path


@contextlib.contextmanager
def _draft(path: Path) -> Iterator[Path]:
    draft = path.with_name(f".draft-{path.name}")
    try:
        yield draft
        draft.replace(path)
    except OSError as problem:
        raise ParameterError(f"cannot write {plain(path)}: {(problem.strerror or 'unknown reason').lower()}") from None
    finally:
        draft.unlink(missing_ok=True)


def _versions() -> dict[str, str]:
    result = {"python": platform.python_version()}
    for name in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            result[name] = version(name)
    return result
