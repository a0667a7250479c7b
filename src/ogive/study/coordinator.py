"""The coordinator of a study: collects masked vectors, opens their sums, and publishes what follows from them.

It is a state machine between the network and the disk: `question` says what a party is to answer now, `receive` takes
in its reply, and `advance` goes on when all have answered or time is up. All of it is stored before anybody sees it, so
that the process may end at any moment. A release is requested, then running, and in the end released, or over.

Where curves are merged, a release has one step, in which each party sends its own.

An attempt that too few parties answered before anybody was asked to confirm a set ends, and another one begins. Once
anybody was asked, that set is completed or the release is over.

Learns: masked vectors, who takes part, the sums that are opened, and the parties' numbers of records where the
adjacency makes these public.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.crypto.aggregation import AggregationServer
from ogive.errors import OgiveError, ParameterError, PeerError
from ogive.queries import Answer
from ogive.statistics.base import Estimate, settled
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.merging import merge
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.statistics.kinds import read_recorded
from ogive.study.common import LOG
from ogive.study.course import Step, course, with_provenance
from ogive.study.document import MERGE, Study
from ogive.study.frames import Question, Reply, Stage, digest_of, settings_of
from ogive.study.store import OfParties, Progress, Store, begin, request
from ogive.trust.secagg.terms import shape_of
from ogive.trust.table import Central

STEP_SECONDS = 60.0
"""How long a step waits for those who have not answered, while enough others may."""
OPENING_SECONDS = 86_400.0
"""How long a confirmed set is waited for before the release is over."""
ATTEMPTS = 100
"""How many attempts are made before a release is over."""

REFUSED_SECONDS = 5.0
"""After how long a party that refused a step is asked again, while the step is open."""

_MOST_REASONS = 10


LARGEST_CURVE = 1 << 30
"""Bytes of a party's curve; one of 2^20 thresholds has some 40 MB."""


class Collected:
    """The curves of the parties for one release, numbered from 0, at the coordinator, to whom enough must come."""

    def __init__(self, study: Study, release_number: int) -> None:
        self._study = study
        self._release_number = release_number
        self._curves: dict[int, Curve] = {}

    @property
    def asked(self) -> tuple[int, ...]:
        return tuple(range(1, len(self._study.parties) + 1))

    @property
    def included(self) -> tuple[int, ...]:
        return tuple(sorted(self._curves))

    longest = LARGEST_CURVE
    """Bytes of what a party may send."""

    def receive(self, party: int, body: bytes) -> None:
        """Read a party's curve, which need not be trusted."""
        if len(body) > LARGEST_CURVE:
            raise _wrong(party, f"has more than {LARGEST_CURVE} bytes")
        try:
            curve = read_recorded(json.loads(body))
        except (OgiveError, ValueError, RecursionError):
            raise _wrong(party, "cannot be read") from None
        self._curves[party] = self._checked(party, curve)

    def merged(self) -> Curve:
        """The sum of the curves, of which no more may be missing than the study says."""
        missing = len(self._study.parties) - len(self._curves)
        if missing > self._study.dropouts:
            raise PeerError(
                f"{len(self._curves)} of {len(self._study.parties)} parties sent their curves, and "
                f"{self._study.dropouts} may be missing"
            )
        try:
            return merge(*(self._curves[party] for party in self.included))
        except ParameterError as problem:
            raise PeerError(f"the parties' curves do not add up: {problem}") from None

    def _checked(self, party: int, curve: Any) -> Curve:
        release, unit = self._study.releases[self._release_number], self._study.unit
        statistic = settled(release.statistic, unit)
        assert isinstance(statistic, Ecdf), "the study's file was checked for it"
        wrong = partial(_wrong, party)
        if not isinstance(curve, Curve) or curve.provenance is None:
            raise wrong("is not a released curve")
        origin = curve.provenance
        if curve.column != statistic.column or curve.grid != statistic.binning().grid:
            raise wrong("is of another column or of other thresholds")
        if origin.privacy != release.privacy or origin.trust != Central.options_type.name:
            raise wrong(f"is under {origin.privacy}, trust {origin.trust}, not under {release.privacy}, trust central")
        hidden = (origin.adjacency, origin.person, origin.max_rows_per_person)
        if hidden != (unit.adjacency, unit.person, unit.max_rows_per_person):
            raise wrong("hides other units than the study's")
        if [batch.name for batch in curve.batches] != [self._study.parties[party - 1].name]:
            raise wrong("is not of that party's records alone")
        return curve


def _wrong(party: int, what: str) -> PeerError:
    return PeerError(f"the curve of party {party} {what}")


