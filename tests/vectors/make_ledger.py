"""A ledger as the library wrote it in November 2026, and what it must go on to answer: writes `ledger.*`.

    python tests/vectors/make_ledger.py

It is made once. A later version does not write this file again: it opens the one that is there, answers what was
asked without a further charge, and finishes what was cut off with the same noise. Every option that could get another
default later is given by name.
"""

import shutil
import tempfile
from pathlib import Path

import ogive
from ogive import ApproxDP, Local, Pairs, PureDP, SecAgg, Servers, Simulation, ZeroConcentratedDP
from ogive.ledger.entries import plain_text
from ogive.trust.table import CentralOpening

HERE = Path(__file__).parent
FILE, KEY, ANSWERS = (HERE / name for name in ("ledger.db", "ledger.db.key", "ledger.json"))
ROWS = 240
AGE = {"bounds": (0, 100), "bins": 20, "grid": "linear", "missing": "refuse"}
RISK = {"bounds": (0, 1), "bins": 16, "grid": "linear", "missing": "refuse"}
QUARTER, HALF = PureDP("0.25"), PureDP("0.5")


def table(seed=0, rows=ROWS):
    """Records that are the same wherever they are made: no random numbers of any library are in them."""
    each = [(row * row * 31 + row * 17 + seed * 7) % 9973 for row in range(rows)]
    risk = [value % 128 / 128 for value in each]
    return {
        "age": [18 + value % 70 for value in each],
        "risk": risk,
        "ill": [int(share * 128 > value * 5 % 128) for share, value in zip(risk, each, strict=True)],
        "ward": ["north" if value % 3 else "south" for value in each],
        "who": [row // 2 for row in range(rows)],
    }


def classes(session):
    """Class counts that are published exactly, as defaults of that time allowed."""
    yield session.ustatistic(
        ("risk", "ill"), "auc", bounds=(0, 1), bins=8, public_labels=True, method="auto", privacy=QUARTER
    )
    yield session.roc("risk", "ill", **RISK, public_labels=True, method="tree_ls", smooth="auto", privacy=QUARTER)
    yield session.boxplot(
        "age", by="ward", groups=("north", "south"), **AGE, public_groups=True, method="resample", curve="tree_ls",
        privacy=QUARTER,
    )  # fmt: skip


def curves(session):
    """Curves, what is read off them, and what needs two columns."""
    yield session.ecdf("age", **AGE, method="auto", smooth="auto", privacy=QUARTER)
    yield session.ecdf("age", **AGE, method="hat_ls", smooth="auto", privacy=QUARTER)
    yield session.quantiles("age", (0.25, 0.5, 0.75), **AGE, method="tree_ls", privacy=QUARTER)
    yield session.quantiles("age", (0.5,), **AGE, method="bisection", privacy=QUARTER)
    yield session.boxplot("age", **AGE, method="five_numbers", quartiles="single", privacy=QUARTER)
    yield session.roc(
        "risk", "ill", **RISK, public_labels=False, budget="joint", method="auto", smooth="auto", privacy=QUARTER
    )
    yield session.hosmer_lemeshow("risk", "ill", groups=4, bins=16, form="difference", method="auto", privacy=QUARTER)
    yield session.ustatistic("age", "gini", bounds=(0, 100), bins=16, method="auto", privacy=QUARTER)
    yield session.find_bounds("age", base=2.0, smallest=1.0, largest=1024.0, privacy=QUARTER)


def gaussian(session):
    """Noise of the other law, and two ways to choose what is measured."""
    grant = ApproxDP("0.5", "1e-8")
    yield session.ecdf("age", **AGE, method="sqrt", smooth="auto", privacy=grant)
    yield session.ecdf("age", **AGE, method="projection", smooth="auto", privacy=grant)
    yield session.quantiles("age", (0.5,), **AGE, method="adaptive", privacy=grant)


def concentrated(session):
    """What several add up, where the ledger's limit is one of zero-concentrated privacy."""
    yield session.ecdf("age", **AGE, method="tree_ls", smooth="auto", privacy=ZeroConcentratedDP("0.05"))
    yield session.roc(
        "risk", "ill", **RISK, public_labels=False, method="path", smooth="auto", privacy=ZeroConcentratedDP("0.05")
    )


def few(session):
    """One curve, which every trust model but the local ones can release."""
    yield session.ecdf("age", **AGE, method="tree_ls", smooth="auto", privacy=HALF)


def reports(session):
    """What owners report."""
    yield session.ecdf("age", **AGE, method="reports", smooth="auto", privacy=HALF)
    yield session.ustatistic("ill", "collision", categories=(0, 1), method="auto", privacy=HALF)


def met(session):
    """What pairs of people compute between themselves."""
    yield session.ustatistic("age", "gini", bounds=(0, 100), bins=16, method="paired", privacy=HALF)


# account -> how its session is opened, and what was asked of it
ACCOUNTS = {
    "curves": ({"adjacency": "replace", "limit": PureDP(4)}, table(), curves),
    "classes": ({"adjacency": "replace", "limit": PureDP(4)}, table(1), classes),
    "added": ({"adjacency": "add_or_remove", "limit": PureDP(4)}, table(2), few),
    "visits": (
        {"adjacency": "add_or_remove", "limit": PureDP(4), "person": "who", "max_rows_per_person": 2},
        table(3),
        few,
    ),
    "patients": ({"adjacency": "replace", "limit": PureDP(4), "person": "who"}, table(4), few),
    "gaussian": ({"adjacency": "replace", "limit": ApproxDP(4, "1e-6")}, table(5), gaussian),
    "concentrated": ({"adjacency": "replace", "limit": ZeroConcentratedDP("0.5")}, table(6), concentrated),
    "parties": (
        {"adjacency": "replace", "limit": PureDP(4), "trust": Simulation(SecAgg, parties=3, colluding=1)},
        table(7),
        few,
    ),
    "servers": (
        {"adjacency": "replace", "limit": PureDP(4), "trust": Simulation(Servers, servers=2, upload="tables")},
        table(8, 60),
        few,
    ),
    "owners": ({"adjacency": "replace", "limit": PureDP(4), "trust": Simulation(Local)}, table(9), reports),
    "pairs": (
        {"adjacency": "replace", "limit": PureDP(4), "trust": Simulation(Pairs, circuits="clear")},
        table(10),
        met,
    ),
}
PARTS = {"north": table(11), "south": table(12)}
CUT_OFF = {
    "curve": ogive.Ecdf("age", (0, 100), bins=24, method="tree_ls"),
    "later round": ogive.Quantiles("age", (0.25, 0.5), bounds=(0, 100), bins=24, method="bisection"),
    "labels": ogive.Roc("risk", "ill", (0, 1), bins=24, public_labels=False, method="path"),
}


def opened(ledger, name):
    """The session of an account, with all that was said when it was first opened."""
    options, data, _ = ACCOUNTS[name]
    return ogive.Session(data, ledger=ledger, name=name, **options)


def asked(ledger):
    """(account, its answers) of all that was finished: asked of the ledger once more, which costs nothing."""
    for name, (_, _, questions) in ACCOUNTS.items():
        yield name, list(questions(opened(ledger, name)))
    whole = ogive.Session(table(13), ledger=ledger, name="regions", limit=PureDP(4), adjacency="replace")
    yield "regions", list(few(whole))
    for part, data in PARTS.items():
        yield f"regions/{part}", list(few(whole.part(part, data)))


def unnamed(ledger):
    """Of an account that was opened without a fingerprint of its data."""
    account = ledger.account("unchecked", unit=ogive.PrivacyUnit(ogive.Adjacency.REPLACE), limit=PureDP(4))
    question = ogive.Ecdf("age", (0, 100), bins=20, method="tree_ls")
    return ogive.release(question, trust=ogive.Central(table(14)), privacy=HALF, ledger=account)


def finished(ledger):
    """The releases that were cut off, brought to their end: the estimate and the noisy integers of each."""
    session = opened(ledger, "curves")
    answer = CentralOpening.answer
    found = {}

    for name, question in CUT_OFF.items():
        integers = []

        def watched(opening, query, integers=integers):
            given = answer(opening, query)
            integers.append(given.values.ravel().tolist())
            return given

        CentralOpening.answer = watched
        try:
            found[name] = {"estimate": session.release(question, privacy=QUARTER).to_dict(), "integers": integers}
        finally:
            CentralOpening.answer = answer
    return found


def books(ledger):
    """What every account says of itself."""
    return {
        account.name: {
            "unit": account.unit.to_dict(),
            "limit": account.limit.to_dict(),
            "spent": account.spent.to_dict(),
            "remaining": account.remaining.to_dict(),
            "states": [entry.state for entry in account.history],
            "questions": [entry.question for entry in account.history],
        }
        for account in ledger.accounts()
    }


class _CutOffError(Exception):
    """Stands for a power cut."""


def _cut(ledger):
    """Reserve what will not be finished: after the spend, before its first answer or between two."""
    answer = CentralOpening.answer
    session = opened(ledger, "curves")
    for name, question in CUT_OFF.items():
        left = [2 if name == "later round" else 0]

        def failing(opening, query, left=left):
            if not left[0]:
                raise _CutOffError
            left[0] -= 1
            return answer(opening, query)

        CentralOpening.answer = failing
        try:
            session.release(question, privacy=QUARTER)
        except _CutOffError:
            continue
        finally:
            CentralOpening.answer = answer
        raise AssertionError(f"{name} came to its end")


def main():
    for path in (FILE, KEY):
        path.unlink(missing_ok=True)
    # the draft of a key file becomes the new ledger's key
    FILE.with_name(f"{KEY.name}.new").write_bytes(bytes(range(100, 132)))
    with ogive.Ledger.open(FILE) as ledger:
        answers = {name: [each.to_dict() for each in given] for name, given in asked(ledger)}
        plain = unnamed(ledger).to_dict()
        _cut(ledger)
        before = books(ledger)
    with tempfile.TemporaryDirectory() as folder:
        for path in (FILE, KEY):
            shutil.copy(path, folder)
        with ogive.Ledger.open(Path(folder, FILE.name)) as copy:
            rest = finished(copy)
    kept = {"accounts": before, "answers": answers, "unchecked": plain, "finished": rest}
    ANSWERS.write_text(plain_text(kept) + "\n")


if __name__ == "__main__":
    main()
