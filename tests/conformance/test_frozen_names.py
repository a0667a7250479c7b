"""Names of classes, functions and modules are nothing that is stored, hashed or seeded; names of fields are frozen.

Whoever renames or moves a class changes no digest, no document and no noise. What does bind is listed here.
"""

import ast
import contextlib
import dataclasses
import inspect
import json
import sys
from pathlib import Path

import pytest
from helpers.examples import UNKEPT
from helpers.scope import is_everything
from vectors.make_questions import FILE, MEASURED, all_cases, asked
from vectors.make_stored import (
    DOCUMENTS,
    FOLDER,
    KEY,
    STATES,
    TOTALS,
    collected,
    collections,
    read,
    reports_of,
    total_of,
)

import ogive
import ogive_papers
from ogive.columns import Binning, Categories, Column, Domain, Label, Listed, Membership
from ogive.columns.grids import Grid
from ogive.core.checks import is_added
from ogive.local import Collection
from ogive.pate import LabelsPlan, LabelsPlanRow, PrivacyCost, SanitizedCost, aggregators
from ogive.pate.teachers import Terms
from ogive.statistics import STATISTICS
from ogive.statistics.methods.choose import CURVE_METHODS
from ogive.study.store import Progress
from ogive.trust.base import Traffic

ROOT = Path(ogive.__file__).parent
KEPT, HOW, WRITTEN = (json.loads(path.read_text(encoding="utf-8")) for path in (FILE, MEASURED, DOCUMENTS))

# --- classes may be renamed


def own_classes():
    """Every class of the package that is loaded."""
    found = set()
    for name, module in list(sys.modules.items()):
        if name == "ogive" or name.startswith("ogive."):
            found |= {each for each in vars(module).values() if inspect.isclass(each)}
    return sorted((each for each in found if each.__module__.startswith("ogive")), key=lambda each: each.__qualname__)


@contextlib.contextmanager
def renamed():
    """Every class of the package is called otherwise, and is of another module of its folder."""
    before = [(each, each.__name__, each.__qualname__, each.__module__) for each in own_classes()]
    for number, (each, *_) in enumerate(before):
        each.__name__ = each.__qualname__ = f"Renamed{number}"
        each.__module__ = f"{each.__module__.rpartition('.')[0]}.elsewhere{number}"
    try:
        yield
    finally:
        for each, name, qualname, module in before:
            each.__name__, each.__qualname__, each.__module__ = name, qualname, module


def few_cases():
    """Some questions that have together every statistic, trust model, query, strategy, oracle, law and kernel."""
    rooms = ("queries", "strategies", "oracles", "drawn", "kernels", "measures", "columns", "grids", "published")
    has = {}
    for name, (statistic, trust, privacy, adjacency) in all_cases().items():
        has[name] = {(room, each) for room in rooms for each in HOW[name].get(room, ())}
        has[name] |= {(statistic.name, trust.name), (type(privacy).__name__,), (adjacency.value,)}
    left, found = set().union(*has.values()), []
    while left:  # the question with the most that no other one has had
        found.append(max(has, key=lambda name: len(has[name] & left)))
        left -= has[found[-1]]
    return found


def test_renaming_every_class_changes_no_question_and_no_noise(monkeypatch):
    names = few_cases()
    assert 30 < len(names) < 150
    if not is_everything():
        names = names[::4]
    with renamed():
        assert Binning.__name__.startswith("Renamed")
        # bands are no part of what is kept, but where they say what a bisection asks next
        for name in sorted(names, key=lambda name: "bisection" not in name):
            if "bisection" not in name:
                monkeypatch.setattr("ogive.statistics.curve.bands.SIMULATED_VALUES", 100_000)
            question, how = asked(*all_cases()[name])
            assert question == KEPT[name], name
            assert how == HOW[name], name
    assert Binning.__qualname__ == "Binning"


def test_renaming_every_class_changes_no_document():
    texts = {name: read(data).to_json() for name, data in WRITTEN.items() if name != "training"}
    with renamed():
        for name, text in texts.items():
            assert read(WRITTEN[name]).to_json() == text, name


