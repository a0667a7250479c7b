"""What questions are called, and their noise, as of November 2026: writes `questions.json` and `measured.json`.

    python tests/vectors/make_questions.py

A ledger knows a question by the SHA-256 of a text, and its noise is a function of a secret and of a digest. If either
changes, what was asked before would be asked and paid anew. Every option that could get another default later is
given by name. `measured.json` says of each question what was measured: so a test can demand that nothing is left out,
and which node got which noise, in which order, is kept too.
"""

import contextlib
import dataclasses
import functools
import hashlib
import itertools
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.declared import public_of
from vectors import question_cases
from vectors.make_ledger import table

import ogive
from ogive import ApproxDP, Boxplot, Ecdf, HosmerLemeshow, PureDP, Quantiles, Roc, Ustatistic, ZeroConcentratedDP
from ogive.columns import Binning, Categories, Label, Listed, Membership
from ogive.columns.grids import Grid
from ogive.kernels import Kernel, Measure
from ogive.ledger import Ledger
from ogive.ledger.entries import plain_text, question_digest
from ogive.local import Oracle
from ogive.noise import (
    DerivedNodes,
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    KeyedSource,
    Polya,
    Skellam,
    UniformBits,
)
from ogive.pate import LargestMargins
from ogive.queries import (
    Ballots,
    CellsQuery,
    ClassCurvesQuery,
    CurveQuery,
    DegreesQuery,
    DiscoveryQuery,
    GroupedQuery,
    GroupSumsQuery,
    JointQuantilesQuery,
    KernelQuery,
    LabelsQuery,
    LinearGroupsQuery,
    LinearSelectedQuery,
    MomentsQuery,
    NoisyMaxQuery,
    PairsQuery,
    PeopleQuery,
    ReportsQuery,
    SelectedQuery,
    SparseVectorQuery,
    VotesQuery,
)
from ogive.queries.histograms import ThresholdQuery
from ogive.queries.kernels import ExactMeansQuery
from ogive.statistics import Bounds, Labels
from ogive.statistics.base import describe, settled
from ogive.strategies import Strategy

FILE, MEASURED = (Path(__file__).with_name(name) for name in ("questions.json", "measured.json"))
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
    yield "boxplot five numbers", Boxplot("age", **AGE, method="five_numbers", quartiles="single"), PURE, REPLACE
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
    people = Ecdf("age", **AGE, method="tree_ls", smooth="auto", counted="people")
    found["central people"] = (people, persons, PURE, ADD)
    whole = ogive.Central(DATA, person="who")
    found["central people Gaussian"] = (dataclasses.replace(people, method="sqrt"), whole, CONCENTRATED, REPLACE)
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


SECRET = bytes(range(32))
QUERIES = {
    CellsQuery: "cells",
    ClassCurvesQuery: "class curves",
    CurveQuery: "curve",
    DegreesQuery: "degrees",
    DiscoveryQuery: "discovery",
    ExactMeansQuery: "exact means",
    GroupSumsQuery: "group sums",
    GroupedQuery: "groups",
    JointQuantilesQuery: "joint quantiles",
    KernelQuery: "kernels",
    LabelsQuery: "labels",
    LinearGroupsQuery: "linear groups",
    LinearSelectedQuery: "linear selected",
    MomentsQuery: "moments",
    NoisyMaxQuery: "noisy maximum",
    PairsQuery: "pairs",
    PeopleQuery: "people",
    ReportsQuery: "reports",
    SelectedQuery: "selected",
    SparseVectorQuery: "sparse vector",
    ThresholdQuery: "threshold",
    VotesQuery: "votes",
}
"""What every query is called here, whatever its class is called."""

LAWS = (DiscreteGaussian, DiscreteLaplace, Geometric, Polya, Skellam, UniformBits)
ROOMS = {
    "strategies": lambda part: part.name if isinstance(part, Strategy) else None,
    "oracles": lambda part: part.name if isinstance(part, Oracle) else None,
    "columns": lambda part: part.kind if isinstance(part, Binning | Categories | Label | Listed | Membership) else None,
    "grids": lambda part: f"{part.kind} {part.unit}" if isinstance(part, Grid) else None,
    "measures": lambda part: part.to_dict()["measure"] if isinstance(part, Measure) else None,
    "kernels": lambda part: part.to_dict()["kernel"] if isinstance(part, Kernel) else None,
    "laws": lambda part: part.to_dict()["law"] if isinstance(part, LAWS) else None,
    "queries": lambda part: QUERIES.get(type(part)),
}


def parts_of(value):
    """A value and all that it is made of, through dataclasses and tuples."""
    yield value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        within = [getattr(value, field.name) for field in dataclasses.fields(value)]
    else:
        within = value if isinstance(value, tuple | list) else ()
    for each in within:
        yield from parts_of(each)


