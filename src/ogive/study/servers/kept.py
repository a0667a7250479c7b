"""What a server stores of each release: that it was asked for, the opened sums, why it is over; and its steps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ogive.crypto.wire import Reader
from ogive.errors import RefusalError
from ogive.queries import Answer
from ogive.segments import Segments
from ogive.statistics.base import Estimate
from ogive.study.course import Step, check_together, course, estimate_of
from ogive.study.document import ServersStudy
from ogive.study.frames import read_answers
from ogive.study.store import Kept, Store

CLOSED = "closed"


def request(store: Store, study: ServersStudy, name: str) -> None:
    """Ask for a release; one that was asked for stays as it is."""
    study.release_named(name)
    with store.write() as kept:
        asked = [each.name for each in study.releases if is_requested(kept, each.name)]
        if name not in asked:
            check_together(study, asked, name)
        kept.drop_one(f"refused/{name}")
        kept.put_new(f"requested/{name}", b"")


def closed(kept: Kept) -> int | None:
    result = kept.get(CLOSED)
    return None if result is None else int.from_bytes(result, "little")


def refuse(kept: Kept, name: str, reason: str) -> None:
    """Forget that a release was asked for, and note why; nothing of it was begun, and it may be asked for again."""
    kept.drop_one(f"requested/{name}")
    kept.put(f"refused/{name}", reason.encode())


def refused(kept: Kept, name: str) -> str | None:
    result = kept.get(f"refused/{name}")
    return None if result is None else result.decode()


def is_requested(kept: Kept, name: str) -> bool:
    return kept.get(f"requested/{name}") is not None


def end(kept: Kept, name: str, reason: str) -> None:
    kept.put(f"over/{name}", reason.encode())


def ended(kept: Kept, name: str) -> str | None:
    result = kept.get(f"over/{name}")
    return None if result is None else result.decode()


def answers(kept: Kept, name: str) -> tuple[Answer, ...]:
    return read_answers(kept.get(f"answers/{name}") or b"")


def untold(kept: Kept) -> list[tuple[int, int, list[bytes]]]:
    """Releases, queries and answers of which some server may not have been told, in order."""
    results = []
    for name in kept.names("untold/"):
        _, number, query = name.split("/")
        reader, messages = Reader(kept.get(name) or b"", "kept answers"), []
        while reader.left:
            messages.append(reader.take(reader.number(4)))
        results.append((int(number), int(query), messages))
    return sorted(results)


def estimate(study: ServersStudy, number: int, opened: Sequence[Answer]) -> Estimate | None:
    if not opened or isinstance(course(study, study.releases[number], opened), Step):
        return None
    return estimate_of(study, number, opened)


def state(kept: Kept, study: ServersStudy, number: int, *, complete: bool) -> dict[str, Any]:
    release = study.releases[number]
    opened, reason = len(answers(kept, release.name)), ended(kept, release.name)
    word = "running" if opened or is_requested(kept, release.name) else "not requested"
    if reason is not None:
        word = "over"
    elif complete:
        word = "released"
    return {"name": release.name, "privacy": str(release.privacy), "state": word, "opened": opened, "reason": reason}


# --- The number of steps, apart from the state, which shows that a state was lost or is an older one
#
# A server that forgot which material it used would use it for a second check, and that tells the other server the cells
# of its clients. So the number of each step is in the state first, then here, and only then does anything of the step
# leave. A state with a smaller number than the last one here is not the one that this server had.

FOLDER = "steps"

_STEPS, _NUMBER_BYTES = "steps", 8


class Steps:
    """The steps of one server."""

    def __init__(self, folder: Path) -> None:
        self._log = Segments(folder / FOLDER)
        try:
            self._noted = max((int.from_bytes(each, "little") for each in self._log), default=0)
        except BaseException:
            self._log.close()
            raise

    def check(self, kept: Kept, words: str) -> None:
        if _taken(kept) < self._noted:
            raise RefusalError(
                f"the state {words} is lost or an older one: this server took {self._noted} steps, and it knows of "
                f"{_taken(kept)}; what is used twice would reveal records, so a new study is needed"
            )

    def take(self, kept: Kept) -> int:
        """Count a step in the state; returns its number, which is to be noted once the state is durable."""
        number = max(_taken(kept), self._noted) + 1
        kept.put(_STEPS, number.to_bytes(_NUMBER_BYTES, "little"))
        return number

    def note(self, number: int) -> None:
        self._log.append([number.to_bytes(_NUMBER_BYTES, "little")])
        self._noted = number

    def close(self) -> None:
        self._log.close()


def _taken(kept: Kept) -> int:
    return int.from_bytes(kept.get(_STEPS) or b"", "little")