def test_renaming_every_class_changes_no_report_and_no_state():
    streams = json.loads(STATES.read_text(encoding="utf-8"))["totals"]
    totals = list(TOTALS) if is_everything() else ["tree", "sqrt", "hats"]
    with renamed():
        for name, description, data in collections():
            reports = reports_of(description, data)
            assert reports == (FOLDER / f"{name}.reports").read_bytes(), name
            state = (FOLDER / f"{name}.state").read_bytes()
            assert collected(description, reports).to_bytes(key=KEY) == state
            assert Collection.load(state, key=KEY).to_bytes(key=KEY) == state
        for name in totals:
            begun = total_of(name)
            begun.add_many([1, 0, 1, 1, 0, 0, 1] * 2)
            assert begun.to_bytes().decode() == streams[name]["bytes"], name


def test_a_digest_of_a_class_name_would_be_seen(monkeypatch):
    """The control: columns whose kind is again the name of their class."""
    name = next(name for name in few_cases() if "cells" in HOW[name]["queries"])

    def to_dict(self):
        return {"columns": [{"type": type(each).__name__.lower(), **each.to_dict()} for each in self.columns]}

    monkeypatch.setattr(Domain, "to_dict", to_dict)
    assert asked(*all_cases()[name])[1] == HOW[name]
    with renamed():
        assert asked(*all_cases()[name])[1]["contexts"] != HOW[name]["contexts"]


def test_kinds_of_columns_are_constants():
    kinds = {Binning: "binning", Categories: "categories", Label: "label", Listed: "listed", Membership: "membership"}
    assert {each: each.kind for each in Column.__args__} == kinds
    for kind in kinds:
        assert isinstance(inspect.getattr_static(kind, "kind"), str)
        assert "kind" not in {field.name for field in dataclasses.fields(kind)}
    columns = Domain(
        (
            Binning("x", Grid.integers(0, 3)),
            Categories("c", ("a", "b")),
            Label("y"),
            Listed("k", (1, 2)),
            Membership("m", (1,)),
        )
    )
    assert [each["type"] for each in columns.to_dict()["columns"]] == [*kinds.values()]
    assert Domain.from_dict(columns.to_dict()) == columns


# --- where names of classes are read at all

NAMES = ("__name__", "__qualname__", "__module__")
READ_FOR_PEOPLE = {
    ("call_of", "call.__module__"),
    ("call_of", "call.__name__"),
    ("call_of", "call.__qualname__"),
    ("FunctionKernel._failed", "type(problem).__name__"),
    ("Contrast.__repr__", "type(self).__name__"),
    ("Elsewhere.__call__", "type(problem).__name__"),
    ("HypothesisTest.__repr__", "type(self).__name__"),
    ("HttpsCarrier.carry", "type(problem).__name__"),
    ("Sender.send", "type(wrong).__name__"),
    ("Service.is_busy", "type(problem).__name__"),
    ("Session.__repr__", "type(self._trust).__name__"),
    ("Estimate.__repr__", "type(self).__name__"),
    ("BasePlan.__repr__", "type(self).__name__"),
    ("Simulation.__repr__", "self.model.__name__"),
    ("_check_curves", "type(curve).__name__"),
    ("codecs_of", "kind.__name__"),
    ("view_class", "each.__module__"),
    ("view_class", "each.__name__"),
    ("_kind", "type(problem).__name__"),
    ("_kind", "type(value).__name__"),
    ("_kept", "function.__module__"),
    ("_kept", "function.__qualname__"),
    ("_mode", "type(aggregator).__name__"),
    ("_naming_what_is_needed.checked", "type(self).__name__"),
    ("_one_line", "type(problem).__name__"),
    ("one_line", "type(problem).__module__"),
    ("_reason", "type(problem).__name__"),
    ("_shares", "type(weights).__name__"),
    ("_wrong_value", "'__name__'"),
    ("chapter_of", "kind.estimate.__name__"),
    ("chapter_of", "type(estimate).__name__"),
    ("do_tasks", "type(fault).__name__"),
    ("main", "type(fault).__name__"),
    ("quoted", "type(value).__name__"),
}
"""Messages: nothing is stored of them. What is raised at once is not listed."""