@contextlib.contextmanager
def drawing(log):
    """Note every node whose noise is drawn: the law, the level and the nodes, in their order."""
    drawn = DerivedNodes.values

    def values(self, law, level, nodes):
        log.append(f"{plain_text(law.to_dict())} {level} {np.ravel(nodes).tolist()}\n")
        return drawn(self, law, level, nodes)

    DerivedNodes.values = values
    try:
        yield
    finally:
        DerivedNodes.values = drawn


def watched(opening, queries, answers, log):
    """Note what an opening is asked, what it answers and which noise it draws for that; never how it was planned."""
    answer, context = opening.answer, opening.context

    def answered(query):
        with drawing(log):
            given = answer(query)
        queries.append((query, context(query)))
        answers.append(np.ravel(np.asarray(given.values)))
        return given

    def told(query):
        with drawing(log):
            return context(query)

    opening.answer, opening.context = answered, told
    return opening


@contextlib.contextmanager
def opening_of(trust, adjacency):
    """Make whoever opens the trust model get one opening, with a fixed secret."""
    queries, answers, log = [], [], []
    opening = watched(trust.open(adjacency, source=KeyedSource(SECRET)), queries, answers, log)
    # the first to pay draws with its own secret
    trust.open = lambda adjacency, *, source: opening
    try:
        yield queries, answers, log
    finally:
        del trust.open


@functools.cache
def books():
    """One ledger for all questions, each of which has an account of its own there."""
    return Ledger.open()


ACCOUNTS = itertools.count()


def asked(statistic, trust, privacy, adjacency):
    """What is kept of a question and its answer, and what is kept of how it was measured."""
    unit = dataclasses.replace(trust.unit(adjacency), public=public_of(statistic, adjacency))
    with opening_of(trust, adjacency) as (queries, answers, log):
        if trust.private:
            name = f"people {next(ACCOUNTS)}"
            account = books().account(name, unit=unit, fingerprint=books().fingerprint(name.encode()))
            estimate = ogive.release(statistic, trust=trust, privacy=privacy, adjacency=adjacency, ledger=account)
            (entry,) = account.history
            question, charge = entry.question, entry.charge.to_dict()
        else:
            estimate = ogive.release(statistic, trust=trust, adjacency=adjacency)
            question, charge = {"statistic": describe(settled(statistic, unit)), "trust": trust.name}, None
    # a unit that names public columns is another one; all else of the question is what it was before there were any
    question = {**question, "unit": trust.unit(adjacency).to_dict()}
    if "records" in question:
        question["records"] = None  # a keyed digest, and every ledger has a key of its own
    text = plain_text(question)
    values = np.concatenate(answers)
    assert np.array_equal(values, values.astype(np.int64))
    values = values.astype("<i8")
    kept = {
        "question": json.loads(text),
        "digest": question_digest(text),
        "charge": charge,
        "answers": [len(each) for each in answers],
        "first": values[:SHOWN].tolist(),
        "all": hashlib.sha256(values.tobytes()).hexdigest(),
    }
    return kept, measured(queries, log, estimate)


def measured(queries, log, estimate):
    """Which kinds of things were measured, a digest of what binds the noise, and of which nodes of it were drawn."""
    parts = [part for query, _ in queries for part in parts_of(query)]
    found = {room: sorted({name_of(part) for part in parts} - {None}) for room, name_of in ROOMS.items()}
    first = queries[0][0]
    return {
        **{room: names for room, names in found.items() if names},
        "drawn": sorted({json.loads(line.partition("}")[0] + "}")["law"] for line in log}),
        "nodes": hashlib.sha256("".join(log).encode()).hexdigest(),
        "contexts": hashlib.sha256(b"".join(context for _, context in queries)).hexdigest(),
        "levels": [[level.law.to_dict()["law"], level.nodes] for level in first.levels],
        "method": estimate.provenance.method,
        "schema": estimate.schema,
        "published": sorted(set(strategies_in(estimate.to_dict()))),
    }


def strategies_in(data):
    """Names of the strategies that plain data of an estimate tell of."""
    for key, value in data.items() if isinstance(data, dict) else ():
        if key == "strategy" and isinstance(value, dict):
            yield value["name"]
    for value in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from strategies_in(value)


@functools.cache
def all_cases():
    """The first questions that were kept, and those that came later, in their order."""
    first, later = cases(), question_cases.cases()
    assert not first.keys() & later.keys()
    return first | later


def lines_of(kept):
    """JSON with a line for each name."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}:{plain_text(value)}" for name, value in kept.items()) + "\n}\n"


def main():
    found = {name: asked(*case) for name, case in all_cases().items()}
    FILE.write_text(lines_of({name: question for name, (question, _) in found.items()}), encoding="utf-8")
    MEASURED.write_text(lines_of({name: how for name, (_, how) in found.items()}), encoding="utf-8")


if __name__ == "__main__":
    main()
