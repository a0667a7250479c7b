"""A second ledger, with what the first one lacks: every statistic, all that publishes more than once, and a mark.

    python tests/vectors/make_second_ledger.py

As the first it is made once: its key, its times and the identities of its releases are not made again. Later versions
open it, and answer all that it was asked without a further charge.
"""

import dataclasses
import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.declared import public_of
from vectors.make_stored import AFTER, BEFORE, CURVE, FOLDER, POINTS, PURE, STEPS, VOTES, others
from vectors.question_cases import PAIRS, records

import ogive
from ogive import Ecdf, PrivacyUnit, PureDP, Ustatistic
from ogive.ledger.entries import plain_text
from ogive.pate import ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins, LNMax, Tallied, label, sanitize
from ogive.releasing.pointwise import PointwiseCurve
from ogive.streams import RunningTotal

FILE = FOLDER / "second.db"
KEY, MARK, ANSWERS = (FOLDER / name for name in ("second.db.key", "second.db.key.mark", "second.json"))
REPLACE, ADD = ogive.Adjacency.REPLACE, ogive.Adjacency.ADD_OR_REMOVE
STUDENT = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]] * 4
AGGREGATORS = (
    LNMax(5),
    GNMax(10),
    ConfidentGNMax(25, 10, 5),
    InteractiveGNMax(10, 10, 5, "0.7"),
    LargestMargins(10, 3),
)


def questions():
    """(account, trust model, statistic, guarantee, adjacency) of every release of records."""
    models = {}
    for name, statistic, options in others():
        trust, adjacency = options.get("trust"), options.get("adjacency", REPLACE)
        public = public_of(statistic, adjacency)
        kind = "central" if trust is None else trust.name
        account = " ".join([kind, adjacency.value, *public])
        if name.endswith("clear"):
            continue
        if account not in models:
            data = records(48 if kind == "pairs" else 120, seed=40 + len(models))
            made = {"central": ogive.Central, "local": ogive.Local, "pairs": _in_the_clear}[kind]
            models[account] = made(data)
        yield account, models[account], statistic, options.get("privacy", PURE), adjacency
    wide = {**CURVE, "bins": 8}
    tree = Ecdf("age", **wide, method="tree_ls")
    persons = {"person": "who", "max_rows_per_person": 2}
    yield "persons", ogive.Central(records(seed=60), **persons), tree, PURE, ADD
    secagg = ogive.Simulation(ogive.SecAgg, parties=4, colluding=1, dropouts=1).over(records(seed=61))
    servers = ogive.Simulation(ogive.Servers, servers=2, upload="keys").over(records(48, seed=62))
    cells = Ustatistic("age", "gini", bounds=(0, 100), bins=8, method="cells", **PAIRS)
    for trust in (secagg, servers):
        for statistic in (tree, cells):
            yield trust.name, trust, statistic, PURE, REPLACE
    local = ogive.Local(records(seed=63))
    for method in ("reports", "histogram"):
        yield "owners", local, Ecdf("age", **wide, method=method), PURE, REPLACE


def _in_the_clear(data):
    return ogive.Pairs(data, circuits="clear")


def opened(ledger, name, trust, adjacency, public):
    """The account that pays for what a trust model's records are asked."""
    unit = dataclasses.replace(trust.unit(adjacency), public=public)
    return ledger.account(name, unit=unit, fingerprint=ledger.fingerprint(trust.data_digest()))


def asked(ledger):
    """Digests of all answers, asked of the ledger once or once more: account -> one for each, in their order."""
    found = {}
    for name, trust, statistic, privacy, adjacency in questions():
        account = opened(ledger, name, trust, adjacency, public_of(statistic, adjacency))
        answer = ogive.release(statistic, trust=trust, privacy=privacy, adjacency=adjacency, ledger=account)
        found.setdefault(name, []).append(digest_of(answer))
    teachers = ledger.account("teachers", unit=PrivacyUnit(REPLACE))
    for aggregator in AGGREGATORS:
        options = {} if aggregator.name == "lnmax" else {"target_delta": "1e-6"}
        if aggregator.name == "interactive":
            options["probabilities"] = STUDENT
        answer = label(VOTES, aggregator, ledger=teachers, batch=aggregator.name, **options)
        found.setdefault("teachers", []).append(digest_of(answer))
    options = {"target_delta": "1e-6", "noise": "scaled", "form": "joint", "upper_limit": True, "batch": "first"}
    found["teachers"].append(digest_of(sanitize(VOTES, GNMax(10), ledger=teachers, **options)))
    several = ledger.account("hospitals", unit=PrivacyUnit(ADD, "hospital", 2))
    trust = Tallied(VOTES, person="hospital", max_rows_per_person=2)
    answer = label(trust, LNMax(5), adjacency=ADD, ledger=several)
    found["hospitals"] = [digest_of(answer)]
    return found


def digest_of(answer):
    """Of an answer's plain data, without what a reader computes again; the data themselves are in the ledger."""
    kept = {name: value for name, value in answer.to_dict().items() if name != "results"}
    return hashlib.sha256(plain_text(kept).encode()).hexdigest()


def points(ledger):
    """A curve that is opened at single points, and what it says there; its noise is the account's."""
    trust = ogive.Central(records(seed=70))
    account = opened(ledger, "points", trust, REPLACE, ())
    curve = PointwiseCurve.open(Ecdf("age", **CURVE, method="path"), trust=trust, privacy=PURE, ledger=account)
    return curve.counts(POINTS).tolist()


def streams(ledger):
    """The account of streams."""
    return ledger.account("streams", unit=PrivacyUnit(REPLACE))


STREAM = {"privacy": PureDP(1), "method": "tree", "name": "visits"}


def streamed(ledger):
    """A stream that the ledger paid for, stopped in the middle: its bytes, and what it said before."""
    stream = RunningTotal(STEPS, ledger=streams(ledger), **STREAM)
    before = stream.add_many(BEFORE).tolist()
    return {"bytes": stream.to_bytes().decode(), "before": before}


def went_on(ledger, kept):
    """What the stream says after that."""
    stream = RunningTotal.from_bytes(kept.encode(), STEPS, ledger=streams(ledger), **STREAM)
    return stream.add_many(AFTER).tolist()


def exported(ledger):
    """A digest of all that the ledger exports, but for secrets."""
    return hashlib.sha256(plain_text(ledger.export()).encode()).hexdigest()


def copied(folder):
    """The ledger with its key and its mark, in another folder and for its owner alone, as git does not keep them."""
    for path in (FILE, KEY, MARK):
        shutil.copyfile(path, folder / path.name)
        (folder / path.name).chmod(0o600)
    return folder / FILE.name


def main():
    for path in (FILE, KEY, MARK):
        path.unlink(missing_ok=True)
    # the draft of a key file becomes the new ledger's key
    KEY.with_name(f"{KEY.name}.new").write_bytes(bytes(range(132, 164)))
    with ogive.Ledger.open(FILE) as ledger:
        kept = {"answers": asked(ledger), "points": points(ledger), "stream": streamed(ledger)}
        kept["export"] = exported(ledger)
    with tempfile.TemporaryDirectory() as folder, ogive.Ledger.open(copied(Path(folder))) as copy:
        kept["stream"]["after"] = went_on(copy, kept["stream"]["bytes"])
    for path in FOLDER.glob(".*.lock"):
        path.unlink()
    ANSWERS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
