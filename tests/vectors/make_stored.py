"""What is stored or sent, as of November 2026: writes the files in `stored/` but those of ledgers.

    python tests/vectors/make_stored.py          all of them
    python tests/vectors/make_stored.py words    words.txt alone: what people are told of these, and in
                                                 the cases of `word_cases.py`

`words` refuses to write where a number in a text is another, since numbers are no wording; `words --numbers` writes it.

Words may change, and are then written again on purpose. Data may not: whoever has such a file will read it with a later
version. All that is random has a fixed source, so the same files come out every time.
"""

import dataclasses
import datetime
import hashlib
import io
import json
import re
import shutil
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers import serving
from helpers.declared import public_of
from vectors.question_cases import AREAS, BOX, CURVE, GAUSSIAN, PAIRS, RANKED, READ, ROC, SCORE, TEST, TIMES, records
from vectors.word_cases import CASES

import ogive
from ogive import (
    ApproxDP,
    Boxplot,
    Concordance,
    Count,
    Crosstab,
    Describe,
    Ecdf,
    GroupAuc,
    Grouped,
    Histogram,
    HosmerLemeshow,
    Mean,
    Proportion,
    PureDP,
    Quantiles,
    Roc,
    Subset,
    Sum,
    Survival,
    Ustatistic,
    Validation,
    ZeroConcentratedDP,
)
from ogive.cli import main as command
from ogive.local import Collection, Description, Randomizer
from ogive.noise import DerivedNodes, DiscreteGaussian, DiscreteLaplace, KeyedSource, StoredNodes
from ogive.pate import (
    ConfidentGNMax,
    GNMax,
    LargestMargins,
    LNMax,
    NetworkLearner,
    Partition,
    VirtualAdversarialStudent,
    label,
    perceptron,
    plan_labels,
    privacy_cost,
    sanitize,
)
from ogive.pate.learners import Constant
from ogive.pate.teachers import keep, model_path, open_folder, terms_of
from ogive.releasing.pointwise import PointwiseCurve
from ogive.report import render_report
from ogive.statistics import Bounds
from ogive.statistics.kinds import SCHEMAS, read_estimate
from ogive.streams import RunningTotal

FOLDER = Path(__file__).with_name("stored")
DOCUMENTS, WORDS, STATES = (FOLDER / name for name in ("documents.json", "words.txt", "states.json"))
TEACHERS = FOLDER / "teachers"
CHAPTER = "chapter {} with numbers {}"
REPORTS = 160
KEY = bytes(range(64, 96))
SECRET = bytes(range(32))
VOTES = np.array([[30, 5, 5], [20, 15, 5], [38, 1, 1], [14, 13, 13]] * 2)
REPLACE, ADD = ogive.Adjacency.REPLACE, ogive.Adjacency.ADD_OR_REMOVE
PURE, CONCENTRATED, APPROXIMATE = PureDP("0.5"), ZeroConcentratedDP("0.1"), ApproxDP("0.5", "1e-6")


def named(estimate, name):
    """An estimate whose release has an identity that follows from a name."""
    release_id = hashlib.sha256(f"release {name}".encode()).hexdigest()[:32]
    return estimate.with_provenance(dataclasses.replace(estimate.provenance, release_id=release_id))


def released(name, statistic, *, trust=None, privacy=PURE, adjacency=REPLACE, batch=None):
    trust = ogive.Central(records()) if trust is None else trust
    estimate = ogive.release(
        statistic, trust=trust, privacy=privacy, adjacency=adjacency, batch=batch,
        public=public_of(statistic, adjacency), source=KeyedSource(SECRET),
    )  # fmt: skip
    return named(estimate, name)


