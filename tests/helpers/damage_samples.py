"""Undamaged files and messages of every kind, and what their users do with them."""

import copy
import functools
import gzip
import hashlib
import io
import json
import random
import shutil
import sqlite3
import tempfile
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from helpers import aggregation, serving, twoparty, verifying
from helpers.damage import Kind, spoil_bytes, spoil_json
from helpers.memory import MEMORY
from helpers.randomness import runs

import ogive
from ogive.cli import main
from ogive.columns import Binning, Domain
from ogive.crypto.aggregation import Round
from ogive.crypto.comparison import KeyBatch, KeyShape, generate
from ogive.crypto.sketch import CellClaim
from ogive.crypto.tables import ShareBatch, ShareShape, one_hot_columns, share
from ogive.crypto.twoparty import AGGREGATOR
from ogive.crypto.wire import SIGNATURE_BYTES
from ogive.errors import BudgetError, DataError, LedgerError, ParameterError, PeerError, ReleaseMismatchError
from ogive.local import Collection, Description, HaarOracle, RandomizedResponse, Randomizer, TreeOracle, UnaryOracle
from ogive.noise import DiscreteLaplace, KeyedSource, StoredNodes
from ogive.pate import GNMax, LabelsPlan, PrivacyCost, SanitizedCost, plan_labels, privacy_cost, read_votes, sanitize
from ogive.pate.teachers import DESCRIPTION, stored_terms
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.releasing.accounts import statement
from ogive.releasing.pointwise import PointwiseCurve
from ogive.statistics.kinds import read_estimate
from ogive.statistics.plain_json import parse
from ogive.streams.running_total import RunningTotal
from ogive.trust.servers.server import ServerState

UNIT = PrivacyUnit(Adjacency.REPLACE)
REMOVAL = Adjacency.ADD_OR_REMOVE
TABLE = {"age": [34, 71, 65, 50] * 25, "ill": ["yes", "no", "no", "yes"] * 25, "p": [0.2, 0.7, 0.4, 0.9] * 25}
AGE = ogive.Ecdf("age", bounds=(0, 120), bins=8)
SECRET = bytes(32)


def folder() -> Path:
    """A folder that ends with the process."""
    made = tempfile.TemporaryDirectory(prefix="ogive-damage-", dir=MEMORY)
    FOLDERS.append(made)
    return Path(made.name)


FOLDERS: list[tempfile.TemporaryDirectory] = []

# --- ledgers


@functools.cache
def ledger_folder(*, rich: bool) -> Path:
    """A folder with a ledger, which nobody changes: answers, parts, spends in progress, and limits of several kinds."""
    place = folder()
    with runs(f"ledger folder {rich}"), ogive.Ledger.open(place / "b.db") as ledger:
        patients = ledger.account("patients", unit=UNIT, limit=PureDP(3), fingerprint=ledger.fingerprint(b"x"))
        ogive.release(AGE, trust=ogive.Central(TABLE), privacy=PureDP("1/2"), ledger=patients)
        patients.part("north").reserve({"what": "q"}, statistic="test", charge=PureDP("1/10"), secret=SECRET)
        patients.reserve({"what": "b"}, statistic="test", charge=PureDP("1/9"), secret=SECRET).bind(0, b"context")
        # without a limit, or in zCDP, since conversions take their time
        loans = ledger.account("loans", unit=PrivacyUnit(REMOVAL, "who", 3), limit=ZeroConcentratedDP(2))
        loans.reserve({"what": "q"}, statistic="test", charge=GaussianDP("1/10"), secret=SECRET).record({"x": 1})
        if rich:
            both = ledger.account("both", unit=UNIT, limit=ApproxDP(3, "1e-6"))
            both.reserve({"what": "q"}, statistic="test", charge=PureDP("1/10"), secret=SECRET)
            both.reserve({"what": "r"}, statistic="test", charge=ApproxDP("1/10", "1e-8"), secret=SECRET)
            both.reserve({"what": "s"}, statistic="test", charge=ZeroConcentratedDP("1/1000"), secret=SECRET)
    return place


