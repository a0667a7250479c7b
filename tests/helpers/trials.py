"""Starting, racing and killing processes that use one ledger."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path

from helpers import trial_children
from helpers.trial_children import ACCOUNT, CHARGE, STEPS

import ogive

KILLED = signal.SIGKILL
CHARGED = Fraction(CHARGE)


@cache
def _program() -> subprocess.Popen[str]:
    """The program that forks for all tests of this process, and ends with it."""
    with tempfile.TemporaryDirectory() as keys:  # of the release with which it warms up
        started = subprocess.Popen(
            [sys.executable, trial_children.__file__],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"XDG_CONFIG_HOME": keys},
        )  # fmt: skip
        atexit.register(started.communicate)
        assert started.stdout is not None
        assert started.stdout.readline().strip() == "ready"
    return started


class Forks:
    """A program that forks children on request; they see the keys that the test which asks sees."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._notes = 0
        self._program = _program()

    def _read_line(self) -> str:
        assert self._program.stdout is not None
        return self._program.stdout.readline()

    def _ask(self, request: dict) -> dict:
        assert self._program.stdin is not None
        keys = os.environ.get("XDG_CONFIG_HOME")
        self._program.stdin.write(json.dumps({**request, "keys": keys}) + "\n")
        self._program.stdin.flush()
        return json.loads(self._read_line())

    def _new_notes(self) -> Path:
        self._notes += 1
        return self.folder / f"notes-{self._notes}"

    def run(self, request: dict, *, kill_after: float | None = None) -> tuple[int, list[tuple[str, str]]]:
        """Run one child, or kill it after a while; its wait status and what it noted."""
        path = self._new_notes()
        killing = {} if kill_after is None else {"kill_after": kill_after}
        return self._ask({**request, **killing, "out": str(path)})["status"], read_notes(path)

    def race(self, requests: list[dict]) -> list[tuple[int, list[tuple[str, str]]]]:
        """Run children at once: each begins when all are ready."""
        gate = self._new_notes()
        gate.mkdir()
        paths = [self._new_notes() for _ in requests]
        for request, path in zip(requests, paths, strict=True):
            self._ask({**request, "out": str(path), "gate": [str(gate), len(requests)], "background": True})
        statuses = self._ask({"task": "wait"})["statuses"]
        return [(status, read_notes(path)) for status, path in zip(statuses, paths, strict=True)]


def read_notes(path: Path) -> list[tuple[str, str]]:
    """(kind, text) of every line that a child wrote."""
    if not path.exists():
        return []
    return [tuple(line.split(" ", 1)) for line in path.read_text(encoding="utf-8").splitlines()]  # type: ignore[misc]


@contextlib.contextmanager
def forks(folder: Path) -> Iterator[Forks]:
    """A `Forks`; after a failure the next one has a program of its own, which has no children at work."""
    try:
        yield Forks(folder)
    except BaseException:
        _program().kill()
        _program.cache_clear()
        raise


@dataclass
class Findings:
    """What a series of kill trials came to.

    Fields:
        trials: Questions that were asked, killed at least once and at last answered.
        kills: Processes that were really killed.
        resumed: Trials in which noise was drawn before a kill and again after it.
        steps: Kills by step; "at random" for those at a random time.
        faults: What was wrong, in words; empty if nothing.
    """

    trials: int = 0
    kills: int = 0
    resumed: int = 0
    steps: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def kill_trials(
    program: Forks,
    place: str,
    *,
    trials: int,
    seed: int,
    spoiled: str | None = None,
    seconds: float = 0.06,
    steps: tuple[str, ...] = STEPS,
) -> Findings:
    """Ask new questions, kill whoever answers at named steps and at random times, ask again until it is answered.

    Args:
        program: Forks the children.
        place: Of the ledger; it is made here.
        trials: How many questions.
        seed: Of steps and times.
        spoiled: Break the children's ledger in a named way, as a control.
        seconds: About how long a release takes; random kills come within.
        steps: The named steps.
    """
    chance = random.Random(seed)
    found = Findings()
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account(ACCOUNT, unit=ogive.PrivacyUnit(ogive.Adjacency.REPLACE))
        for number in range(trials):
            _trial(program, place, account, number, chance, found, spoiled, seconds, steps)
            if spoiled and found.faults:
                return found
        if _spent(account) != trials * CHARGED:
            found.faults.append(f"{trials} questions cost {_spent(account)}, not {trials * CHARGED}")
        if _secrets(account):
            found.faults.append("secrets of finished releases are kept")
    return found


def _trial(
    program: Forks,
    place: str,
    account: ogive.Account,
    number: int,
    chance: random.Random,
    found: Findings,
    spoiled: str | None,
    seconds: float,
    steps: tuple[str, ...],
) -> None:
    drawn: list[str] = []
    answers: list[str] = []
    before = _spent(account)
    high = before
    plain = {"task": "release", "place": place, "number": number, "spoiled": spoiled}
    # every step gets its turn; some releases are killed again and again
    turn = number // 3 if len(steps) % 3 == 0 else number  # what dies at one of three lines takes three turns
    attempts = [steps[turn % len(steps)] if chance.random() < 0.6 else None]
    while chance.random() < 0.4:
        attempts.append(chance.choice([*steps, None]))
    for step in [*attempts, "never"]:
        if step is None:
            status, notes = program.run(plain, kill_after=chance.uniform(0, seconds))
        else:
            status, notes = program.run({**plain, "step": step})
        if os.WIFSIGNALED(status):
            found.kills += 1
            where = step or "at random"
            found.steps[where] = found.steps.get(where, 0) + 1
        found.faults += [f"trial {number}: {text}" for kind, text in notes if kind == "problem"]
        noise = [text for kind, text in notes if kind == "noise"]
        found.resumed += bool(drawn and noise)
        drawn += noise
        answers += [text for kind, text in notes if kind == "answer"]
        spent = _spent(account)
        if spent < high:
            found.faults.append(f"trial {number}: the spend fell from {high} to {spent}")
        if drawn and spent < before + CHARGED:
            found.faults.append(f"trial {number}: noise was drawn and nothing is charged")
        if spent > before + CHARGED:
            found.faults.append(f"trial {number}: charged more than once")
        high = max(high, spent)
    if len(set(drawn)) > 1:
        found.faults.append(f"trial {number}: two attempts drew different noise")
    if not answers or len(set(answers)) > 1:
        found.faults.append(f"trial {number}: {len(set(answers))} different answers")
    found.trials += 1


def _spent(account: ogive.Account) -> Fraction:
    spent = account.spent
    if spent is None:
        return Fraction(0)
    assert isinstance(spent, ogive.PureDP)
    return spent.epsilon


def _secrets(account: ogive.Account) -> int:
    rows = account._tables.spends(account._spot.number, None)
    return sum(row.secret is not None or bool(row.bound) for row in rows)