def curves():
    """Curves of every strategy, smoothing, kind of axis and trust model: (name, estimate)."""
    wide = {**CURVE, "bins": 8}
    for method in ("path", "tree_ls", "hat_ls", *GAUSSIAN, "projection", "histogram", "adaptive", "selected"):
        privacy = CONCENTRATED if method in GAUSSIAN else PURE
        yield f"curve {method}", Ecdf("age", **wide, method=method), {"privacy": privacy}
    for smooth in ("least_squares", "least_absolute", "isotonic"):
        yield f"curve {smooth}", Ecdf("age", **{**wide, "smooth": smooth}, method="tree_ls"), {}
    tree = Ecdf("age", **wide, method="tree_ls")
    yield "curve added", tree, {"adjacency": ADD, "privacy": APPROXIMATE, "batch": "north"}
    yield "curve clear", tree, {"trust": ogive.Clear(records()), "privacy": None}
    data, few = records(), records(48)
    for trust in (
        ogive.Central(data, person="who", max_rows_per_person=2),
        ogive.Simulation(ogive.SecAgg, parties=3, colluding=1).over(data),
        ogive.Simulation(ogive.Servers, servers=2, upload="keys").over(few),
    ):
        persons = {"adjacency": ADD} if trust.name == "central" else {}
        yield f"curve {trust.name} {'persons' if persons else 'parties'}", tree, {"trust": trust, **persons}
    for method in ("reports", "histogram"):
        yield f"curve local {method}", Ecdf("age", **wide, method=method), {"trust": ogive.Local(data)}
    people = ogive.Central(data, person="who")
    yield "curve people", Ecdf("age", **wide, method="tree_ls", counted="people"), {"trust": people}
    axis = {"missing": "refuse", "method": "tree_ls", "smooth": "auto", "expected_records": None}
    yield "curve days", Ecdf("day", ("2024-01-01", "2024-04-30"), bins=6, grid="linear", **axis), {}
    ends = datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2)
    yield "curve moments", Ecdf("moment", ends, bins=6, grid="linear", **axis), {}
    yield "curve geometric", Ecdf("age", (1, 100), bins=6, grid="geometric", **axis), {}
    yield "curve explicit", Ecdf("age", grid=ogive.Grid.explicit((20, 40.5, 100), low=0), **axis), {}


def parts():
    """Estimates of some of the records, and of groups of them."""
    curve = Ecdf("age", **{**CURVE, "bins": 8}, method="tree_ls")
    yield "subset", Subset(curve, "ward == 'north' and age >= 40", public=False), {}
    for public in (False, True):
        groups = Grouped(curve, "ward", ("north", "south"), public=public)
        yield f"groups {'public' if public else 'private'}", groups, {}


def others():
    """Every other kind of estimate."""
    data = records()
    read = {**READ, "bins": 8}
    yield "quantiles curve", Quantiles("age", (0.25, 0.5), **read, method="tree_ls"), {}
    yield "quantiles bisection", Quantiles("age", (0.25, 0.5), **read, method="bisection"), {"privacy": CONCENTRATED}
    days = {"bounds": ("2024-01-01", "2024-04-30"), "grid": "linear", "bins": 6, "missing": "refuse"}
    yield "quantiles days", Quantiles("day", (0.5,), **days, confidence_level=0.9, method="bisection"), {}
    score = {**SCORE, **ROC, "bins": 8, "budget": "joint", "method": "tree_ls"}
    for public in (False, True):
        roc = Roc("risk", "ill", **score, public_labels=public)
        yield f"roc {'public' if public else 'private'} labels", roc, {"privacy": APPROXIMATE}
    split = {**score, "budget": "split", "method": "path", "positive_when": "low", "outside": "clip"}
    yield "roc split", Roc("risk", "ward", **split, positive="north", negative=None, public_labels=False), {}
    yield "roc added", Roc("risk", "ill", **score, public_labels=False), {"adjacency": ADD}
    yield "roc clear", Roc("risk", "ill", **score, public_labels=False), {"trust": ogive.Clear(data), "privacy": None}
    test = {**TEST, "bins": 8}
    for form in ("difference", "counts"):
        yield f"calibration {form}", HosmerLemeshow("risk", "ill", **test, form=form, method="tree_ls"), {}
    gaussian = {"privacy": APPROXIMATE, "adjacency": ADD}
    yield "calibration added", HosmerLemeshow("risk", "ill", **test, form="difference", method="path"), gaussian
    paper = {**test, "constants": "paper"}
    yield "calibration paper", HosmerLemeshow("risk", "ill", **paper, form="counts", method="auto"), {}
    box = {**BOX, "bins": 8}
    yield "boxplot curve", Boxplot("age", **box, method="resample", curve="tree_ls", public_groups=False), {}
    yield "boxplot five numbers", Boxplot("age", **box, method="five_numbers", curve="auto", public_groups=False), {}
    for public in (False, True):
        groups = {"by": "ward", "groups": ("north", "south"), "public_groups": public}
        boxes = Boxplot("age", **box, **groups, method="resample", curve="tree_ls")
        yield f"boxplot {'public' if public else 'private'} groups", boxes, {}
    limits = Bounds("age", base=4.0, smallest=1.0, largest=1024.0, false_alarm=0.01)
    yield "bounds", limits, {"privacy": PureDP(2)}
    yield "bounds added", limits, {"privacy": APPROXIMATE, "adjacency": ADD}
    gini = {"bounds": (0, 100), "bins": 8, **PAIRS}
    for method in ("kernel", "cells"):
        yield f"ustatistic {method}", Ustatistic("age", "gini_coefficient", **gini, method=method), {}
    yield "ustatistic krr", Ustatistic("age", "gini", **gini, method="krr"), {"trust": ogive.Local(data)}
    pairs = ogive.Pairs(records(48), circuits="clear")
    yield (
        "ustatistic paired",
        Ustatistic("age", "gini", **gini, method="paired"),
        {"trust": pairs, "privacy": PureDP(4)},
    )
    auc = {"bounds": (0, 1), "bins": 8, "public_labels": True, **PAIRS}
    yield "ustatistic auc", Ustatistic(("risk", "ill"), "auc", **auc, method="cells"), {}
    ranks = {"categories": {"ill": (0, 1), "vote": (0, 1, 2)}, **PAIRS}
    yield "ustatistic kendall_b", Ustatistic(("ill", "vote"), "kendall_b", **ranks, method="cells"), {}