READ_FOR_FILES = {
    # a function that a user wrote is called as its user calls it
    ("measure_of", "'__name__'"),
    # so is a user's learner; that of a learner of ogive is held by the files of teachers, with its module
    ("terms_of", "'__qualname__'"),
    ("terms_of", "type(learner).__qualname__"),
    # the folder in which what people see is looked for, and `stored`
    ("room", "of.__module__"),
    # a class of planning belongs to the module that defines it
    ("Kind.prediction", "module.__name__"),
    ("Kind.prediction", "own.__module__"),
    # field names, frozen below
    ("LabelsPlanRow.to_dict", "asdict(self)"),
    ("PlanRow.to_dict", "dataclasses.asdict(self.traffic)"),
    ("PrivacyCost.to_dict", "asdict(self)"),
    ("Progress.to_bytes", "asdict(self)"),
    ("SanitizedCost.to_dict", "asdict(self)"),
    ("open_folder", "asdict(terms)"),
    # the order of fields, whose names stand beside them in the file
    ("Collection.to_bytes", "astuple(self.counts)"),
    ("Collection.merge", "astuple(self.counts + other.counts)"),
    ("Counts.__add__", "astuple(other)"),
    ("Counts.__add__", "astuple(self)"),
}
"""Files and digests: whatever is added here is frozen by a constant, or by a list below, first."""


def reads(tree):
    """(enclosing definitions, expression) wherever a name or the fields of a class are read, but to raise an error."""

    def walk(node, where, raised):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            where = (*where, node.name)
        called = node.func if isinstance(node, ast.Call) else None
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
        asks = isinstance(node, ast.Attribute) and node.attr in NAMES
        asks = asks or (isinstance(node, ast.Constant) and node.value in NAMES) or name in ("asdict", "astuple")
        raised = raised or isinstance(node, ast.Raise)
        if asks and not raised:
            yield ".".join(where), ast.unparse(node)
        for within in ast.iter_child_nodes(node):
            yield from walk(within, where, raised)

    return set(walk(tree, (), False))


def test_names_of_classes_are_read_where_they_are_listed_and_nowhere_else():
    paths = [path for root in (ROOT, Path(ogive_papers.__file__).parent) for path in sorted(root.rglob("*.py"))]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    asking = [text for text in texts if any(name in text for name in (*NAMES, "asdict", "astuple"))]
    found = set().union(*(reads(ast.parse(text)) for text in asking))
    assert found - READ_FOR_PEOPLE - READ_FOR_FILES == set(), "freeze it by a constant; list what people alone are told"
    assert found == READ_FOR_PEOPLE | READ_FOR_FILES


def test_the_walk_sees_a_name_in_a_digest_and_not_one_in_an_error():
    text = "class A:\n def to_dict(self):\n  return type(self).__name__\n def f(self):\n  raise E(self.__name__)\n"
    assert reads(ast.parse(text)) == {("A.to_dict", "type(self).__name__")}
    assert reads(ast.parse("x = dataclasses.asdict(y)\n")) == {("", "dataclasses.asdict(y)")}


# --- names of fields are written in questions and files

