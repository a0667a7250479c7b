"""Parties and coordinators of a study that lie, and what honest ones may lose to them.

A liar answers through an honest agent and changes what it says before it signs it again; a two-faced coordinator tells
parties different lists, or leads some of them into a second aggregation with other keys. `Bout` runs a study with them
while processes end and begin again and messages are lost. `Bout.verdict` checks that every opened sum is exactly that
of the vectors of those who are in it, that honest parties gave shares of one release under one list, and that nobody
paid twice.
"""

import hashlib
import random
from dataclasses import replace

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from helpers.study import Trial, key_of
from helpers.study_service import Proxy, Serving, running
from helpers.waiting import until

from ogive.crypto.aggregation import AggregationParty, AggregationServer, Round
from ogive.crypto.aggregation.messages import (
    KEY_BYTES,
    NONCE_BYTES,
    SALT_BYTES,
    Roster,
    included_digest,
    keys_digest,
    write_confirmations,
    write_list,
)
from ogive.crypto.aggregation.settings import PRIME, SHARE_BYTES
from ogive.crypto.wire import HEADER_BYTES, SIGNATURE_BYTES, Reader, read_header, sign
from ogive.errors import PeerError
from ogive.ledger.entries import plain_text
from ogive.study.coordinator import OPENING_SECONDS, Coordinator
from ogive.study.course import course
from ogive.study.frames import Question, Reply, Stage, digest_of
from ogive.study.https.mailbox import Unavailable
from ogive.study.store import OfParties

STEP = 61.0
"""Seconds after which a step no longer waits."""


def secret_of(party, release):
    """The secret of a party's noise in a release, so that its vectors can be made again."""
    return hashlib.sha256(b"secret %d of release %d" % (party, release)).digest()


def known_part(agent, release):
    """In place of `Agent._part`."""
    if release not in agent._parts:
        agent._parts[release] = agent._own.resume(agent.study.unit.adjacency, secret=secret_of(agent.number, release))
    return agent._parts[release]


class Liar:
    """A party that follows the protocol but for one lie.

    Args:
        site: Its files and agent.
        lie: A key of `LIES`.
        seed: Of what it makes up.
    """

    def __init__(self, site, lie, seed):
        self.site, self.lie, self.random = site, lie, random.Random(seed)

    def answer(self, data):
        """The reply, or None where it says nothing."""
        reply = self.site.agent.answer(data)
        question = Question.from_bytes(data, coordinator=self.site.study.coordinator)
        found = Reply.from_bytes(reply, party=self.site.study.parties[self.site.number - 1].key)
        stages, told = LIES[self.lie]
        if found.refused or question.stage not in stages:
            return reply
        if told is None:
            return None
        key = key_of(self.site.number)
        body = changed(found.body, lambda body: told(self.random, body), key)
        return Reply(digest_of(data), False, body).to_bytes(key)


def body_of(message):
    """What stands between header and signature."""
    return message[HEADER_BYTES:-SIGNATURE_BYTES]


def changed(message, change, key):
    """A message of the aggregation with another body, signed again."""
    return sign(read_header(message).message(change(body_of(message))), key)


def _noise(generator, body):
    return generator.randbytes(len(body))


