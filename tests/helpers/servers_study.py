"""A study of servers with keys, folders, tokens and uploads of its own; servers may be stopped and made anew."""

import hashlib
import shutil

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from helpers.waiting import PATIENCE

from ogive import Ledger
from ogive.crypto.domains import HashDomain
from ogive.study.common import SEALING, key_text
from ogive.study.course import course
from ogive.study.document import ServersStudy
from ogive.study.sealing import sealing_key, unseal
from ogive.study.servers.asking import Answering, Leader, Peer
from ogive.study.servers.node import Node
from ogive.study.servers.uploads import CREDENTIAL_BYTES, Enrolled, credential, enrolled, make_reports, read_report
from ogive.study.store import Store, request
from ogive.trust.servers.model import add_answers, run
from ogive.trust.servers.server import Server, ServerState

AGE = {
    "name": "age",
    "statistic": "ecdf",
    "privacy": "{ epsilon = 1 }",
    "column": "'age'",
    "bounds": "[0, 120]",
    "grid": "'integers'",
}


def key_of(number):
    """The key of a server; the same in all tests."""
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"server key %d" % number).digest())


def token_of(person):
    """The token of a person; the same in all tests."""
    return hashlib.sha256(b"token %d" % person).hexdigest()


def text_of(servers=2, releases=(AGE,), *, budget="{ epsilon = 4 }", unit="", **more):
    """The file of a study."""
    lines = ["ogive-study = 1", 'name = "test"', 'trust = "servers"', f"budget = {budget}"]
    lines += [f"{name} = {value}" for name, value in ({"records": 1000} | more).items()]
    lines += ["[unit]", unit]
    for number in range(servers):
        key = key_of(number)
        lines += [
            "[[server]]",
            f'name = "server-{number}"',
            f'key = "{key_text(key.public_key().public_bytes_raw())}"',
            f'sealing = "{key_text(sealing_key(key).public_key().public_bytes_raw(), SEALING)}"',
        ]
    for release in releases:
        lines += ["[[release]]", f'name = "{release["name"]}"', f'statistic = "{release["statistic"]}"']
        lines += [f"{name} = {value}" for name, value in release.items() if name not in ("name", "statistic")]
    return "\n".join(lines).encode()


def ages(people, seed=1):
    return np.random.default_rng(seed).integers(18, 95, people)


def seeded(seed):
    """Uniform bytes that follow from a seed."""
    return np.random.default_rng(seed).bytes


class Trial:
    """A study of servers in one process, which exchange bytes.

    Args:
        folder: For all its files.
        people: How many are enrolled.
        workers: Who evaluates uploads; None for the servers' own process.
        **options: Of `text_of`.
    """

    def __init__(self, folder, *, people=60, text=None, workers=None, **options):
        self.folder = folder
        self.workers = workers
        self.study = ServersStudy.parse(text_of(**options) if text is None else text)
        self.tokens = [token_of(person) for person in range(people)]
        self.numbers = range(len(self.study.servers))
        for number in self.numbers:
            self.place(number).mkdir(parents=True, exist_ok=True)
            (self.place(number) / "enrolled").write_bytes(enrolled(self.tokens, self.study, number))
        self.stores, self.accounts, self.nodes, self.answering = {}, {}, {}, {}
        for number in self.numbers:
            self.start(number)

    def place(self, number):
        return self.folder / f"server-{number}"

    def start(self, number, *, seed=100):
        """A server, made of what is on disk."""
        place = self.place(number)
        self.stores[number] = Store(place / "state.db")
        self.accounts[number] = Ledger.open(place / "ledger").account(
            "test", unit=self.study.unit, limit=self.study.budget
        )
        self.nodes[number] = Node(
            self.study,
            place,
            key=key_of(number),
            store=self.stores[number],
            account=self.accounts[number],
            enrolled=Enrolled.read([place / "enrolled"], self.study, number),
            random=seeded(seed + number),
            workers=self.workers,
        )
        if number:
            self.answering[number] = Answering(self.nodes[number])
        if len(self.nodes) == len(self.numbers) and (number == 0 or not hasattr(self, "leader")):
            self.connect()

    def stop(self, number):
        """End a server as a crash does: nothing more is stored."""
        self.nodes[number].close()
        self.stores[number].close()

    def restart(self, number):
        self.stop(number)
        self.start(number)

    def lose(self, number, *names):
        """Restart a server without these files; what it draws at random is new."""
        self.stop(number)
        for name in names:
            for path in self.place(number).glob(f"{name}*"):
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        self.start(number, seed=500)

    def connect(self, carriers=None):
        """Server 0 with connections to the others."""
        if hasattr(self, "leader"):
            self.leader.close()
        peers = [
            Peer(self.nodes[0], number, carriers[number] if carriers else Direct(self, number))
            for number in self.numbers
            if number
        ]
        self.leader = Leader(self.nodes[0], self.stores[0], peers)

    def reports(self, records, people=None):
        tokens = self.tokens[: len(next(iter(records.values())))] if people is None else [token_of(p) for p in people]
        return list(make_reports(self.study, records, tokens, random=seeded(7)))

    def upload_sums(self, tables):
        """Let each organization upload its table, with the token of its number."""
        for number, table in enumerate(tables):
            self.take(make_reports(self.study, table, [token_of(number)], random=seeded(7 + number)), [number])

    def take(self, reports, people=None):
        """Let server 0 store reports."""
        uploads = self.nodes[0].uploads
        people = range(len(reports)) if people is None else people
        for person, report in zip(people, reports, strict=True):
            shown = credential(token_of(person), study=self.study.digest, server=0)
            uploads.take(uploads.number(shown), report).result(PATIENCE)

    def upload(self, records):
        self.take(self.reports(records))

    def ask(self, name="age"):
        request(self.stores[0], self.study, name)

    def release(self, name="age"):
        """What a release comes to."""
        self.ask(name)
        self.leader.relay()
        assert self.leader.advance()
        number = [release.name for release in self.study.releases].index(name)
        return self.nodes[0].estimate(number)

    def close(self):
        self.leader.close()
        for number in self.numbers:
            self.stop(number)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Direct:
    """Carries envelopes to a server of a trial, in this process."""

    def __init__(self, trial, number):
        self.trial, self.number = trial, number

    def carry(self, envelope):
        return self.trial.answering[self.number].answer(envelope)


def in_process(trial, reports, release=0):
    """The sum that servers without any network open, from the same uploads and secrets."""
    study = trial.study
    collected = study.collected[0]
    servers = []
    for number in trial.numbers:
        with trial.stores[number].read() as kept:
            secret = kept.get("secret")
        info = HashDomain.UPLOAD_NOISE.encode() + collected.study
        session = study.session(collected)
        server = Server(
            collected, number, session=session, secret=HKDF(hashes.SHA256(), 32, salt=None, info=info).derive(secret),
            random=seeded(number), state=ServerState(collected.study, session, number),
        )  # fmt: skip
        for report in reports:
            sealed = read_report(report, study)[number]
            part = unseal(sealed, study=study.digest, server=number, key=sealing_key(key_of(number)))
            server.receive(part[CREDENTIAL_BYTES:])
        servers.append(server)
    frozen = [server.freeze() for server in servers]
    for number, server in enumerate(servers):
        server.agree([messages[number] for messages in frozen if number in messages])
    _, query = study.uploaded(course(study, study.releases[release], ()).query)
    run([server.prepare(query) for server in servers])
    adjacency = study.unit.adjacency
    answers = [server.answer(query, adjacency) for server in servers]
    return add_answers(answers, collected, session=session, query=query, adjacency=adjacency)
