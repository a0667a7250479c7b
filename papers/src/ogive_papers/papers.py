"""Redo the figures and tables of a paper: the runs, the pictures, the numbers and the verdicts."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ogive.core.checks import among
from ogive.errors import ParameterError, plain
from ogive_papers.items import FIGURE, TABLE, Item, Plan
from ogive_papers.outputs import write_item, write_overview
from ogive_papers.pool import Progress, do_tasks
from ogive_papers.store import ResultStore
from ogive_papers.summaries import Summary
from ogive_papers.verdicts import Check, remark, verdict

PAPERS = {
    "ecdf": "ogive_papers.ecdf",
    "pate": "ogive_papers.pate",
    "projection": "ogive_papers.projection",
    "ustatistics": "ogive_papers.ustatistics",
}
"""Short name of each paper and the module that holds its `ITEMS`."""


@dataclass(frozen=True)
class Finding:
    """What came of one item.

    Fields:
        item: Which.
        plan: How it was redone.
        summary: The numbers.
        checks: The paper's claims against the numbers.
        files: What was written.
    """

    item: Item
    plan: Plan
    summary: Summary
    checks: tuple[Check, ...]
    files: tuple[Path, ...]

    @property
    def verdict(self) -> str:
        """One of the words of `verdicts`."""
        return verdict(self.checks)

    @property
    def remark(self) -> str | None:
        """Why nothing was decided, where there were too few runs."""
        return remark(self.checks, self.item.runs(self.plan), self.item.runs(Plan()))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "paper": self.item.paper,
            "item": self.item.name,
            "title": self.item.title,
            "verdict": self.verdict,
            "remark": self.remark,
            "checks": [check.to_dict() for check in self.checks],
            "runs": self.item.runs(self.plan),
            "quick": self.plan.quick,
            "seed": self.plan.seed,
            "inputs": dict(self.item.inputs(self.plan.data)),
            "files": [path.name for path in self.files],
        }


def items_of(paper: str) -> tuple[Item, ...]:
    """Everything of a paper that can be redone.

    Raises:
        ParameterError: no such paper.
    """
    among(paper, "paper", PAPERS)
    items: tuple[Item, ...] = importlib.import_module(PAPERS[paper]).ITEMS
    return items


def select(paper: str, *, figures: Iterable[int | str] = (), tables: Iterable[int | str] = ()) -> tuple[Item, ...]:
    """Choose items by their numbers as printed; all of the paper where none are named.

    Args:
        paper: Short name.
        figures: For example 2 or "D1"; "d1" and "D.1" are the same figure.
        tables: Likewise.

    Raises:
        ParameterError: a number is not among the paper's items.
    """
    items = items_of(paper)
    known = {(item.kind, _plain(item.number)): item for item in items}
    chosen = {}
    for kind, number in [(FIGURE, number) for number in figures] + [(TABLE, number) for number in tables]:
        item = known.get((kind, _plain(number)))
        if item is None:
            there = ", ".join(f"{item.kind} {item.number}" for item in items)
            raise ParameterError(f"{kind} {number} of {paper} cannot be redone here; there are {there}")
        chosen[item.name] = item
    return tuple(chosen.values()) or items


def _plain(number: int | str) -> str:
    """A number as it is compared: figures of an appendix are written D1, d1 or D.1."""
    return str(number).strip().upper().replace("D.", "D")


def reproduce(
    items: Iterable[Item],
    *,
    plan: Plan,
    folder: Path,
    progress: Progress,
    workers: int | None = None,
    report: Callable[[Finding], None] = lambda finding: None,
) -> tuple[Finding, ...]:
    """Redo items of a paper.

    Finished runs are kept in `folder`; the same call after an interruption goes on from there.

    Args:
        items: From `select`.
        plan: How thoroughly.
        folder: Where pictures, numbers and verdicts go; made if missing.
        progress: Is told of every task.
        workers: Processes; one per core if None.
        report: Is told of every item when it is done.

    Raises:
        ParameterError: a parameter is out of range, the folder cannot be written to, or the
            drawing library is missing.
        TaskError: a run failed.
    """
    if plan.runs is not None and plan.runs < 1:
        raise ParameterError(f"`runs` must be at least 1, got {plan.runs}")
    if workers is not None and workers < 1:
        raise ParameterError(f"`workers` must be at least 1, got {workers}")
    for place in plan.data:
        if not place.exists():
            raise ParameterError(f"there is no file or folder {plain(place)} with data sets")
    if importlib.util.find_spec("matplotlib") is None:
        raise ParameterError("figures are drawn with matplotlib, which is not installed; pip install 'ogive[plots]'")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        reason = (problem.strerror or "unknown reason").lower()
        raise ParameterError(f"cannot write to the folder {plain(folder)}: {reason}") from None
    store = ResultStore(folder / "runs.jsonl")
    findings = []
    try:
        for item in items:
            tasks = item.tasks(plan)
            do_tasks(tasks, store, progress, workers=workers or os.cpu_count() or 1)
            # read back from the store, so that a resumed reproduction is summed up like any other
            numbers = ((task.setting, store.get(task.key) or {}) for task in tasks)
            summary = Summary.of(numbers)
            checks = item.judge(summary)
            files = write_item(item, plan, summary, checks, folder)
            findings.append(Finding(item, plan, summary, checks, files))
            report(findings[-1])
    finally:
        store.close()
    write_overview([finding.to_dict() for finding in findings], folder)
    return tuple(findings)
