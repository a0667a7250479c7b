"""What questions are called, and their noise, as of November 2026: writes `questions.json`.

    python tests/vectors/make_questions.py

A ledger knows a question by the SHA-256 of a text, and its noise is a function of a secret and of a digest. If either
changes, what was asked before would be asked and paid anew. Every option that could get another default later is
given by name.
"""

import dataclasses
import hashlib
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.declared import public_of
from vectors.make_ledger import table

import ogive
from ogive import ApproxDP, Boxplot, Ecdf, HosmerLemeshow, PureDP, Quantiles, Roc, Ustatistic, ZeroConcentratedDP
from ogive.ledger import Ledger
from ogive.ledger.entries import plain_text, question_digest
from ogive.noise import KeyedSource
from ogive.pate import LargestMargins
from ogive.queries import Ballots
from ogive.statistics import Bounds, Labels

FILE = Path(__file__).with_name("questions.json")
SHOWN = 16
DATA = table() | {"vote": [row % 3 for row in range(240)]}
PURE, CONCENTRATED, APPROXIMATE = PureDP("0.5"), ZeroConcentratedDP("0.1"), ApproxDP("0.5", "1e-6")
REPLACE, ADD = ogive.Adjacency.REPLACE, ogive.Adjacency.ADD_OR_REMOVE

AGE = {"bounds": (0, 100), "bins": 20, "grid": "linear", "missing": "refuse"}
EACH = {"bounds": (0, 1), "bins": 16, "grid": "linear", "missing": "refuse"}
ROC = {"budget": "joint", "positive_when": "high", "smooth": "auto", "outside": "refuse", "confidence_level": 0.95}
CURVES = {
    "auto": (PURE, APPROXIMATE),
    "path": (PURE, CONCENTRATED),
    "tree_ls": (PURE, CONCENTRATED, APPROXIMATE),
    "hat_ls": (PURE, CONCENTRATED),
    "sqrt": (CONCENTRATED, APPROXIMATE),
    "projection": (PURE, APPROXIMATE),
    "histogram": (PURE, CONCENTRATED),
    "adaptive": (PURE, APPROXIMATE),
}


def central_cases():
    """(name, statistic, guarantee, adjacency) of what a curator releases."""
    for method, grants in CURVES.items():
        for grant in grants:
            curve = Ecdf("age", **AGE, method=method, smooth="auto")
            yield f"ecdf {method} {type(grant).__name__}", curve, grant, REPLACE
    yield "ecdf tree_ls added", Ecdf("age", **AGE, method="tree_ls", smooth="auto"), PURE, ADD
    yield "ecdf selected", Ecdf("age", **AGE, method="selected", smooth="auto", expected_records=240), PURE, REPLACE
    yield "ecdf integers", Ecdf("age", (0, 100), grid="integers", method="tree_ls", smooth="auto"), PURE, REPLACE
    yield "quantiles tree_ls", Quantiles("age", (0.25, 0.5), **AGE, method="tree_ls"), PURE, REPLACE
    yield "quantiles bisection", Quantiles("age", (0.25, 0.5), **AGE, method="bisection"), PURE, REPLACE
    yield "quantiles bisection Gaussian", Quantiles("age", (0.25,), **AGE, method="bisection"), APPROXIMATE, REPLACE
    yield "boxplot", Boxplot("age", **AGE, method="resample", curve="tree_ls"), PURE, REPLACE
    yield "boxplot five numbers", Boxplot("age", **AGE, method="five_numbers"), PURE, REPLACE
    for public in (False, True):
        named = "public" if public else "private"
        groups = {"by": "ward", "groups": ("north", "south"), "public_groups": public}
        yield f"boxplot {named} groups", Boxplot("age", **AGE, **groups, curve="tree_ls"), PURE, REPLACE
        for method in ("path", "tree_ls", "hat_ls"):
            roc = Roc("risk", "ill", **EACH, **ROC, public_labels=public, method=method)
            yield f"roc {method} {named} labels", roc, PURE, REPLACE
        auc = Ustatistic(("risk", "ill"), "auc", bounds=(0, 1), bins=8, public_labels=public, method="auto")
        yield f"auc {named} labels", auc, PURE, REPLACE
    for form in ("difference", "counts"):
        test = HosmerLemeshow("risk", "ill", groups=4, bins=16, form=form, method="auto")
        yield f"calibration {form}", test, PURE, REPLACE
        yield f"calibration {form} Gaussian", test, APPROXIMATE, REPLACE
    yield "bounds", Bounds("age", base=2.0, smallest=1.0, largest=1024.0), PURE, REPLACE
    yield "gini", Ustatistic("age", "gini", bounds=(0, 100), bins=16, method="auto"), PURE, REPLACE
    yield "collision", Ustatistic("ill", "collision", categories=(0, 1), method="auto"), PURE, REPLACE
    pairs = Ustatistic(("ill", "vote"), "kendall", categories={"ill": (0, 1), "vote": (0, 1, 2)}, method="auto")
    yield "kendall", pairs, CONCENTRATED, REPLACE
    yield "labels", Labels(LargestMargins(None, keep=1), Ballots(("ill", "vote"), classes=3)), PURE, REPLACE


