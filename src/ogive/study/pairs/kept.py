"""What the service of a study of people keeps: that pairs have begun, what became of each, and what came out."""

from __future__ import annotations

from ogive.crypto.wire import Reader
from ogive.queries import Answer
from ogive.runtime.pairs import History, PairsStudy
from ogive.runtime.pairs.history import Met, read_passes, write_pass
from ogive.study.frames import read_answer, write_answer
from ogive.study.pairs.document import PeopleStudy
from ogive.study.store import Kept, Store, begin, check

_STUDY, _BEGUN, _ANSWER, _OVER = "pairs/study", "pairs/begun", "pairs/answer", "pairs/over"
_PASS, _MET = "pairs/pass/", "pairs/met/"


def begin_state(kept: Kept, study: PeopleStudy, words: str) -> None:
    """Refuse the state of another study; a new state is of this one from now on.

    Raises:
        PeerError: it is one.
    """
    begin(kept, _STUDY, study.digest, words)


def check_state(store: Store, study: PeopleStudy) -> None:
    """Refuse a state that no service of this study runs on.

    Raises:
        ParameterError: it is another state, or no service ran on it yet.
        PeerError: it is of another study, or of another version of this one.
    """
    check(store, _STUDY, study.digest, "that of a service of people; name the --state that ogive study serve")


def keep(kept: Kept, changes: History) -> None:
    """Keep what has changed."""
    for told in changes.passes:
        kept.put(f"{_PASS}{told.number:08d}", write_pass(told))
    if changes.pairs:
        kept.put_new(_BEGUN, b"")
    for number, met in changes.pairs.items():
        kept.put(f"{_MET}{number:08d}", met.to_bytes())


def history(kept: Kept, protocol: PairsStudy) -> History:
    """What became of pairs so far."""
    passes = read_passes(protocol, [kept.get(name) or b"" for name in kept.names(_PASS)])
    outputs = next(iter(protocol.circuits.values())).outputs
    bits = sum(port.width for port in outputs)
    pairs = {
        int(name.removeprefix(_MET)): Met.from_bytes(kept.get(name) or b"", outputs=bits) for name in kept.names(_MET)
    }
    return History(passes, pairs)


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
