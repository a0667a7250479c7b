"""One figure or table of a paper: independent seeded tasks, a picture of their summary, and a verdict.

A task is one run at one setting. Its numbers depend on nothing but the item, the setting, the
run and the seed, so tasks can be done in any order, in any process, and kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ogive
from ogive.errors import ParameterError, quoted
from ogive_papers.summaries import Summary
from ogive_papers.verdicts import Check

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Setting = Mapping[str, int | float | str]
Numbers = dict[str, float]
Places = tuple[Path, ...]
Measure = Callable[[Setting, int, Places], Numbers]

FIGURE, TABLE = "figure", "table"
_PAPERS = "papers/"


@dataclass(frozen=True)
class Plan:
    """How thorough a reproduction is.

    Fields:
        runs: Repetitions at every setting; what is usual for each item if None.
        quick: Fewer settings, for a first look.
        seed: Decides every random number.
        data: Folders and files with data sets, for items that read some; what is found first is taken.
    """

    runs: int | None = None
    quick: bool = False
    seed: int = 1
    data: Places = ()


def first_file(places: Places, names: Sequence[str]) -> Path | None:
    """The first of some places that is a file, or the first file of these names in a folder among them; else None."""
    for place in places:
        if place.is_file():
            return place
        for name in names:
            if (place / name).is_file():
                return place / name
    return None


def content_of(path: Path | None, absent: str) -> str:
    """The start of a file's SHA-256; `absent` where there is no file."""
    return absent if path is None else hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def no_inputs(data: Places) -> Setting:
    """What an item that reads no data knows of them."""
    return {}


@dataclass(frozen=True)
class Item:
    """A figure or table, and what it takes to redo it.

    Fields:
        paper: Short name of the paper.
        kind: `FIGURE` or `TABLE`.
        number: As printed, for example 2 or "D1".
        title: What is shown, in a few words.
        settings: The parameters at which to measure; fewer when asked to be quick. A setting's "runs" is
            the most repetitions wanted there.
        measure: Numbers of one run, from a setting, a seed and the places of data. A function of a
            module, since it is sent to other processes.
        draw: Puts a summary on an empty figure.
        judge: Compares a summary with what the paper says of the figure.
        code: Patterns of files that decide the numbers, of ogive or, below papers/, of this package; when one
            changes, runs are redone.
        inputs: Names the data that are read, by content; becomes part of every setting, so that numbers of
            other data are not taken for known.
        most_runs: Repetitions that are enough at every setting, or None.
        usual_runs: Repetitions at every setting where nothing else is asked for.
        alone: Whether tasks must not share the machine with each other (run times).
    """

    paper: str
    kind: str
    number: int | str
    title: str
    settings: Callable[[bool], tuple[Setting, ...]]
    measure: Measure
    draw: Callable[[Summary, Figure], None]
    judge: Callable[[Summary], tuple[Check, ...]]
    code: tuple[str, ...]
    inputs: Callable[[Places], Setting] = no_inputs
    most_runs: int | None = None
    usual_runs: int = 100
    alone: bool = False

    @property
    def name(self) -> str:
        """For example "figure-2"; names the item's files."""
        return f"{self.kind}-{self.number}"

    def tasks(self, plan: Plan) -> tuple[Task, ...]:
        """Every run at every setting; the first run of all settings comes first."""
        inputs = self.inputs(plan.data)
        settings = [{**setting, **inputs} for setting in self.settings(plan.quick)]
        runs = self.runs(plan)
        return tuple(
            Task(self, setting, run, plan)
            for run in range(runs)
            for setting in settings
            if run < int(setting.get("runs", runs))
        )

    def runs(self, plan: Plan) -> int:
        """Repetitions at every setting."""
        wanted = self.usual_runs if plan.runs is None else plan.runs
        return wanted if self.most_runs is None else min(wanted, self.most_runs)


@dataclass(frozen=True)
class Task:
    """One run of one item at one setting."""

    item: Item
    setting: Setting
    run: int
    plan: Plan

    @property
    def description(self) -> dict[str, Any]:
        """What identifies the task, as plain data."""
        return {
            "paper": self.item.paper,
            "item": self.item.name,
            "setting": dict(self.setting),
            "run": self.run,
            "seed": self.plan.seed,
        }

    @property
    def seed(self) -> int:
        """128 bits for this task alone."""
        return int.from_bytes(_digest(self.description)[:16], "little")

    @property
    def key(self) -> str:
        """Names the task's numbers among those already known; another code, another key."""
        return _digest({**self.description, "code": code_version(self.item.code)}).hex()


def _digest(data: dict[str, Any]) -> bytes:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).digest()


@cache
def code_version(patterns: tuple[str, ...]) -> str:
    """Digest of the files that match any of the patterns, of ogive or, below papers/, of this package.

    Raises:
        ParameterError: a pattern matches no file.
    """
    digest = hashlib.sha256()
    for pattern in patterns:
        is_here = pattern.startswith(_PAPERS)
        root = Path(__file__).parent if is_here else Path(ogive.__file__).parent
        files = sorted(root.glob(pattern.removeprefix(_PAPERS)))
        if not files:
            raise ParameterError(f"no file of ogive matches {quoted(pattern)}")
        for file in files:
            name = (_PAPERS if is_here else "") + file.relative_to(root).as_posix()
            digest.update(f"{name}\n".encode() + file.read_bytes())
    return digest.hexdigest()