def use_ledger(place: Path, rng: random.Random) -> None:
    """What users do with a ledger, all of it or some; raises the last error that a step gave, if any did."""
    found: list[Exception] = []

    def step(act):
        try:
            return act()
        except (LedgerError, BudgetError, ReleaseMismatchError) as problem:
            found.append(problem)
            return None

    def all_steps():
        looking = rng.random() < 0.2
        with ogive.Ledger.open(place, read_only=looking) as ledger:
            accounts = step(ledger.accounts) or ()
            for account in rng.sample(accounts, min(2, len(accounts))):
                step(account.answers)
                text = step(lambda account=account: statement(account))
                assert text is None or text.encode()
                step(lambda account=account: account.find({"what": "q"}))
                if looking:
                    continue
                if rng.random() < 0.5:
                    step(lambda account=account: ask(account, rng.choice(("q", "new"))))
                if rng.random() < 0.2:
                    step(lambda account=account: account.set_limit(account.limit))
            if rng.random() < 0.3 and not looking:
                step(lambda: answer(ledger))
            exported = step(ledger.export) if rng.random() < 0.3 else None
            if exported is not None:
                json.dumps(exported, allow_nan=False, indent=1)

    step(all_steps)
    if found:
        raise found[-1]


def ask(account, what):
    charge = PureDP("1/100")
    account.reserve({"what": what}, statistic="test", charge=charge, secret=SECRET).record({"x": 2})


def answer(ledger):
    account = ledger.account("patients", unit=UNIT, fingerprint=ledger.fingerprint(b"x"))
    ogive.release(AGE, trust=ogive.Central(TABLE), privacy=PureDP("1/2"), ledger=account)


def show_ledger(place: Path) -> None:
    """The command that shows a ledger: right, or one line and exit status 1."""
    out, err = io.StringIO(), io.StringIO()
    status: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = main(["ledger", "show", str(place)])
        except SystemExit as problem:
            status = problem.code
    assert out.getvalue().encode() is not None
    if status:
        assert status == 1
        raise LedgerError(err.getvalue().removesuffix("\n"))


class Spoiled:
    """A ledger's folder, with what is to be damaged in it; the damage is done when it is opened, to a copy."""

    def __init__(self, place: Path, seed: int | None, damage) -> None:
        self.place, self.seed, self.damage = place, seed, damage

    def open(self) -> None:
        with tempfile.TemporaryDirectory(prefix="ogive-damage-", dir=MEMORY) as name:
            for file in self.place.iterdir():
                shutil.copy(file, name)
            if self.seed is not None:
                self.damage(random.Random(self.seed), Path(name))
            if self.seed is not None and self.seed % 20 == 0:
                show_ledger(Path(name) / "b.db")
            else:
                use_ledger(Path(name) / "b.db", random.Random(self.seed or 0))

    def __repr__(self) -> str:
        return f"{self.damage.__name__} with seed {self.seed} of {sorted(file.name for file in self.place.iterdir())}"


def spoil_files(rng: random.Random, place: Path) -> None:
    """Bytes of the database, its log, its key file, or whatever else lies beside it."""
    files = sorted(place.iterdir())
    file = rng.choice([place / "b.db"] * 3 + files)
    file.write_bytes(spoil_bytes(rng, file.read_bytes()))


HOSTILE_VALUES = [
    None, 0, -1, 2**63 - 1, -(2**63), 1.5, float("inf"), b"", b"\xff\xfe\x80", "", "x", "\x00", "a\nb", "[]", "{}",
    "null", '"x"', "NaN", '{"a":NaN}', '{"a":1e999}', '{"a":"\\ud800"}', "[" * 100_000,
    '{"a":' * 300 + "1" + "}" * 300,
    "1" * 5000, '{"a":' + "1" * 5000 + "}", "x" * 10**6, '{"a":"' + "x" * 10**6 + '"}', "reserved", "released",
    "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2024-02-30", "2024-01-01", "1" * 4301, "2", "-1",
    '{"type":"PureDP","epsilon":"1e300"}', '{"type":"PureDP","epsilon":"1e-300"}', '{"type":"PureDP","epsilon":"-1"}',
    '{"type":"PureDP","epsilon":"1e9_999_999"}', '{"type":"PureDP","epsilon":"3/' + "7" * 3990 + '"}',
    '{"type":"ApproxDP","epsilon":"1","delta":"1/2"}', '{"type":"ApproxDP","epsilon":"1e200","delta":"1e-299"}',
    '{"type":"ZeroConcentratedDP","rho":"1e300"}', '{"type":"GaussianDP","mu_squared":"1","distance":"0.9"}',
    '{"type":"GaussianDP","mu_squared":"1e-300","distance":"0"}', '{"type":"PureDP"}', '{"type":[]}',
    '{"adjacency":"replace","person":null,"max_rows_per_person":' + "9" * 400 + "}",
    '{"adjacency":["x"],"person":null,"max_rows_per_person":1}',
]  # fmt: skip


