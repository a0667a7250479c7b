"""`ogive bench`: what the benchmarks of two versions or machines measured, compared."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from cyclopts import App, Parameter

from ogive.errors import DataError, RefusalError, plain

TOLERANCE = 0.05
TIMES = ("s", "ms", "us", "ns", "min")

app = App(name="bench", help="Compare results of the benchmarks, two JSON files.")

Results = Annotated[Path, Parameter(help="Rows of the benchmarks, as `make bench` writes them.")]


class Measured(NamedTuple):
    """One measurement of a time or a speed."""

    value: float
    unit: str
    peer: str | None
    peer_value: float | None
    machine: str | None

    @property
    def is_positive(self) -> bool:
        """Whether it can be compared: a line through measured times may foresee none above 0."""
        return self.value > 0 and (self.peer_value is None or self.peer_value > 0)


@app.command
def compare(old: Results, new: Results) -> None:
    """Say what became slower by more than 5 %: times and speeds of the same work in two files of results.

    Exit status 1 where something did. How the peer of a row changed is said beside it: where a peer, which is the same
    code in both, became slower too, the machine was slower or busier.

    Args:
        old: Results of before.
        new: Results of now.
    """
    before, after = _read(old), _read(new)
    for path, found in ((old, before), (new, after)):
        for key in [key for key, each in found.items() if not each.is_positive]:
            print(f"Left out of {plain(path)}, where it is not above 0: {key[0]}, {key[1]}")
            del found[key]
    both = [key for key in before if key in after]
    if not both:
        raise DataError(f"{plain(old)} and {plain(new)} have no measured time or speed in common")
    changes = {key: slowdown(before[key].value, after[key].value, after[key].unit) for key in both}
    slower = sorted((key for key in both if changes[key] > 1 + TOLERANCE), key=lambda key: -changes[key])
    faster = sum(change < 1 / (1 + TOLERANCE) for change in changes.values())
    elsewhere = any(before[key].machine != after[key].machine or before[key].machine is None for key in both)
    for key in slower:
        print(_line(key, before[key], after[key]))
    if elsewhere:
        print("The files are of different machines or versions of packages, or do not say which.")
    apart = len(before) + len(after) - 2 * len(both)
    print(
        f"{len(both)} times and speeds: {len(slower)} slower by more than {TOLERANCE:.0%}, {faster} faster; "
        f"{apart} in one file only"
    )
    if slower:
        raise RefusalError(f"{len(slower)} of {len(both)} became slower by more than {TOLERANCE:.0%}")


def slowdown(old: float, new: float, unit: str) -> float:
    """How many times as slow the new is as the old; below 1 where it is faster.

    Args:
        old: A time or a speed, positive.
        new: The same measured again.
        unit: Of both; a speed is a number of something a second.
    """
    return old / new if is_speed(unit) else new / old


def is_speed(unit: str) -> bool:
    """Whether more of it is better: a number of something a second."""
    return unit.endswith("/s")


def _read(path: Path) -> dict[tuple[str, str, str | None], Measured]:
    """The times and speeds of a file, by work, metric and peer.

    Raises:
        DataError: it cannot be read, or holds no rows of benchmarks.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {
            (row["work"], row["metric"], row["peer"]): _measured(row)
            for row in rows
            if row["unit"] in TIMES or is_speed(row["unit"])
        }
    except OSError as problem:
        raise DataError(f"cannot read {plain(path)}: {(problem.strerror or 'unknown reason').lower()}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError(
            f"{plain(path)} holds no results of benchmarks; `make bench` and `make bench-quick` write them"
        ) from None


def _measured(row: dict[str, Any]) -> Measured:
    measured = Measured(row["value"], row["unit"], row["peer"], row["peer_value"], row.get("machine"))
    for value in (measured.value, measured.peer_value):
        if value is not None and not math.isfinite(value):
            raise ValueError(value)
    return measured


def _line(key: tuple[str, str, str | None], old: Measured, new: Measured) -> str:
    work, metric, peer = key
    line = f"{work}\n    {metric}: {old.value:g} to {new.value:g} {new.unit}, {_change(old.value, new.value)}"
    if old.peer_value is not None and new.peer_value is not None:
        line += f"; {peer} {_change(old.peer_value, new.peer_value)}"
    return line


def _change(old: float, new: float) -> str:
    """How a time or a speed changed, as a part of the old one."""
    return f"{abs(new / old - 1):.0%} {'less' if new < old else 'more'}"
