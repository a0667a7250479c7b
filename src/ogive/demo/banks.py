"""The same customers divided among five banks that may not pool rows: a study, and a crash in the middle of it."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ogive.demo.story import CONFIDENCE_LEVEL, Busy, Part, wishes
from ogive.errors import ParameterError, plain
from ogive.privacy import PureDP, number_text

if TYPE_CHECKING:
    import pyarrow as pa

    from ogive.demo.data import Evaluation
    from ogive.demo.loopback import Loopback

FOLDER = "banks"
BANKS = tuple(f"bank-{number}" for number in range(1, 6))
KILLED = BANKS[2]
JUDGED = ("roc", "calibration")
"""What the banks release together: the same of the same model as the demonstration with one table."""

_SECONDS = 120.0

_TEXT = """\
ogive-study = 1
name = "five-banks"
title = "one model judged by five banks ({digest})"
records = {records}
colluding = 1
dropouts = 1
budget = {{ epsilon = {budget} }}

[unit]
adjacency = "replace"

[coordinator]
key = "{coordinator}"
{parties}
[[release]]
name = "roc"
statistic = "roc"
privacy = {{ epsilon = {roc} }}
score = "probability"
label = "label"
bounds = [0, 1]
confidence_level = {level}

[[release]]
name = "calibration"
statistic = "calibration"
privacy = {{ epsilon = {calibration} }}
probability = "probability"
label = "label"
confidence_level = {level}
"""


@dataclass(frozen=True)
class Pooled:
    """One release of the study, beside the same from one table.

    Fields:
        name: As in the demonstration with one table.
        estimate: What the banks released together.
        curator: What was released from one table, by who holds all rows.
        truth: The same without noise.
    """

    name: str
    estimate: Any
    curator: Any
    truth: Any


@dataclass(frozen=True)
class Banks:
    """What came of the study.

    Fields:
        pooled: The releases.
        records: Of each bank.
        spent: The same for each bank's account.
        killed: The bank whose process was killed and started again; None where nothing was left to be done.
    """

    pooled: tuple[Pooled, ...]
    records: tuple[int, ...]
    spent: PureDP
    killed: str | None


def found_serving() -> bool:
    """Whether the libraries of a study's service are installed."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in ("starlette", "uvicorn", "httpx"))


def pool(folder: Path, evaluation: Evaluation, parts: tuple[Part, ...], busy: Busy) -> Banks:
    """Run the study, kill one bank's agent in the middle and start it again.

    Args:
        folder: Of the whole demonstration; the study has a folder of its own in it. One that was interrupted goes on.
        evaluation: The customers, who are divided among the banks.
        parts: The releases from one table.
        busy: Shows what is being done.

    Raises:
        ParameterError: the folder has a study of other customers.
        StudyFailed: a process ended, or nothing came in two minutes.

    Privacy:
        epsilon = 1.25 for each bank's customers, one record replaced, beside what the story with one table spends.
    """
    from ogive.demo.loopback import Loopback

    place = folder / FOLDER
    with busy("preparing a study of five banks: keys, certificates, records"):
        _prepare(place, evaluation)
    killed = None
    with Loopback(place) as loopback:
        if not all(map(loopback.is_complete, JUDGED)):
            killed = KILLED
            loopback.start()
            _release(loopback, busy)
        found = tuple(_pooled(loopback, part) for part in parts if part.wish.name in JUDGED)
        return Banks(found, tuple(table.num_rows for table in _divided(evaluation).values()), _budget(), killed)


def _release(loopback: Loopback, busy: Busy) -> None:
    for name in JUDGED:
        privacy = loopback.study.release_named(name).privacy
        loopback.request(name)
        if name == JUDGED[0]:
            with busy(f"five banks release {name} together ({privacy}), {KILLED} is killed in the middle"):
                loopback.until(partial(_has_sent, loopback, name), _SECONDS)
                loopback.kill(KILLED)
                loopback.agent(KILLED)
        with busy(f"five banks release {name} together ({privacy})"):
            loopback.until(partial(loopback.is_complete, name), _SECONDS)


def _has_sent(loopback: Loopback, name: str) -> bool:
    """Whether the bank that is killed has sent its masked counts, or the release is complete already."""
    return f"release {name}, query 1, attempt 1: answered the step input" in loopback.said(KILLED) or (
        loopback.result(name) is not None
    )


def _pooled(loopback: Loopback, part: Part) -> Pooled:
    from ogive.statistics.kinds import read_recorded

    released = loopback.result(part.wish.name)
    assert released is not None
    return Pooled(part.wish.name, read_recorded(released), part.estimate, part.truth)


def _prepare(place: Path, evaluation: Evaluation) -> None:
    """Make the study's folder, whole or not at all, unless it is there."""
    from ogive.demo.loopback import DOCUMENT, prepare
    from ogive.study.document import Study

    digest = hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in evaluation.columns.values()))
    told = digest.hexdigest()[:16]
    if place.exists():
        if told not in Study.read(place / DOCUMENT).title:
            raise ParameterError(f"{plain(place)} has a study of other customers; --fresh starts a new one")
        return
    making = place.with_name(f".{place.name}.new")
    shutil.rmtree(making, ignore_errors=True)
    try:
        prepare(making, records=_divided(evaluation), write=partial(_text, evaluation, told))
        making.rename(place)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _text(evaluation: Evaluation, digest: str, coordinator: str, keys: Mapping[str, str]) -> str:
    prices = {wish.name: number_text(wish.privacy.epsilon) for wish in wishes() if wish.name in JUDGED}
    parties = "".join(f'\n[[party]]\nname = "{name}"\nkey = "{key}"\n' for name, key in keys.items())
    return _TEXT.format(
        digest=digest,
        records=evaluation.records.size,
        budget=number_text(_budget().epsilon),
        coordinator=coordinator,
        parties=parties,
        level=CONFIDENCE_LEVEL,
        **prices,
    )


def _budget() -> PureDP:
    return PureDP(sum(wish.privacy.epsilon for wish in wishes() if wish.name in JUDGED))


def _divided(evaluation: Evaluation) -> dict[str, pa.Table]:
    """Each bank's customers: every fifth row."""
    import pyarrow as pa

    whole = pa.table({name: evaluation.columns[name] for name in ("probability", "label")})
    rows = np.arange(whole.num_rows)
    return {name: whole.take(rows[number :: len(BANKS)]) for number, name in enumerate(BANKS)}