def _shares(generator, body):
    values = (generator.randrange(PRIME) for _ in range(len(body) // SHARE_BYTES))
    return b"".join(each.to_bytes(SHARE_BYTES, "little") for each in values)


def _declared(generator, body):
    return body[:SALT_BYTES] + generator.randbytes(8) + body[SALT_BYTES + 8 :]


AFTER_MASKS = (Stage.CONFIRM, Stage.UNMASK)
LIES = {
    "no keys": ((Stage.KEYS,), lambda generator, body: body[:16] + bytes(64) + body[80:]),
    "other keys": ((Stage.KEYS,), _noise),
    "half a message": ((Stage.SHARES,), lambda generator, body: body[: len(body) // 2]),
    "wrong shares dealt": ((Stage.SHARES,), _noise),
    "more than a vector": ((Stage.INPUT,), lambda generator, body: body + bytes(8)),
    "other totals": ((Stage.INPUT,), _declared),
    "another list": ((Stage.CONFIRM,), _noise),
    "wrong shares given": ((Stage.UNMASK,), _shares),
    "silent": (tuple(Stage), None),
    "silent after shares": ((Stage.INPUT, *AFTER_MASKS), None),
    "silent after masks": (AFTER_MASKS, None),
    "silent after the list": ((Stage.UNMASK,), None),
}
"""When a liar says something else, and what, from random numbers and the honest body; None for nothing."""


class TwoFaced(Coordinator):
    """A coordinator that tells two stories of who is in a sum, and garbles lists before that.

    Some parties are told the list without one of them. Their signatures under it are kept, and shown to them when they
    are asked for their shares, as if theirs were the only list. A party that colludes signs both lists.
    """

    def lie(self, seed, share, colluding):
        """Begin to lie.

        Args:
            seed: Of its choices.
            share: Of the lists that are garbled.
            colluding: Number of the party that colludes.
        """
        self._seed, self._share, self._colluding = seed, share, colluding
        self._signed, self._told_second = {}, set()
        self.stories = 0

    def _generator(self, session, *more):
        running = session.running
        return random.Random(f"{self._seed} {session.number} {running.query} {running.attempt} {more}")

    def _second(self, session):
        """Who is told the second story, and its list."""
        generator = self._generator(session)
        included = session.server.included
        honest = [party for party in included if party != self._colluding]
        told = generator.sample(honest, generator.choice((1, 2)))
        left = generator.choice([party for party in honest if party not in told])
        return told, tuple(party for party in included if party != left)

    def _ask(self, session, party):
        question = super()._ask(session, party)
        stage, body = question.stage, body_of(question.message)
        generator = self._generator(session, party, int(stage))
        if stage is Stage.CONFIRM:
            told, members = self._second(session)
            if party not in told:
                return question
            body = write_list(members)
        elif stage in (Stage.SHARES, Stage.INPUT) and generator.random() < self._share:
            at = generator.randrange(len(body))
            body = body[:at] + bytes([body[at] ^ 1 << generator.randrange(8)]) + body[at + 1 :]
        else:
            return question
        return replace(question, message=changed(question.message, lambda _: body, self._key))

    def _take(self, session, party, body):
        if session.stage is Stage.CONFIRM:
            told, members = self._second(session)
            signed = self._signed.setdefault(self._where(session), {})
            if party in told:
                signed[party] = body
                session.answered.add(party)
                return
            if party == self._colluding:
                second = included_digest(session.server._session, members)
                signed[party] = changed(body, lambda _: second, key_of(party))
        super()._take(session, party, body)

    def question(self, party):
        """What a party is asked; of shares, those who confirmed the second list are asked first."""
        found = super().question(party)
        session = self._session
        if session is None or session.stage is not Stage.UNMASK:
            return found
        where = self._where(session)
        signed = self._signed.get(where, {})
        told, members = self._second(session)
        told = [each for each in told if each in signed]
        if party not in told:  # they are asked once the others were
            return found if all((where, each) in self._told_second for each in told) else None
        self._told_second.add((where, party))
        self.stories += 1
        body = write_list(members) + write_confirmations([signed[each] for each in sorted(signed)])
        server, running = session.server, session.running
        message = server._mailbox.write(body, receiver=party, session=server._session, round=Round.UNMASK)
        question = Question(
            self.study.digest, party, session.number, running.query, running.attempt, Stage.UNMASK, (), message
        )
        return question.to_bytes(self._key)

    def _where(self, session):
        return session.number, session.running.query, session.running.attempt


class OtherKeys(Coordinator):
    """A coordinator that shows some parties other public keys of one honest party, to read what is sent to it."""

    def lie(self, seed, share, colluding):
        self._seed, self._colluding, self.stories = seed, colluding, 0

    def _ask(self, session, party):
        question = super()._ask(session, party)
        if question.stage is not Stage.SHARES:
            return question
        generator = random.Random(f"{self._seed} {session.number} {session.running.attempt}")
        replaced, *deceived = generator.sample([each for each in session.asked if each != self._colluding], 3)
        if party not in deceived:
            return question
        self.stories += 1
        own = [X25519PrivateKey.generate().public_key().public_bytes_raw() for _ in range(2)]

        def other_keys(body):
            roster = Roster.from_bytes(body, session.server._settings)
            signed = {read_header(each).sender: each for each in roster.signed}
            body = body_of(signed[replaced])
            body = body[:NONCE_BYTES] + b"".join(own) + body[NONCE_BYTES + 2 * KEY_BYTES :]
            # it has no key of the party, so that it signs with its own
            signed[replaced] = sign(read_header(signed[replaced]).message(body), self._key)
            digests = [
                keys_digest(signed[each]) if each == replaced else roster.digest_of(each) for each in roster.members
            ]
            return Roster.of(roster.members, digests, list(signed.values())).to_bytes()

        return replace(question, message=changed(question.message, other_keys, self._key))


class _Room:
    """The second aggregation of a release: its server, its parties, and a second self of the one that colludes."""

    def __init__(self, session, told, colluding, bodies, key):
        settings = session.server._settings
        self.told, self.stage = told, Stage.SHARES
        self.server = AggregationServer(settings, key=key)
        self.puppet = AggregationParty(
            settings,
            number=colluding,
            key=key_of(colluding),
            note=lambda token, value: None,
            declared=(0,) * settings.totals,
        )
        self.colluding, self.length = colluding, settings.length
        for party in sorted({*bodies, colluding}):  # those who are in the first room are as if they left
            self.server.receive(self.puppet.advertise() if party == colluding else bodies[party])
        self.waiting, self.questions = set(), {}
        self.open()

    def open(self):
        """Go on to the next step, or stay where there are too few."""
        try:
            self.waiting = set(self.server.close_round()) & set(self.told)
        except PeerError:
            self.waiting = set()
            return
        self.questions = {}
        if self.server._round is None:
            return
        self.stage = Stage(int(self.server._round))
        message = self.server.message(self.colluding)
        match self.stage:
            case Stage.SHARES:
                reply = self.puppet.share_keys(message)
            case Stage.INPUT:
                reply = self.puppet.mask(message, np.zeros(self.length, np.uint64))
            case Stage.CONFIRM:
                reply = self.puppet.confirm(message)
            case _:
                reply = self.puppet.unmask(message)
        self.server.receive(reply)

    def take(self, party, reply):
        if not reply.refused:
            self.server.receive(reply.body)
        self.waiting.discard(party)
        if not self.waiting:
            self.open()


class TwoRooms(Coordinator):
    """A coordinator that leads some parties into a second aggregation, and the others into the first.

    The party that colludes is in both, with other public keys in each. Either room goes as far as its parties go.
    """

    def lie(self, seed, share, colluding):
        self._seed, self._colluding = seed, colluding
        self._bodies, self.rooms, self.opened = {}, {}, []
        self.stories = 0

    def _where(self, session):
        return session.number, session.running.query, session.running.attempt

    def _room(self, session):
        where = self._where(session)
        if where not in self.rooms and session.stage is not Stage.KEYS:
            bodies = self._bodies[where]
            generator = random.Random(f"{self._seed} {where}")
            honest = sorted(set(bodies) - {self._colluding})
            told = generator.sample(honest, generator.choice((1, 2, 3, 3)))
            self.rooms[where] = _Room(session, told, self._colluding, bodies, self._key)
            self.stories += 1
        return self.rooms.get(where)

    def _take(self, session, party, body):
        if session.stage is Stage.KEYS:
            self._bodies.setdefault(self._where(session), {})[party] = body
        super()._take(session, party, body)

    def question(self, party):
        with self._one:
            found = super().question(party)
            session = self._session
            room = None if session is None else self._room(session)
            if room is None or party not in room.told:
                return found
            session.answered.add(party)  # the first room does not wait for it
            if party not in room.waiting:
                return None
            if party not in room.questions:
                number, query, attempt = self._where(session)
                message = room.server.message(party)
                asked = Question(self.study.digest, party, number, query, attempt, room.stage, (), message)
                room.questions[party] = asked.to_bytes(self._key)
            return room.questions[party]

    def _is_due(self, session):
        """The first room waits for the second."""
        room = self._room(session)
        return super()._is_due(session) and not (room and room.waiting)

    def longest_reply(self, party):
        return 1 << 20

    def receive(self, party, data):
        with self._one:
            reply = Reply.from_bytes(data, party=self.study.parties[party - 1].key)
            for where, room in self.rooms.items():
                asked = room.questions.get(party)
                if asked is None or reply.question != digest_of(asked) or party not in room.waiting:
                    continue
                room.take(party, reply)
                if room.server._sum is not None and not room.waiting:
                    self.opened.append((where, room.server.included, room.server.sum()))
                return
            super().receive(party, data)


FAULTS = ("lost", "cut", "garbled", "twice", "late")


class Bout:
    """A study with liars, a coordinator that may be two-faced, processes that end, and a bad network.

    Args:
        folder: For all files.
        study: What is released.
        records: Of each party, by number.
        seed: Of all that happens.
        lies: Of some parties, by number.
        two_faced: Share of the lists before the vectors that the coordinator garbles; 0 where it is honest.
        face: Class of a two-faced coordinator.
        colluding: Number of the party that colludes with a two-faced coordinator.
        killed: Chance that a process ends before a message.
        lost: Chance of each message to be lost, cut, garbled, delivered twice, or late, in place of another.
    """

    def __init__(
        self,
        folder,
        study,
        records,
        *,
        seed,
        lies=None,
        two_faced=0.0,
        face=TwoFaced,
        colluding=0,
        killed=0.0,
        lost=0.0,
    ):
        self.random = random.Random(seed)
        self.trial = Trial(folder, study=study, records=records, seed=str(seed))
        self.liars = {
            number: Liar(self.trial.sites[number], lie, f"{seed} {number}") for number, lie in (lies or {}).items()
        }
        self.seed, self.two_faced, self.killed, self.lost = seed, two_faced, killed, lost
        self.unmasked = {}  # by release: each list under which an honest party gave shares away, and who did
        self.face, self.colluding, self.stories = face, colluding, 0
        self.happened, self._late = set(), None
        self._begin()

    def run_over_https(self, faults):
        """As `run`, over HTTPS and through a proxy that does what `faults` say, with agents that end and begin again.

        A step ends where all who are honest have answered or refused, so that a slow machine is taken for no silent
        party.
        """
        trial = self.trial
        answering = {number: _Answering(self, number) for number in trial.sites}

        def over():
            with trial.coordinator._one:
                session = trial.coordinator._session
                if session is not None and not set(session.asked) - {*self.liars, *session.answered, *session.refused}:
                    trial.clock.now += OPENING_SECONDS if session.stage in AFTER_MASKS else STEP
            found = trial.coordinator.progress().values()
            return all(each.state in ("released", "over") for each in found)

        with (
            Serving(trial) as serving,
            Proxy(serving.port, self.seed, faults) as proxy,
            running(serving, port=proxy.port, agents=answering),
        ):
            for release in trial.study.releases:
                trial.coordinator.request(release.name)
            until(over, told=lambda: str(trial.coordinator.progress()))
        self._count()
        self.happened.update(fault for fault, times in proxy.done.items() if times)
        return trial.coordinator.progress()

    def _begin(self):
        coordinator = self.trial.begin()
        if self.two_faced:
            coordinator.__class__ = self.face
            coordinator.lie(self.seed, self.two_faced, self.colluding)

    def run(self, turns=20):
        """Ask for all releases, and carry messages until each is released or over, or so many steps have passed."""
        for release in self.trial.study.releases:
            self.trial.coordinator.request(release.name)
        for turn in range(turns):
            calm = turn > turns // 2  # in the end the network is mended and nobody is killed
            while sum(self._carry(number, calm) for number in self._shuffled()):
                pass
            found = self.trial.coordinator.progress().values()
            if all(each.state in ("released", "over") for each in found):
                break
            self.trial.clock.now += OPENING_SECONDS if calm else STEP
        self._count()
        return self.trial.coordinator.progress()

    def _count(self):
        """Add up how often a coordinator told the second story, before it ends."""
        self.stories += getattr(self.trial.coordinator, "stories", 0)

    def _shuffled(self):
        return self.random.sample(list(self.trial.sites), len(self.trial.sites))

    def _carry(self, number, calm):
        """Take one question to a party and its reply back; whether anything moved."""
        trial, killed = self.trial, 0.0 if calm else self.killed
        if self.random.random() < killed:
            self._count()
            self._begin()
        if self.random.random() < killed:
            trial.sites[number].begin()
        question = trial.coordinator.question(number)
        moved = False
        for data in [] if question is None else self._after_the_network(question, calm):
            try:
                reply = self.liars.get(number, trial.sites[number].agent).answer(data)
            except PeerError:
                continue
            if number not in self.liars:
                self._note(number, data, reply)
            for each in [] if reply is None else self._after_the_network(reply, calm):
                try:
                    trial.coordinator.receive(number, each)
                except PeerError:
                    continue
                moved |= not Reply.from_bytes(each, party=trial.study.parties[number - 1].key).refused
        return moved

    def _after_the_network(self, data, calm):
        """What arrives of a message, and of one before it."""
        fault = "none" if calm or self.random.random() >= self.lost else self.random.choice(FAULTS)
        self.happened.add(fault)
        match fault:
            case "lost":
                return []
            case "cut":
                return [data[: self.random.randrange(len(data))]]
            case "garbled":
                at = self.random.randrange(len(data))
                return [data[:at] + bytes([data[at] ^ 1 << self.random.randrange(8)]) + data[at + 1 :]]
            case "twice":
                return [data, data]
            case "late":
                self._late, data = data, self._late
                return [] if data is None else [data]
        return [data]

    def _note(self, number, data, reply):
        question = Question.from_bytes(data, coordinator=self.trial.study.coordinator)
        refused = Reply.from_bytes(reply, party=self.trial.study.parties[number - 1].key).refused
        if question.stage is Stage.UNMASK and not refused:
            reader = Reader(body_of(question.message), "list")
            members = tuple(reader.array(reader.number(4), "<u4").tolist())
            self.unmasked.setdefault(question.release, {}).setdefault(members, set()).add(number)

    def verdict(self):
        """What honest parties lost to liars, one line each; nothing where all is right."""
        study, coordinator, found = self.trial.study, self.trial.coordinator, []
        for number, release in enumerate(study.releases):
            lists = self.unmasked.get(number, {})
            if len(lists) > 1:
                found.append(f"{release.name}: shares were given away under {len(lists)} lists")
            progress = coordinator.progress().get(release.name)
            if progress is not None and progress.state == "over" and "\n" in progress.reason:
                found.append(f"{release.name}: its end has more than one line")
            with coordinator._store.read() as kept:
                answers = OfParties(self.trial.study, kept).answers(number)
            for place, answer in enumerate(answers):
                expected = self._sum(number, release, answers[:place], progress.members)
                if not np.array_equal(answer.values.ravel(), expected):
                    found.append(f"{release.name}: sum {place + 1} is not that of the parties {progress.members}")
            opened = {progress.members} if answers else set()
            for (_, query, _), members, values in (each for each in self.opened_elsewhere() if each[0][0] == number):
                opened.add(members)
                honest = [member for member in members if member != self.colluding]  # who colludes adds nothing there
                if not np.array_equal(values.view(np.int64), self._sum(number, release, answers[:query], honest)):
                    found.append(f"{release.name}: a sum of the second room is not that of the parties {members}")
            if len(opened) > 1:
                found.append(f"{release.name}: sums of {len(opened)} sets of parties were opened")
        for number, site in self.trial.sites.items():
            asked = [plain_text(entry.question) for entry in site.account.history]
            if len(set(asked)) != len(asked) or len(asked) > len(study.releases):
                found.append(f"party {number} paid twice")
        return found

    def opened_elsewhere(self):
        """Sums that a coordinator opened besides those of the study."""
        return getattr(self.trial.coordinator, "opened", [])

    def _sum(self, number, release, before, members):
        """The vectors of some parties, made again and added up."""
        query = course(self.trial.study, release, before).query
        total = 0
        for member in members:
            own = self.trial.sites[member].agent._own
            part = own.resume(self.trial.study.unit.adjacency, secret=secret_of(member, number))
            total = part.vector(query) + total
        return total.view(np.int64)


class _Answering:
    """A party behind a connection: its agent ends and begins again at least once, and lies where its party does."""

    def __init__(self, bout, number):
        self.bout, self.number = bout, number
        self.random = random.Random(f"{bout.seed} {number} ends")
        self.questions = 0

    def answer(self, data):
        """The reply; who is silent asks again."""
        bout, site = self.bout, self.bout.trial.sites[self.number]
        self.questions += 1
        if self.questions == 3 or self.random.random() < bout.killed:
            bout.happened.add("ended")
            site.begin()
        reply = bout.liars.get(self.number, site.agent).answer(data)
        if reply is None:
            raise Unavailable("a silent party")
        if self.number not in bout.liars:
            bout._note(self.number, data, reply)
        return reply