def spoil_field(rng: random.Random, place: Path) -> None:
    """One field of one row of one table."""
    with closing(sqlite3.connect(place / "b.db")) as database:
        tables = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='table' AND name LIKE 'ogive%'")
        ]
        table = rng.choice([*tables, *["ogive_spends"] * 3])
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        column = rng.choice(columns)
        row, old = rng.choice(database.execute(f"SELECT rowid, {column} FROM {table}").fetchall())
        kind = rng.random()
        if kind < 0.45 and isinstance(old, str) and old.startswith("{"):
            new = spoil_json(rng, old)
        elif kind < 0.6 and isinstance(old, str | bytes):
            content = spoil_bytes(rng, old.encode() if isinstance(old, str) else old)
            new = content.decode("latin1") if isinstance(old, str) else content
        elif kind < 0.65:
            new = b"\xff\x80\xfe"
        else:
            new = rng.choice(HOSTILE_VALUES)
        # as a text that is none, or as it is
        value = "CAST(? AS TEXT)" if kind < 0.65 and isinstance(new, bytes) else "?"
        try:
            database.execute(f"UPDATE {table} SET {column} = {value} WHERE rowid = ?", (new, row))
            if column == "question" and isinstance(new, str) and rng.random() < 0.7:
                digest = hashlib.sha256(new.encode()).hexdigest()
                database.execute("UPDATE ogive_spends SET digest = ? WHERE rowid = ?", (digest, row))
        except (sqlite3.IntegrityError, UnicodeEncodeError, OverflowError):
            return  # the database itself does not hold this
        database.commit()


def ledgers(damage) -> Kind:
    cheap, rich = ledger_folder(rich=False), ledger_folder(rich=True)
    samples = [*[Spoiled(cheap, None, damage)] * 11, Spoiled(rich, None, damage)]

    def spoil(rng, sample):
        return Spoiled(sample.place, rng.randrange(1, 10**9), damage)

    return Kind(samples, spoil, Spoiled.open, (LedgerError, BudgetError, ReleaseMismatchError))


# --- estimates, costs and descriptions


def estimates() -> Kind:
    source = KeyedSource.from_seed(3)
    asked = [
        (AGE, PureDP(1), UNIT.adjacency),
        (AGE, ApproxDP("1/2", "1e-6"), REMOVAL),
        (ogive.Ecdf("age", bounds=(0, 120), bins=32, method="projection"), ApproxDP(1, "1e-6"), UNIT.adjacency),
        (ogive.Quantiles("age", (0.25, 0.75), bounds=(0, 120), bins=8), PureDP(1), UNIT.adjacency),
        (ogive.Roc("p", "ill", bounds=(0, 1), bins=8, positive="yes"), PureDP(1), UNIT.adjacency),
        (ogive.HosmerLemeshow("p", "ill", bins=8, groups=4, positive="yes"), PureDP(1), UNIT.adjacency),
        (ogive.Bounds("age"), PureDP(1), UNIT.adjacency),
        (ogive.Boxplot("age", (0, 120), bins=8, by="ill", groups=("yes", "no")), PureDP(1), UNIT.adjacency),
        (ogive.Ustatistic("age", "gini", bounds=(0, 120)), PureDP(1), UNIT.adjacency),
    ]
    made = [
        ogive.release(statistic, trust=ogive.Central(TABLE), privacy=privacy, adjacency=adjacency, source=source)
        for statistic, privacy, adjacency in asked
    ]
    curves = [
        ogive.release(AGE, trust=ogive.Central(TABLE), privacy=PureDP(1), batch=name, source=source)
        for name in ("north", "south")
    ]
    made += [ogive.merge(*curves), ogive.release(AGE, trust=ogive.Local(TABLE), privacy=PureDP(1), source=source)]

    def open_text(text):
        estimate = read_estimate(parse(text.encode("utf-8", "surrogatepass")))
        str(estimate)
        estimate.to_json()

    return Kind([each.to_json() for each in made], spoil_json, open_text, (DataError, ParameterError))


