"""What the service of a study of people keeps: that pairs have begun, and what came out."""

from __future__ import annotations

from ogive.crypto.wire import Reader
from ogive.errors import RefusalError
from ogive.queries import Answer
from ogive.study.frames import read_answer, write_answer
from ogive.study.pairs.document import PeopleStudy
from ogive.study.store import Kept

_BEGUN, _ANSWER, _OVER = "pairs/begun", "pairs/answer", "pairs/over"


def begin(kept: Kept, study: PeopleStudy) -> None:
    """Note that pairs begin, once."""
    kept.put_new(_BEGUN, study.digest)


def check_state(kept: Kept, study: PeopleStudy) -> None:
    """Refuse a state of pairs that began in a process that ended before they were through.

    Raises:
        RefusalError: it is one, or a state of another study.
    """
    begun = kept.get(_BEGUN)
    if begun not in (None, study.digest):
        raise RefusalError("this state is of another study; give each study a file of its own")
    if state(kept) == "running":
        raise RefusalError(
            "the pairs of this state began before and were not gone through; what people gave is spent, and people "
            "who want to go on need a new study with a new state"
        )


def end(kept: Kept, answer: Answer | None, reason: str) -> None:
    """Keep what came out; or why there is nothing."""
    if answer is None:
        kept.put(_OVER, reason.encode())
    else:
        kept.put(_ANSWER, write_answer(answer))


def answer(kept: Kept) -> Answer | None:
    """What came out; None before the end."""
    found = kept.get(_ANSWER)
    return None if found is None else read_answer(Reader(found, "kept answer"))


def ended(kept: Kept) -> str | None:
    """Why nothing came out; None if something did or may."""
    found = kept.get(_OVER)
    return None if found is None else found.decode()


def state(kept: Kept) -> str:
    """Waiting, running, released or over."""
    if kept.get(_ANSWER) is not None:
        return "released"
    if kept.get(_OVER) is not None:
        return "over"
    return "waiting for people" if kept.get(_BEGUN) is None else "running"
