"""Commands about an installation: completion, warmup, bench, and those that other distributions bring."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from cyclopts import App, Parameter

from ogive.cli.data import Flag
from ogive.cli.output import busy
from ogive.errors import DataError, ParameterError, RefusalError, plain

# --- `ogive completion`


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a script that completes commands and options; nothing is changed on this machine.

    Args:
        shell: Where it is for. In bash: eval "$(ogive completion bash)"; in zsh the same with zsh; in fish:
            ogive completion fish | source.
    """
    from ogive.cli import build

    print(build().generate_completion(prog_name="ogive", shell=shell))


# --- `ogive warmup`


def warmup(*, check: Flag = False) -> None:
    """Compile ahead of time, on this machine, the code that releases use.

    A release of each kind is made of records that nobody has. Compiled code is kept beside the package's source,
    or, where that is read-only, in the user's cache folder; NUMBA_CACHE_DIR names another. It fits processors such as
    this machine's.

    Args:
        check: Compile nothing, and say whether all of it is there; exit status 1 where it is not.
    """
    from ogive.cli import warming
    from ogive.releasing.release import no_ledger_wanted

    no_ledger_wanted()  # records are invented here

    place = warming.place()
    if place is None and not check:
        raise RefusalError(
            "compiled code can be kept nowhere: the package's folder and the user's cache folder cannot be written to; "
            "set NUMBA_CACHE_DIR to a folder that you alone can write to"
        )
    compiled, seconds = 0, 0.0
    number = len(warming.tasks())
    with busy("checking compiled code" if check else "compiling for this machine") as progress:
        for done, task in enumerate(warming.warm(kept=check), start=1):
            progress(done, number)
            compiled, seconds = compiled + task.compiled, seconds + task.seconds
            if not check:
                print(f"{task.name:<32} {task.compiled:>4} compiled, {task.seconds:5.1f} s", flush=True)
    if check:
        print("all that releases use is compiled for this machine")
    else:
        print(f"{compiled} functions compiled in {seconds:.0f} s; the code is kept in {place}")


# --- `ogive bench`

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
    for path, result in ((old, before), (new, after)):
        # a line through measured times may foresee none above 0
        for key, each in list(result.items()):
            if each.value <= 0 or (each.peer_value is not None and each.peer_value <= 0):
                print(f"Left out of {plain(path)}, where it is not above 0: {key[0]}, {key[1]}")
                del result[key]
    both = [key for key in before if key in after]
    if not both:
        raise DataError(f"{plain(old)} and {plain(new)} have no measured time or speed in common")
    changes = {}  # how many times as slow it is now
    for key in both:
        was, is_now = before[key].value, after[key].value
        changes[key] = was / is_now if is_speed(after[key].unit) else is_now / was
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


def is_speed(unit: str) -> bool:
    """Whether more of it is better: a number of something a second."""
    return unit.endswith("/s")


def _read(path: Path) -> dict[tuple[str, str, str | None], Measured]:
    """The times and speeds of a file, by work, metric and peer."""
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
    if not all(math.isfinite(value) for value in (measured.value, measured.peer_value) if value is not None):
        raise ValueError
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


# --- Commands of other distributions, found by their entry points when they are used

GROUP = "ogive.commands"
"""The group of entry points; each is a function or an App, named as its command."""

INSTALLED_BY = {"reproduce": "pip install ./papers, in a copy of ogive's repository"}
"""What installs a command's distribution."""


def __getattr__(name: str) -> Any:
    if name not in INSTALLED_BY:
        raise AttributeError(name)
    for each in entry_points(group=GROUP, name=name):
        try:
            return each.load()
        except ModuleNotFoundError as problem:  # its package is gone
            if problem.name != each.module.partition(".")[0]:
                raise
    return _absent(name)


def _absent(name: str) -> Callable[..., None]:
    """What stands for a command whose distribution is not installed."""

    def absent(*words: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> None:
        raise ParameterError(f"`ogive {name}` comes with a package that is not installed; run {INSTALLED_BY[name]}")

    return absent