def costs() -> Kind:
    votes = np.array([[30, 5, 5], [20, 15, 5], [38, 1, 1]] * 8)
    delta = {"target_delta": 1e-5}
    made = [
        privacy_cost(votes, GNMax(9), mode="independent", **delta),
        privacy_cost(votes, GNMax(9), mode="joint", **delta),
        sanitize(votes, GNMax(9), source=KeyedSource.from_seed(1), **delta),
        plan_labels(votes, truth=np.zeros(24, int), epsilons=[1, 2], answers=[5, 10], **delta),
        ogive.plan(AGE, records=1000, privacy=PureDP(1)),
    ]
    readers = {each.schema: each for each in (PrivacyCost, SanitizedCost, LabelsPlan)}

    def open_text(text):
        data = parse(text.encode("utf-8", "surrogatepass"))
        schema = data.get("schema") if isinstance(data, dict) else None
        reader = readers.get(schema, ogive.Plan) if isinstance(schema, str) else ogive.Plan
        found = reader.from_dict(data)
        str(found)
        found.to_json()

    return Kind([each.to_json() for each in made], spoil_json, open_text, (DataError, ParameterError))


def described():
    domain = Domain((Binning("age", ogive.Grid.integers(0, 7)),))
    oracles = [RandomizedResponse(8, 1), UnaryOracle(8, 1), HaarOracle(8, 1), TreeOracle(8, 1)]
    return [
        Description(domain=domain, oracle=oracle, privacy=PureDP(1), participants=50, id="0" * 32) for oracle in oracles
    ]


def descriptions() -> Kind:
    def open_text(text):
        Description.from_json(text).to_json()

    return Kind([each.to_json() for each in described()], spoil_json, open_text, (PeerError,))


def collected():
    for description in described():
        randomizer = Randomizer(description, secret=bytes(32))
        reports = b"".join(randomizer.report({"age": number % 8}, number=number) for number in range(50))
        collection = Collection(description)
        collection.add(reports)
        yield description, reports, collection


def reports() -> Kind:
    samples = [(description, content) for description, content, _ in collected()]

    def open_reports(sample):
        description, content = sample
        collection = Collection(description)
        counts = collection.add(content)
        assert 0 <= counts.accepted <= 50
        collection.to_bytes()

    def spoil(rng, sample):
        return sample[0], spoil_bytes(rng, sample[1])

    return Kind(samples, spoil, open_reports, ())


def partial_states() -> Kind:
    key = bytes(range(32))
    samples = [collection.to_bytes(key=key) for _, _, collection in collected()]

    def spoil(rng, sample):
        if rng.random() < 0.4:
            return spoil_bytes(rng, sample)
        # by somebody who writes a new checksum below it
        content = sample[:-32]
        if rng.random() < 0.6:
            start = 24
            length = int.from_bytes(content[16:24], "little")
            header = spoil_json(rng, content[start : start + length].decode()).encode("utf-8", "surrogatepass")
            content = content[:16] + len(header).to_bytes(8, "little") + header + content[start + length :]
        else:
            content = spoil_bytes(rng, content)
        return content + hashlib.sha256(content).digest()

    return Kind(samples, spoil, lambda data: Collection.load(data, key=key).to_bytes(), (PeerError,))


# --- states of streams, curves, noise and teachers

STREAM = {"steps": 100, "privacy": PureDP(1)}