@dataclass
class _Session:
    """One step of one attempt at a query, in memory; without a `step` where curves are merged.

    It `began` in seconds of this process's clock; `refused` says who has refused, and when.
    """

    number: int
    running: Progress
    step: Step | None
    server: AggregationServer | Collected
    asked: tuple[int, ...]
    began: float
    answered: set[int] = field(default_factory=set)
    refused: dict[int, float] = field(default_factory=dict)
    questions: dict[int, bytes] = field(default_factory=dict)

    @property
    def stage(self) -> Stage:
        return Stage(self.running.stage)

    def read(self, party: int, body: bytes) -> None:
        if isinstance(self.server, Collected):
            self.server.receive(party, body)
        else:
            self.server.receive(body)


class Coordinator:
    """The coordinator of one study.

    A step waits `step_seconds` for those who have not answered, and a confirmed set is waited for `opening_seconds`.
    """

    def __init__(
        self,
        study: Study,
        *,
        key: Ed25519PrivateKey,
        store: Store,
        step_seconds: float = STEP_SECONDS,
        opening_seconds: float = OPENING_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if key.public_key().public_bytes_raw() != study.coordinator:
            raise ParameterError("this is not the key of the study's coordinator")
        self.study = study
        self._key = key
        self._store = store
        self.step_seconds = step_seconds
        self._opening_seconds = opening_seconds
        self._clock = clock
        self._one = threading.RLock()
        self._session: _Session | None = None
        with store.write() as entries:
            begin(entries, study, store.words)
            releases = OfParties(study, entries)
            numbers = range(len(study.releases))
            self._unread = {(number, party) for number in numbers for party in releases.unread(number)}

    def request(self, name: str) -> None:
        request(self._store, self.study, name)

    def progress(self) -> dict[str, Progress]:
        with self._store.read() as entries:
            return OfParties(self.study, entries).all_progress

    def result(self, name: str) -> dict[str, Any] | None:
        with self._store.read() as entries:
            return OfParties(self.study, entries).result(self.study.place_of(name))

    def status(self, seen: Mapping[int, float]) -> dict[str, Any]:
        """What is public of every release and party; `seen` says when each agent last asked, in seconds since 1970."""
        study, waiting = self.study, self.waiting_for
        names = [party.name for party in study.parties]
        with self._store.read() as entries:
            rows = [OfParties(study, entries).row(number) for number in range(len(study.releases))]
        return {
            "study": study.name,
            "title": study.title,
            "digest": study.digest.hex(),
            "budget": str(study.budget),
            "parties": [{"name": name, "seen": seen.get(number)} for number, name in enumerate(names, 1)],
            "waiting_for": [names[number - 1] for number in waiting],
            "releases": rows,
        }

    @property
    def waiting_for(self) -> tuple[int, ...]:
        """Parties who are asked in this step and have not answered; who refused is asked again after a while."""
        with self._one:
            return () if self._session is None else self._missing(self._session)

    def question(self, party: int) -> bytes | None:
        """What a party is to answer now; the same bytes until it has; None if there is nothing to do."""
        with self._one:
            self.advance()
            session = self._session
            if session is not None and party in self._missing(session):
                if party not in session.questions:
                    session.questions[party] = self._ask(session, party).to_bytes(self._key)
                return session.questions[party]
            return self._result_for(party)

    def longest_reply(self, party: int) -> int:
        """Bytes of the longest reply that a party can give to what it is asked now; it may give it again."""
        with self._one:
            session = self._session
            return Reply.size(session.server.longest if session is not None and party in session.asked else 0)

    def receive(self, party: int, data: bytes) -> None:
        with self._one:
            reply = Reply.from_bytes(data, party=self.study.parties[party - 1].key)
            session = self._session
            question = None if session is None else session.questions.get(party)
            if session is None or question is None or reply.question != digest_of(question):
                if not self._has_read(party, reply):
                    raise PeerError(f"party {party} was not asked what it answers, or it is too late")
            elif party in session.answered:
                return  # the same reply again: signed, and to the same question
            elif reply.refused:
                session.refused[party] = self._clock()
                LOG.warning(
                    "%s: party %s refused the step %s; the log of its agent says why",
                    self._place(session),
                    self._party(party),
                    session.stage.word,
                )
            else:
                self._take(session, party, reply.body)
            self.advance()

    def advance(self) -> None:
        """Go on where all have answered or time is up, and begin what was asked for."""
        with self._one:
            if self._session is None:
                self._resume()
            while self._session is not None and self._is_due(self._session):
                if not self._close_step(self._session):
                    return

    # one step

    def _missing(self, session: _Session) -> tuple[int, ...]:
        again = self._clock() - min(REFUSED_SECONDS, self.step_seconds)
        refused = {party for party, when in session.refused.items() if when > again}
        return tuple(party for party in session.asked if party not in session.answered | refused)

    def _is_due(self, session: _Session) -> bool:
        waited = self._clock() - session.began >= self.step_seconds
        return waited or not set(session.asked) - session.answered - set(session.refused)

    def _take(self, session: _Session, party: int, body: bytes) -> None:
        session.read(party, body)
        try:
            with self._store.write() as entries:
                entries.put(_received(session, str(party)), body)
        except OgiveError:
            self._session = None  # it holds more than what is stored; read that again
            raise
        session.answered.add(party)

    def _close_step(self, session: _Session) -> bool:
        """Go on to the next step; False if there are too few for it, and they are waited for."""
        number, running, stage = session.number, session.running, session.stage
        try:
            if isinstance(session.server, Collected):
                return self._merge(session, session.server)
            if stage <= Stage.INPUT and set(running.members) - session.answered:
                raise PeerError("a party whose records are in an earlier sum of this release has left")
            following = session.server.close_round()
        except PeerError as problem:
            return self._fail(session, str(problem))
        LOG.info("%s: %d parties answered the step %s", self._place(session), len(session.answered), stage.word)
        self._session = None
        with self._store.write() as entries:
            releases = OfParties(self.study, entries)
            if stage is Stage.UNMASK:
                self._open(releases, session, session.server)
                return self._resume_in(releases)
            entries.drop(_of(number, "received/"))
            running = replace(running, stage=stage + 1)
            entries.put(_of(number, "server"), session.server.to_bytes())
            releases.put_progress(number, running)
        self._session = _Session(number, running, session.step, session.server, following, self._clock())
        return True

    def _fail(self, session: _Session, reason: str) -> bool:
        """End an attempt whose time is up, or the release where a set may be confirmed already."""
        number, running = session.number, session.running
        waited = self._clock() - session.began
        opening = session.stage in (Stage.CONFIRM, Stage.UNMASK)
        if waited < (self._opening_seconds if opening else self.step_seconds):
            return False  # those who are needed may come back
        if session.refused:
            reason += f"; refused by {', '.join(map(self._party, sorted(session.refused)))}, whose logs say why"
        if opening:
            reason = f"a set of parties was confirmed and cannot be opened: {reason}"
        over = opening or running.attempt + 1 >= ATTEMPTS
        if over:
            LOG.warning("release %s is over: %s", self._name(number), reason)
        else:
            LOG.warning("%s ended, and the next attempt begins: %s", self._place(session), reason)
        self._session = None
        with self._store.write() as entries:
            releases = OfParties(self.study, entries)
            _forget(releases, number)
            if over:
                following = replace(running, state="over", reason=reason)
            else:
                failed = (*running.failed, reason)[-_MOST_REASONS:]
                first = Stage.OWN if self.study.trust == MERGE else Stage.KEYS
                following = replace(running, attempt=running.attempt + 1, stage=first, failed=failed)
            releases.put_progress(number, following)
            return self._resume_in(releases)

    def _merge(self, session: _Session, collected: Collected) -> bool:
        number, merged = session.number, collected.merged()
        self._session = None
        with self._store.write() as entries:
            releases = OfParties(self.study, entries)
            _forget(releases, number)
            self._publish(releases, number, replace(session.running, members=collected.included), merged)
            return self._resume_in(releases)

    def _open(self, releases: OfParties, session: _Session, server: AggregationServer) -> None:
        """Keep an opened sum, and go on with the next query or publish."""
        number = session.number
        assert session.step is not None, "sums are opened of queries"
        answer = Answer(
            server.sum().view(np.int64).reshape(shape_of(session.step.query)),
            server.totals or None,
            adding=len(server.included),
            honest=self.study.aggregation.terms.honest,
        )
        answers = (*releases.answers(number), answer)
        releases.put_answers(number, answers)
        _forget(releases, number)
        running = replace(session.running, attempt=0, stage=0, members=server.included)
        try:
            following = course(self.study, self.study.releases[number], answers)
        except OgiveError as problem:  # a party may have shifted the sums beyond what any records have
            self._end(releases, number, running, str(problem))
            return
        if isinstance(following, Step):
            releases.put_progress(number, replace(running, query=following.number))
        else:
            self._publish(releases, number, running, with_provenance(self.study, number, following))

    def _end(self, releases: OfParties, number: int, running: Progress, reason: str) -> None:
        LOG.warning("release %s is over: %s", self._name(number), reason)
        releases.put_progress(number, replace(running, state="over", reason=reason))

    def _publish(self, releases: OfParties, number: int, running: Progress, estimate: Estimate) -> None:
        releases.publish(number, replace(running, state="released"), estimate.to_dict())
        self._unread |= {(number, party) for party in releases.unread(number)}
        LOG.info("release %s is published, with the records of %d parties", self._name(number), len(running.members))

    # what is asked

    def _ask(self, session: _Session, party: int) -> Question:
        running = session.running
        question = Question(self.study.digest, party, session.number, running.query, running.attempt, session.stage)
        if session.stage is Stage.KEYS:
            with self._store.read() as entries:
                return replace(question, answers=OfParties(self.study, entries).answers(session.number))
        if isinstance(session.server, Collected):
            return question
        return replace(question, message=session.server.message(party))

    def _result_for(self, party: int) -> bytes | None:
        """The result of a release that a party has not read yet, as the last question about it."""
        for number, other in sorted(self._unread):
            if other == party:
                with self._store.read() as entries:
                    releases = OfParties(self.study, entries)
                    answers = releases.answers(number)
                    merged = releases.result_bytes(number) if self.study.trust == MERGE else None
                question = Question(
                    self.study.digest, party, number, len(answers), 0, Stage.RESULT, answers, merged or b""
                )
                return question.to_bytes(self._key)
        return None

    def _has_read(self, party: int, reply: Reply) -> bool:
        """Whether a reply says that a party has read a result, which is not sent to it again."""
        sent = self._result_for(party)
        if sent is None or reply.question != digest_of(sent):
            return False
        number = min(number for number, other in self._unread if other == party)
        if reply.refused:
            LOG.warning(
                "release %s: party %s refused the result; the log of its agent says why",
                self._name(number),
                self._party(party),
            )
        with self._store.write() as entries:
            OfParties(self.study, entries).read(number, party)
        self._unread.discard((number, party))
        return True

    # from disk

    def _resume(self) -> None:
        if any(each.state in ("running", "requested") for each in self.progress().values()):
            with self._store.write() as entries:
                self._resume_in(OfParties(self.study, entries))

    def _resume_in(self, releases: OfParties) -> bool:
        """Go on with the release that is running, or begin the next that was asked for; True."""
        items = releases.all_progress
        for state in ("running", "requested"):
            for name, item in items.items():
                if item.state == state and self._session is None:
                    self._begin(releases, self.study.place_of(name), replace(item, state="running"))
        return True

    def _begin(self, releases: OfParties, number: int, running: Progress) -> None:
        if self.study.trust == MERGE:
            collected = Collected(self.study, number)
            running = replace(running, stage=Stage.OWN)
            releases.put_progress(number, running)
            self._ask_all(releases, _Session(number, running, None, collected, collected.asked, self._clock()))
            return
        releases.put_progress(number, running)
        try:
            step = course(self.study, self.study.releases[number], releases.answers(number))
        except OgiveError as problem:
            self._end(releases, number, running, str(problem))
            return
        assert isinstance(step, Step), "a release whose queries are all answered is released"
        settings = settings_of(self.study, number, step, running.attempt)
        stored = releases.entries.get(_of(number, "server"))
        server = (
            AggregationServer(settings, key=self._key)
            if stored is None
            else AggregationServer.from_bytes(stored, settings, key=self._key)
        )
        # whose records are in the sums is settled by the first query
        parties = running.members if running.members and running.stage == Stage.KEYS else server.asked
        self._ask_all(releases, _Session(number, running, step, server, parties, self._clock()))

    def _ask_all(self, releases: OfParties, session: _Session) -> None:
        """Begin a step, with what was received before this process began."""
        self._session = session
        LOG.info(
            "%s: %d parties are asked for the step %s", self._place(session), len(session.asked), session.stage.word
        )
        for name in releases.entries.names(_received(session)):
            party = int(name.rpartition("/")[2])
            session.read(party, releases.entries.get(name) or b"")
            session.answered.add(party)

    def _name(self, number: int) -> str:
        return self.study.releases[number].name

    def _place(self, session: _Session) -> str:
        running = session.running
        return f"release {self._name(session.number)}, query {running.query + 1}, attempt {running.attempt + 1}"

    def _party(self, number: int) -> str:
        return f"{number} ({self.study.parties[number - 1].name})"


def _of(release: int, what: str) -> str:
    return f"release/{release}/{what}"


def _received(session: _Session, party: str = "") -> str:
    return _of(session.number, f"received/{session.running.stage}/{party}")


def _forget(releases: OfParties, number: int) -> None:
    """Drop what an attempt that is over has stored."""
    releases.entries.drop(_of(number, "received/"))
    releases.entries.drop(_of(number, "server"))


JOINED_SECONDS = 60.0
"""A party whose agent asked within this time is connected."""


def is_connected(party: Mapping[str, Any]) -> bool:
    """Whether a party of a status asked for a question within `JOINED_SECONDS`."""
    return party["seen"] is not None and time.time() - party["seen"] < JOINED_SECONDS