def numbers():
    """Counts, proportions, means and sums; not among `others`, which the second ledger was asked."""
    data, level = records(), {"confidence_level": 0.95}
    mean = Mean("age", (0, 100), step=1, missing="refuse", **level)
    yield "count", Count("ward", among=("north",), missing="no", **level), {}
    yield "count added", Count("empty", among=None, missing="no", **level), {"adjacency": ADD}
    yield "proportion", Proportion("ill", positive=1, missing="refuse", **level), {"adjacency": ADD}
    reported = {"trust": ogive.Local(data), "privacy": PureDP(2)}
    yield "proportion reported", Proportion("ill", positive=(1, True), missing="refuse", **level), reported
    yield "mean", mean, {"privacy": APPROXIMATE}
    yield "mean added", mean, {"adjacency": ADD}
    yield "mean clear", mean, {"trust": ogive.Clear(data), "privacy": None}
    whole = {"other": "count", "missing": "count", **level}
    yield "histogram", Histogram("ward", values=("north", "south"), **whole), {}
    yield "histogram added", Histogram("ward", values=("north", "south"), **whole), {"adjacency": ADD}
    two = Histogram("ill", values=(0, 1), other="refuse", missing="refuse", **level)
    yield "histogram of two", two, {"privacy": APPROXIMATE}
    many = Histogram("vote", values=tuple(range(10)), **whole)
    yield "histogram reported", many, {"trust": ogive.Local(data), "privacy": PureDP(1)}
    of_two = Crosstab("ward", "ill", rows=("north", "south"), columns=(0, 1), **whole)
    yield "crosstab", of_two, {}
    yield "crosstab added", of_two, {"adjacency": ADD}
    yield "crosstab reported", of_two, {"trust": ogive.Local(data), "privacy": PureDP(2)}
    times = {**TIMES, "bins": 4}
    yield "survival", Survival("age", "vote", **{**times, "causes": (1, 2)}, method="tree_ls"), {"privacy": PureDP(4)}
    reports = {"trust": ogive.Local(data), "privacy": PureDP(16)}
    yield "survival reported", Survival("age", "ill", **times, method="reports"), reports
    judged = {"bins": 2, "outside": "refuse", "confidence_level": 0.95, "method": "path"}
    yield "validation", Validation("risk", "ill", **judged), {"privacy": PureDP(4)}
    ranked = {**RANKED, "bins": 1, "score_bins": 2, "other": "vote", "method": "path"}
    yield "concordance", Concordance("risk", "age", "ill", **ranked), {"privacy": PureDP(4)}
    groups = {"group_values": ("north", "south"), "other": "count", "missing_group": "refuse"}
    areas = GroupAuc("risk", "ill", "ward", **SCORE, **AREAS, **groups)
    yield "group_auc", areas, {"privacy": PureDP(4)}
    yield "group_auc added", areas, {"adjacency": ADD, "privacy": APPROXIMATE}
    yield "sum", Sum("age", (0, 100), step=5, missing="refuse", **level), {"adjacency": ADD}
    described = {"bounds": {"age": (0, 100)}, "values": {"ill": 1}, "public_groups": False, **level}
    yield "describe", Describe(("age", "ill"), **described), {"privacy": PureDP(4)}
    wards = {"by": "ward", "groups": ("north", "south")}
    yield "describe groups", Describe(("age", "ill"), **described, **wards), {"privacy": PureDP(4)}
    found = {"numbers": ("age",), "values": {"ill": 1}, "public_groups": False, "search": "outermost", **level}
    kinds = {"values": {"vote": (0, 1, 2)}, "missing": "count", "public_groups": False, **level}
    yield "describe categories", Describe(("vote",), **kinds), {}
    yield "describe found", Describe(("age", "ill"), **found), {"privacy": APPROXIMATE, "adjacency": ADD}