def running_totals() -> Kind:
    samples = []
    for method in ("tree", "sqrt", "auto"):
        privacy = ZeroConcentratedDP(1) if method == "sqrt" else PureDP(1)
        total = RunningTotal(100, privacy=privacy, method=method)
        total.add_many([1, 0] * 18)
        samples.append((total.to_bytes(), privacy, method))

    def open_state(sample):
        data, privacy, method = sample
        total = RunningTotal.from_bytes(data, 100, privacy=privacy, method=method)
        if total.taken < 100:
            total.add(1)

    def spoil(rng, sample):
        data = sample[0]
        if rng.random() < 0.3:
            return (spoil_bytes(rng, data), *sample[1:])
        return (repack(rng, data), *sample[1:])

    return Kind(samples, spoil, open_state, (ParameterError, ReleaseMismatchError))


def repack(rng, data):
    """A running total's bytes with other fields, and the checksum that belongs to them."""
    _, _, body = data.partition(b"\n")
    spoiled = spoil_json(rng, body.decode()).encode("utf-8", "surrogatepass")
    return hashlib.sha256(spoiled).hexdigest().encode() + b"\n" + spoiled


def pointwise() -> Kind:
    place = folder() / "curve.json"
    curve = PointwiseCurve.open(AGE, trust=ogive.Central(TABLE), privacy=PureDP(1), state=place)
    curve.counts([1, 3])
    sample = place.read_text()

    def open_state(text):
        place.write_bytes(text.encode("utf-8", "surrogatepass"))
        PointwiseCurve.resume(place, trust=ogive.Central(TABLE)).counts([2])

    return Kind([sample], spoil_json, open_state, (DataError, ReleaseMismatchError))


def node_noise() -> Kind:
    place = folder() / "noise.db"
    law = DiscreteLaplace(3)
    nodes = StoredNodes(KeyedSource.from_seed(1), b"context", place)
    nodes.values(law, 0, np.arange(8))
    nodes.close()
    sample = place.read_bytes()

    def open_nodes(damaged):
        data, seed = damaged
        place.write_bytes(data)
        if seed is not None:
            spoil_node(random.Random(seed), place)
        stored = StoredNodes(KeyedSource.from_seed(1), b"context", place)
        try:
            stored.values(law, 0, np.arange(10))
        finally:
            stored.close()

    def spoil(rng, sample):
        return (spoil_bytes(rng, sample[0]), None) if rng.random() < 0.5 else (sample[0], rng.randrange(10**9))

    return Kind([(sample, None)], spoil, open_nodes, (DataError, ReleaseMismatchError))


def spoil_node(rng, place):
    with closing(sqlite3.connect(place)) as database:
        table, column = rng.choice((("node", "value"), ("node", "law"), ("release", "format"), ("release", "context")))
        try:
            database.execute(f"UPDATE {table} SET {column} = ?", (rng.choice(HOSTILE_VALUES),))
        except (sqlite3.IntegrityError, UnicodeEncodeError):
            return
        database.commit()


def teachers() -> Kind:
    place = folder()
    terms = {
        "schema": "ogive.teachers/1", "learner": "logistic", "teachers": 5, "classes": 3, "digest": "0" * 64,
    }  # fmt: skip

    def open_terms(text):
        (place / DESCRIPTION).write_bytes(text.encode("utf-8", "surrogatepass"))
        stored_terms(place)

    return Kind([json.dumps(terms)], spoil_json, open_terms, (DataError,))


# --- messages


class Machine:
    """A participant at the moment at which a message comes, which may be given many, one at a time."""

    def __init__(self, receive, data, sign=None) -> None:
        self.receive, self.data, self.sign = receive, data, sign

    def open(self) -> None:
        self.receive(self.data)

    def with_data(self, data: bytes) -> "Machine":
        return Machine(self.receive, data, self.sign)

    def __repr__(self) -> str:
        return f"message {self.data.hex()}"


def spoil_message(rng, machine):
    return machine.with_data(spoil_bytes(rng, machine.data))


def spoil_signed(rng, machine):
    """By the participant itself, who signs what it sends."""
    data = spoil_bytes(rng, machine.data[:-SIGNATURE_BYTES])
    return machine.with_data(data + machine.sign.sign(data))