def cases():
    """name -> (statistic, trust model, guarantee, adjacency)."""
    found = {
        f"central {name}": (asked, ogive.Central(DATA), grant, unit) for name, asked, grant, unit in central_cases()
    }
    persons = ogive.Central(DATA, person="who", max_rows_per_person=2)
    curve = Ecdf("age", **AGE, method="tree_ls", smooth="auto")
    found["central person"] = (curve, persons, PURE, ADD)
    secagg = ogive.Simulation(ogive.SecAgg, parties=3, colluding=1)
    tables, keys, sums = (
        ogive.Simulation(ogive.Servers, servers=2, upload=upload, **more)
        for upload, more in (("tables", {}), ("keys", {}), ("sums", {"parties": 3}))
    )
    few = {name: values[:60] for name, values in DATA.items()}
    for grant in (PURE, CONCENTRATED):
        kind = type(grant).__name__
        found[f"secagg ecdf {kind}"] = (curve, secagg.over(DATA), grant, REPLACE)
        found[f"servers tables ecdf {kind}"] = (curve, tables.over(few), grant, REPLACE)
    found["servers keys ecdf"] = (curve, keys.over(few), PURE, REPLACE)
    found["servers sums ecdf"] = (curve, sums.over(DATA), PURE, REPLACE)
    roc = Roc("risk", "ill", **EACH, **ROC, public_labels=False, method="tree_ls")
    found["secagg roc"] = (roc, secagg.over(DATA), PURE, REPLACE)
    local = ogive.Local(DATA)
    for method in ("reports", "histogram"):
        reported = Ecdf("age", **AGE, method=method, smooth="auto")
        found[f"local ecdf {method}"] = (reported, local, PURE, REPLACE)
    same = Ustatistic("ill", "collision", categories=(0, 1), method="auto")
    found["local collision"] = (same, local, PURE, REPLACE)
    boxes = Boxplot("age", **AGE, method="resample", curve="auto")
    found["local boxplot"] = (boxes, local, PURE, REPLACE)
    met = Ustatistic("age", "gini", bounds=(0, 100), bins=16, method="paired")
    found["pairs gini"] = (met, ogive.Pairs(DATA, circuits="clear"), PURE, REPLACE)
    return found


def asked(statistic, trust, privacy, adjacency):
    """A question's text and digest in the ledger, and the integers that answer it with a fixed secret."""
    answers = []
    opening = trust.open(adjacency, source=KeyedSource(bytes(range(32))))
    answer = opening.answer

    def watched(query):
        given = answer(query)
        answers.append(np.ravel(np.asarray(given.values)))
        return given

    opening.answer = watched
    # the first to pay draws with its own secret
    trust.open = lambda adjacency, *, source: opening
    unit = dataclasses.replace(trust.unit(adjacency), public=public_of(statistic, adjacency))
    with Ledger.open() as ledger:
        account = ledger.account("any", unit=unit, fingerprint=ledger.fingerprint(b"any"))
        ogive.release(statistic, trust=trust, privacy=privacy, adjacency=adjacency, ledger=account)
        (entry,) = account.history
    # a unit that names public columns is another one; all else of the question is what it was before there were any
    text = plain_text({**entry.question, "unit": trust.unit(adjacency).to_dict()})
    values = np.concatenate(answers)
    assert np.array_equal(values, values.astype(np.int64))
    values = values.astype("<i8")
    return {
        "question": json.loads(text),
        "digest": question_digest(text),
        "charge": entry.charge.to_dict(),
        "answers": [len(each) for each in answers],
        "first": values[:SHOWN].tolist(),
        "all": hashlib.sha256(values.tobytes()).hexdigest(),
    }


def main():
    lines = (f"{json.dumps(name)}:{plain_text(asked(*case))}" for name, case in cases().items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