def labelled():
    """Labels of vote counts: (name, aggregator, what else)."""
    yield "labels lnmax", LNMax(5), {}
    yield "labels gnmax", GNMax(10), {"target_delta": "1e-6"}
    yield "labels confident", ConfidentGNMax(25, 10, 5), {"target_delta": "1e-6", "max_answers": 5}
    yield "labels margins", LargestMargins(10, keep=3), {"target_delta": "1e-6"}


def merged():
    """Curves of several batches, unbiased and approximate."""
    tables = {"north": records(60), "south": records(48)}
    for method, name in (("tree_ls", "sum"), ("histogram", "approximations")):
        parts = []
        for number, (batch, data) in enumerate(tables.items(), 1):
            asked = Ecdf("age", **{**CURVE, "bins": 8}, method=method)
            trust = ogive.Central(data)
            parts.append(released(f"part {number} {name}", asked, trust=trust, privacy=PureDP(number), batch=batch))
        yield f"curve merged {name}", ogive.merge(*parts)


def compared():
    """Groups that are compared."""
    found = released("groups compared", Grouped(Mean("age", (0, 100)), "ward", ("north", "south")))
    yield "groups compared", found.with_contrasts(found.difference("north", "south"), found.ratio("south", "north"))
    curves = released(
        "groups compared at a quantile",
        Grouped(Ecdf("age", **{**CURVE, "bins": 8}, method="tree_ls"), "ward", ("north", "south")),
    )
    few = curves.difference("south", "north", probability=0.25, confidence_level=0.9)
    yield "groups compared at a quantile", curves.with_contrasts(few)


def estimates():
    """All kept estimates: (name, estimate)."""
    for name, statistic, options in (*curves(), *others(), *numbers(), *parts()):
        yield name, released(name, statistic, **options)
    for name, aggregator, options in labelled():
        yield name, named(label(VOTES, aggregator, source=KeyedSource(SECRET), **options), name)
    yield from merged()
    yield from compared()