DESCRIBED = {
    "describe": "columns guessed left_out bounds values numbers by groups missing weights public_groups "
    "confidence_level",
    "bounds": "column base smallest largest false_alarm confidence_level missing",
    "boxplot": "column bounds by groups bins grid method curve public_groups shares beyond missing expected_records",
    "calibration": "probability label groups positive negative bins method split form constants bits floor df missing "
    "confidence_level",
    "concordance": "score time event bounds bins grid score_bounds score_bins score_grid predicts ties observed "
    "censored method missing confidence_level other",
    "count": "column among missing confidence_level",
    "ecdf": "column bounds bins grid method smooth missing expected_records",
    "group_auc": "score label group bounds bins grid group_values positive negative positive_when other missing_group "
    "missing outside confidence_level",
    "groups": "statistic by groups public",
    "crosstab": "row column rows columns other missing confidence_level",
    "histogram": "column values other missing confidence_level",
    "labels": "aggregator ballots max_answers probabilities",
    "mean": "column bounds step missing confidence_level",
    "proportion": "column positive missing confidence_level",
    "quantiles": "column probabilities bounds bins grid method missing confidence_level expected_records",
    "survival": "time event bounds bins grid causes censored method missing confidence_level",
    "roc": "score label bounds bins grid positive negative positive_when public_labels budget method smooth missing "
    "outside confidence_level",
    "sum": "column bounds step missing confidence_level",
    "validation": "score label other bins positive negative method missing outside confidence_level",
    "ustatistic": "columns kernel bounds bins grid categories positive negative public_labels method matrix rounding "
    "missing outside confidence_level expected_records",
}
METHODS = {
    "adaptive": "rounds accounting noise",
    "hierarchy": "variant a prune split composition branching nodes",
    "histogram": "groups accounting noise",
    "paired": "rounds design noise bits",
    "projection": "basis degree noise constants",
    "reports": "branching nodes split seed",
    "selected": "share",
    "confident": "threshold sigma_1 sigma_2",
    "gnmax": "sigma",
    "interactive": "threshold sigma_1 sigma_2 confidence",
    "lnmax": "scale",
    "margins": "sigma keep",
}
TERMS = {"secagg": "parties colluding dropouts wanted", "servers": "servers verified"}
FILES = {
    LabelsPlan: "delta queries teachers classes known rows",
    LabelsPlanRow: "epsilon aggregator parameters asked max_answers answered right joint corrected",
    ogive.Plan: "statistic records unit trust rows left_out basis runs",
    PrivacyCost: "epsilon delta mode rule order noise queries answers publishable statement orders rdp",
    Progress: "state query attempt stage members reason failed",
    SanitizedCost: "rdp log_sensitivity delta order smoothness scale form method reason aggregator queries teachers "
    "classes answered max_answers independent_epsilon",
    Terms: "teachers classes learner digest",
    Traffic: "upload bytes_per_party bytes_per_server seconds bytes_to_party",
}
ADDED_LATER = "declare what came later by ogive.core.checks.added, so that stored questions stay what they are"


def first_fields(kind):
    """Names of the fields that a class had when the first of its descriptions was stored."""
    return [field.name for field in dataclasses.fields(kind) if not is_added(field)]


def kinds_by_name():
    """Every class whose fields `describe` writes."""
    methods = [type(curve_method) for curve_method in CURVE_METHODS.values()]
    methods += [ogive.HierarchyAuc, ogive.Paired, *aggregators.Aggregator.__args__]
    agreed = {trust.name: trust.options.terms for _, trust, _, _ in all_cases().values()}
    terms = {name: type(each) for name, each in agreed.items() if each is not None}
    yield {kind.name: kind for kind in STATISTICS}, DESCRIBED
    yield {kind.name: kind for kind in methods}, METHODS
    yield terms, TERMS


def test_fields_of_questions_are_those_of_the_first_or_came_later_by_a_mark():
    for kinds, listed in kinds_by_name():
        assert kinds.keys() - {kind.name for kind in UNKEPT} == listed.keys()
        for name, first in listed.items():
            assert first_fields(kinds[name]) == first.split(), ADDED_LATER


@pytest.mark.parametrize("kind", FILES, ids=lambda kind: kind.__name__)
def test_fields_of_files_are_those_that_were_written(kind):
    assert [field.name for field in dataclasses.fields(kind)] == FILES[kind].split()


def test_what_uploads_bind_is_in_one_order():
    from ogive.trust.servers.uploads import Uploads

    uploads = Uploads(3, "tables", verified=True, verifications=16, tolerated=0.25, organizations=True)
    assert repr(uploads.digested) == "(3, 'tables', True, 16, 0.25, True)"
    fewer = dataclasses.replace(uploads, colluding=1)
    assert repr(fewer.digested) == repr(dataclasses.astuple(fewer)) == "(3, 'tables', True, 16, 0.25, True, 1)"