def sums() -> list[Machine]:
    vectors = np.arange(15, dtype=np.uint64).reshape(5, 3)
    session = aggregation.Session(aggregation.settings(5, dropouts=2), vectors, leaving={4: Round.INPUT})
    found = []
    for _ in session.rounds:
        for number in session.present()[:2]:
            if session.inbox[number]:
                party, moment = aggregation.stored(session.parties[number], forgetful=True), copy.copy(session)

                def to_party(data, party=party, moment=moment, number=number):
                    moment.parties = {number: aggregation.stored(party, forgetful=True)}
                    moment.answer(number, data)

                found.append(Machine(to_party, session.inbox[number], aggregation.enrolment(0)))
        answers = session.answers()
        before = aggregation.stored_server(session.server)
        for number in list(answers)[:2]:

            def to_server(data, before=before):
                aggregation.stored_server(before).receive(data)

            found.append(Machine(to_server, answers[number], aggregation.enrolment(number)))
        for data in answers.values():
            session.server.receive(data)
        session.close()
    return found


def aggregated(spoil) -> Kind:
    return Kind(sums(), spoil, Machine.open, (PeerError,))


def comparison_keys() -> Kind:
    samples = []
    for group, bits in (("ring32", 5), ("field", 8)):
        shape = KeyShape(group=group, bits=bits)
        batches = generate(np.array([1, 3, 7]), shape=shape, study=bytes(32), random=verifying.replayed(3))
        samples += [(shape, batch.to_bytes()) for batch in batches]

    def open_keys(sample):
        KeyBatch.from_bytes(sample[1], shape=sample[0], study=bytes(32)).to_bytes()

    return Kind(samples, lambda rng, sample: (sample[0], spoil_bytes(rng, sample[1])), open_keys, (PeerError,))


def shared_tables() -> Kind:
    shape = ShareShape(4, 1, 1, 1)
    columns = one_hot_columns(np.array([0, 3, 1]), cells=4)
    batches = share(columns, shape=shape, servers=2, study=bytes(32), random=verifying.replayed(5))
    samples = [(number, batch.to_bytes()) for number, batch in enumerate(batches)]

    def open_shares(sample):
        batch = ShareBatch.from_bytes(sample[1], shape=shape, server=sample[0], servers=2, study=bytes(32))
        batch.project(np.eye(4, dtype=np.uint64))

    return Kind(samples, lambda rng, sample: (sample[0], spoil_bytes(rng, sample[1])), open_shares, (PeerError,))


def server_states() -> Kind:
    settings = serving.collected()
    servers = serving.meet(settings, serving.uploads_of(settings, [0, 3, 3, 12, 5]))
    serving.ask(servers, serving.opened(4))
    samples = [server.going().to_bytes() for server in servers]
    return Kind(samples, spoil_bytes, lambda data: ServerState.from_bytes(data).to_bytes(), (PeerError,))


def uploads() -> Kind:
    samples = []
    for kind in (serving.KEYS, "tables"):
        settings = serving.collected(kind)
        first = next(iter(serving.uploads_of(settings, [0, 3, 3, 12, 5])))
        for number in range(2):

            def take(data, settings=settings, number=number):
                serving.new_server(settings, number).receive(data)

            samples.append(Machine(take, first[number]))
        names = serving.meet(settings, [first])[1].freeze()[0]

        def agree(data, settings=settings, first=first):
            server = serving.new_server(settings, 0)
            server.receive(first[0])
            server.freeze()
            server.agree([data])

        samples.append(Machine(agree, names))
    return Kind(samples, spoil_message, Machine.open, (PeerError,))


def verifications() -> Kind:
    claim = CellClaim(np.arange(4))
    shape = ShareShape(4, claim.squares, claim.products, 1)
    columns = one_hot_columns(np.array([0, 3, 1]), cells=4)
    batches = share(columns, shape=shape, servers=2, study=verifying.STUDY, random=verifying.replayed(5))
    _, rounds = verifying.check_servers(claim, batches)
    samples = []
    for step in range(4):
        before = [verifying.route(sent)[0] for sent in rounds[:step]]

        def take(data, step=step, before=before):
            check = verifying.verifiers(batches)[0].check(claim)
            check.commit()
            acts = [check.open, lambda got: check.masks(got, batches[0].project), check.results, check.accepted]
            for act, got in zip(acts, before, strict=False):
                act(got)
            acts[step]([data])

        samples.append(Machine(take, verifying.route(rounds[step])[0][0]))
    return Kind(samples, spoil_message, Machine.open, (PeerError,))