def costs():
    """Plans, and what answers of teachers cost: (name, what has a `to_dict`)."""
    delta = {"target_delta": "1e-6"}
    for mode in ("independent", "joint"):
        yield f"cost {mode}", privacy_cost(VOTES, GNMax(10), mode=mode, noise="scaled", **delta)
    realised = {"mode": "realised", "order": 20, "answered": [True] * 6 + [False] * 2}
    yield "cost realised", privacy_cost(VOTES, ConfidentGNMax(25, 10, 5), **realised, **delta)
    paid = {"source": KeyedSource(SECRET), "noise": "scaled", **delta}
    yield "sanitized cost", sanitize(VOTES, GNMax(10), form="joint", upper_limit=True, **paid)
    yield "sanitized without limit", sanitize(VOTES, GNMax(10), form="joint", upper_limit=False, **paid)
    yield "labels plan", plan_labels(VOTES, truth=[0] * 8, epsilons=[1, 2], answers=[4, 8], **delta)
    asked, privacy = Ecdf("age", **{**CURVE, "bins": 8}, method="auto"), [PureDP(1), ZeroConcentratedDP("0.1")]
    yield "plan", ogive.plan(asked, records=1000, privacy=privacy, runs=2)
    several = [ogive.Simulation(ogive.SecAgg, parties=3), ogive.Simulation(ogive.Servers, servers=2)]
    yield "plan parties", ogive.plan(asked, records=1000, privacy=PureDP(1), adjacency=ADD, trust=several, runs=2)
    groups = Boxplot("age", **{**BOX, "bins": 8}, by="ward", groups=("north", "south"), curve="tree_ls")
    yield "plan boxes", ogive.plan(groups, records=200, privacy=PureDP(1), public="ward", runs=2)


def collections():
    """What owners are asked, by every oracle: (name, description, what each of them has)."""
    data = records(REPORTS)
    gini = {"bounds": (0, 100), "bins": 4, **PAIRS}
    auc = {"bounds": (0, 1), "bins": 4, "public_labels": True, **PAIRS}
    asked = {
        "tree": Ecdf("age", **{**CURVE, "bins": 8}, method="reports"),
        "krr": Ustatistic("age", "gini", **gini, method="krr"),
        "unary": Ustatistic("age", "gini", **gini, method="unary"),
        "haar": Ustatistic("age", "gini", **gini, method="haar"),
        "classes": Ustatistic(("risk", "ill"), "auc", **auc, method="unary"),
    }
    for number, (oracle, statistic) in enumerate(asked.items()):
        made = ogive.describe_collection(statistic, privacy=PureDP(2), participants=REPORTS, title=f"by {oracle}")
        yield (
            oracle,
            dataclasses.replace(made, id=f"{number:032x}"),
            {column.column: data[column.column] for column in made.domain.columns},
        )


def reports_of(description, data):
    """The reports of all owners, whose secrets are all the same here."""
    return Randomizer(description, secret=SECRET).reports(data)


def collected(description, reports):
    """A collection of three quarters of the reports, which also met four again, two cut off and one of others."""
    size = description.report_bytes
    other = dataclasses.replace(description, id="f" * 32)
    collection = Collection(description)
    collection.add(reports[: size * 120])
    collection.add(reports[: size * 4])
    collection.add([reports[: size - 1], reports[: size - 2]])
    collection.add(other.tag + reports[4:size])
    return collection


def released_from(collection):
    """The estimate of a collection, under a fixed identity."""
    return named(ogive.estimate_collection(collection), collection.description.title)


TOTALS = {
    "tree": {"privacy": PureDP(1), "method": "tree"},
    "tree Gaussian": {"privacy": ZeroConcentratedDP("0.5"), "method": "tree"},
    "path": {"privacy": PureDP(1), "method": "path", "low": -1},
    "path Gaussian": {"privacy": ApproxDP(1, "1e-6"), "method": "path", "adaptive": False},
    "sqrt": {"privacy": ZeroConcentratedDP("0.5"), "method": "sqrt", "bound": 2, "resolution": "0.25"},
    "auto": {"privacy": PureDP(1), "method": "auto"},
    "hats": {"privacy": PureDP(1), "method": "hats", "low": -1},
    "sqrt ahead": {"privacy": ZeroConcentratedDP("0.5"), "method": "sqrt_ahead", "bound": 2, "resolution": "0.25"},
    "open hats": {"privacy": PureDP(1), "method": "open_hats", "low": -1},
    "open powers": {"privacy": ZeroConcentratedDP("0.5"), "method": "open_powers", "bound": 2, "resolution": "0.25"},
}
STEPS, BEFORE, AFTER = 40, [1, 0, 1, 1, 0, 0, 1] * 2, [0, 1, 1, 0, 1]
POINTS, MORE_POINTS = [1, 5, 12], [0, 8, 15]


def steps_of(name):
    """Largest number of elements; None where it is unknown."""
    return None if TOTALS[name]["method"].startswith("open") else STEPS


def total_of(name):
    return RunningTotal(steps_of(name), source=KeyedSource(SECRET), **TOTALS[name])


def totals():
    """Streams that were stopped: name -> what they are kept as, and what they said before and say after."""
    for name in TOTALS:
        stream = total_of(name)
        before = stream.add_many(BEFORE).tolist()
        kept = stream.to_bytes().decode()
        yield name, {"bytes": kept, "before": before, "after": stream.add_many(AFTER).tolist()}


def opened_curves():
    """Curves opened at single points: name -> state file, and what it says."""
    few = records(24)
    asked = Ecdf("age", **CURVE, method="path")
    models = {
        "central": ogive.Central(records()),
        "servers": ogive.Simulation(ogive.Servers, servers=2, upload="keys").over(few),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, trust in models.items():
            place = Path(folder, name)
            curve = PointwiseCurve.open(asked, trust=trust, privacy=PURE, state=place, source=KeyedSource(SECRET))
            first = curve.counts(POINTS).tolist()
            state = place.read_text(encoding="utf-8")
            yield name, {"state": state, "counts": first, "more": curve.counts(MORE_POINTS).tolist()}


def noise():
    """Node noise as it is stored: in a key, and node by node."""
    law, context = DiscreteLaplace(3), b"a release"
    derived = DerivedNodes(SECRET, context)
    kept = {"derived": derived.to_bytes().hex(), "values": derived.values(law, 2, np.arange(12)).tolist()}
    (FOLDER / "nodes.db").unlink(missing_ok=True)
    stored = StoredNodes(KeyedSource(SECRET), context, FOLDER / "nodes.db")
    kept["stored"] = [
        stored.values(law, 0, np.arange(6)).tolist(),
        stored.values(DiscreteGaussian(2), 1, np.arange(3)).tolist(),
    ]
    stored.close()
    return kept


def servers():
    """States of servers that stopped between two questions."""
    settings = serving.collected()
    found = serving.meet(settings, serving.uploads_of(settings, [0, 3, 3, 12, 5]))
    serving.ask(found, serving.opened(4))
    return [server.going().to_bytes().hex() for server in found]


LEARNER = NetworkLearner(partial(perceptron, 4, 3, hidden=(8,)), steps=10, batch=4, rate=0.01, decay=0.0)
STUDENT = VirtualAdversarialStudent(partial(perceptron, 4, 3, hidden=(8,)), steps=10, batch=4)
MODELS = (Constant(2), LEARNER, STUDENT, Constant(0))


def training():
    """The terms of a training: what a folder of teachers is held to."""
    features = np.arange(48.0).reshape(12, 4)
    labels = np.arange(12) % 3
    parts = Partition(len(MODELS), np.arange(12) % len(MODELS))
    return terms_of(LEARNER, features, labels, parts, classes=3, seed=7)


def teachers():
    """A folder of teachers: of models that ogive itself has."""
    shutil.rmtree(TEACHERS, ignore_errors=True)
    open_folder(TEACHERS, training())
    for number, model in enumerate(MODELS):
        keep(model, model_path(TEACHERS, number))


def trained():
    """What the command that trains teachers says, of a table that is there for it alone."""
    with tempfile.TemporaryDirectory() as folder:
        rows, queries = Path(folder, "rows.csv"), Path(folder, "queries.csv")
        rows.write_text(
            "a,b,label\n" + "".join(f"{row % 5},{row % 3},{row % 2}\n" for row in range(24)), encoding="utf-8"
        )
        queries.write_text("a,b\n0,0\n3,1\n", encoding="utf-8")
        said = io.StringIO()
        with redirect_stdout(said), redirect_stderr(io.StringIO()):
            status = command([
                "pate", "train", str(rows), "--label", "label", "--classes", "2", "--queries", str(queries),
                "--teachers", "3", "--folder", str(Path(folder, "teachers")), "--estimator", "logistic", "--jobs", "1",
                "--output", str(Path(folder, "votes.npy")), "--json",
            ])  # fmt: skip
        assert not status
        data = json.loads(said.getvalue())
        return {**data, "votes": Path(data["votes"]).name}


def write_documents():
    """Documents of every schema but those of ledgers, collections' reports and states."""
    found = {name: json.loads(estimate.to_json()) for name, estimate in estimates()}
    found |= {name: json.loads(cost.to_json()) for name, cost in costs()}
    for name, description, data in collections():
        reports = reports_of(description, data)
        collection = collected(description, reports)
        (FOLDER / f"{name}.reports").write_bytes(reports)
        (FOLDER / f"{name}.state").write_bytes(collection.to_bytes(key=KEY))
        found[f"description {name}"] = json.loads(description.to_json())
        found[f"collected {name}"] = json.loads(released_from(collection).to_json())
    found["training"] = trained()
    DOCUMENTS.write_text(lines_of(found), encoding="utf-8")


def lines_of(found):
    """JSON with a line for each name, whose fields stay in their order."""
    lines = (f"{json.dumps(name)}:{json.dumps(data, separators=(',', ':'))}" for name, data in found.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(data):
    """A document by its public reader."""
    schema = data["schema"]
    if schema in SCHEMAS:
        return read_estimate(data)
    readers = {each.schema: each.from_dict for each in (ogive.pate.PrivacyCost, ogive.pate.SanitizedCost)}
    readers |= {ogive.pate.LabelsPlan.schema: ogive.pate.LabelsPlan.from_dict, "ogive.plan/1": ogive.Plan.from_dict}
    readers[Description.schema] = Description.from_dict
    return readers[schema](data)


def told(document):
    """What people are told of a document, as a text.

    A last line has digests of its section of a report, without its pictures: of all its words, and of its numbers.
    """
    text = document.words if isinstance(document, Description) else str(document)
    if getattr(document, "provenance", None) is not None:
        page = render_report([document], title="kept")
        article = re.search(r"<article.*</article>", page, re.DOTALL)[0]
        words = re.sub(r"\s*<[^>]*>\s*", "\n", re.sub(r"<svg.*?</svg>", "", article, flags=re.DOTALL))
        digests = (hashlib.sha256(each.encode()).hexdigest()[:32] for each in (words, " ".join(numbers_in(words))))
        text = text.strip("\n") + "\n" + CHAPTER.format(*digests)
    return text.strip("\n")


def numbers_in(text):
    """The numbers of a text in their order, but of the digest of a chapter's words, which is none."""
    return re.findall(r"\d+(?:[.,]\d+)*", re.sub(r"(?m)^chapter \w+ with numbers ", "", text))


def all_words():
    """What people are told, by the name of a document or a case."""
    documents = json.loads(DOCUMENTS.read_text(encoding="utf-8"))
    found = {name: told(read(data)) for name, data in documents.items() if name != "training"}
    return found | {name: words() for name, words in CASES.items()}


def kept_words():
    """The same, as it was written and reviewed."""
    parts = re.split(r"(?m)^=== (.*)\n", WORDS.read_text(encoding="utf-8"))
    return {name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def changed_numbers(before, after):
    """Names of the texts whose numbers are others; new texts are none."""
    return [name for name in before if name in after and numbers_in(before[name]) != numbers_in(after[name])]


def write_words(*, numbers=False):
    """Write what people are told.

    Args:
        numbers: Whether numbers may be others than they were.
    """
    found = all_words()
    changed = [] if numbers or not WORDS.exists() else changed_numbers(kept_words(), found)
    if changed:
        sys.exit(f"numbers changed, and nothing is written; --numbers writes them: {', '.join(changed)}")
    WORDS.write_text("\n".join(f"=== {name}\n{text}\n" for name, text in found.items()), encoding="utf-8")


def main():
    FOLDER.mkdir(exist_ok=True)
    if sys.argv[1:2] != ["words"]:
        write_documents()
        states = {"totals": dict(totals()), "pointwise": dict(opened_curves()), "noise": noise(), "servers": servers()}
        STATES.write_text(json.dumps(states, indent=1) + "\n", encoding="utf-8")
        teachers()
    write_words(numbers="--numbers" in sys.argv)


if __name__ == "__main__":
    main()