class Pairs:
    """A pair that was run up to a message; run anew once a message was taken."""

    def __init__(self, settings, at: int) -> None:
        self.settings, self.at, self.pair = settings, at, None

    def open(self, seed: int | None) -> None:
        if self.pair is None:
            circuit = self.settings.circuit
            bits = np.ones(circuit.garbler_bits, bool), np.zeros(circuit.evaluator_bits, bool)
            self.pair = twoparty.Pair(self.settings, *bits)
            self.pair.run(until=self.at)
        _, receiver, data = self.pair.queue[0]
        pair = self.pair
        if seed is not None:
            data = spoil_bytes(random.Random(seed), data)
            rng = random.Random(seed + 1)
            if rng.random() < 0.2 and receiver != AGGREGATOR:
                receiver = twoparty.GARBLER if receiver == twoparty.EVALUATOR else twoparty.EVALUATOR
        self.pair = None
        try:
            pair.deliver(receiver, data)
        except PeerError:
            self.pair = pair  # as if the message had not come
            raise


def pair_messages() -> Kind:
    direct = twoparty.settings_of(twoparty.auc_circuit(4, precision=4))
    samples = [(Pairs(direct, at), None) for at in range(10)]

    def spoil(rng, sample):
        return sample[0], rng.randrange(10**9)

    return Kind(samples, spoil, lambda sample: sample[0].open(sample[1]), (PeerError,))


# --- votes

VOTES = np.random.default_rng(0).multinomial(250, [0.1] * 10, size=40)


def votes(*suffixes: str, threads: bool = False) -> Kind:
    place = folder()
    table = pa.table({f"class{number}": VOTES[:, number] for number in range(10)})
    rows = [table.column_names, *VOTES.tolist()]
    text = "".join(",".join(map(str, row)) + "\n" for row in rows)
    np.save(place / "votes.npy", VOTES)
    np.savez_compressed(place / "votes.npz", votes=VOTES)
    (place / "votes.csv").write_text(text)
    (place / "votes.csv.gz").write_bytes(gzip.compress(text.encode()))
    pq.write_table(table, place / "votes.parquet")
    pyarrow.feather.write_feather(table, place / "votes.arrow")
    samples = [(place / f"votes.{suffix}", (place / f"votes.{suffix}").read_bytes()) for suffix in suffixes]

    def open_votes(sample):
        sample[0].write_bytes(sample[1])
        read_votes(sample[0])

    def spoil(rng, sample):
        return sample[0], spoil_bytes(rng, sample[1])

    return Kind(samples, spoil, open_votes, (DataError,), threads)


KINDS = {
    "bytes of ledgers": (250, lambda: ledgers(spoil_files)),
    "fields of ledgers": (400, lambda: ledgers(spoil_field)),
    "estimates": (1800, estimates),
    "costs and plans": (600, costs),
    "descriptions": (700, descriptions),
    "reports": (700, reports),
    "partial states": (800, partial_states),
    "running totals": (600, running_totals),
    "pointwise curves": (400, pointwise),
    "noise of nodes": (200, node_noise),
    "teachers": (200, teachers),
    "sums, messages": (1000, lambda: aggregated(spoil_message)),
    "sums, messages signed anew": (800, lambda: aggregated(spoil_signed)),
    "comparison keys": (800, comparison_keys),
    "shares of tables": (500, shared_tables),
    "states of servers": (500, server_states),
    "uploads and sets": (600, uploads),
    "verifications": (500, verifications),
    "pairs of people": (600, pair_messages),
    "arrays of votes": (800, lambda: votes("npy", "npz")),
    "tables of votes": (60, lambda: votes("csv", "csv.gz", "parquet", "arrow", threads=True)),
}
"""How many cases of each kind, and what makes it."""
