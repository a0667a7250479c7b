"""Every kind of statistic has the rooms of the plan, and says what the list says of it."""

import dataclasses
import inspect
import json
import re
from pathlib import Path

import pytest
from helpers.examples import UNKEPT
from helpers.schemas import published as schemas

import ogive
from ogive.cli.release import release_command
from ogive.statistics.base import Estimate, view_class
from ogive.statistics.kinds import KINDS, SCHEMAS, Kind, prediction_of
from ogive.statistics.plain_json import json_schema
from ogive.statistics.prediction import Prediction

PACKAGE = Path(ogive.__file__).parent
ROOMS = ("statistic", "estimate")
# an ECDF is a curve, which other statistics release too
ELSEWHERE = {"ecdf": "curve"}


def missing(kind):
    """Rooms that a kind lacks, in its own folder or in that of its estimate."""
    home = PACKAGE / "statistics"
    folders = (home / kind.folder, home / ELSEWHERE.get(kind.name, kind.folder))
    return [room for room in ROOMS if not any((folder / f"{room}.py").is_file() for folder in folders)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_has_its_rooms_and_its_classes(kind):
    assert missing(kind) == []
    assert getattr(kind.statistic, "name", None) == kind.name
    assert issubclass(kind.estimate, Estimate)
    assert kind.estimate.schema == kind.schema
    assert kind.estimate.__module__ == f"ogive.statistics.{kind.estimate_path.partition(':')[0]}"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_owners_are_asked_where_the_command_says_with_which_options(kind):
    assert kind.owners == (kind.command_options.owners is not None)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_says_how_it_is_planned(kind):
    assert issubclass(kind.prediction, Prediction)
    place = kind.prediction.__module__.removeprefix(f"ogive.statistics.{kind.folder}.")
    own = (PACKAGE / "statistics" / kind.folder / "plan.py").is_file()
    assert place == "plan" if own else place in ("statistic", "estimate", Prediction.__module__)
    assert set(kind.prediction.deciding) <= kind.prediction.metrics.keys()
    assert prediction_of(kind.name) is kind.prediction
    assert prediction_of("a statistic of one's own") is Prediction


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.summary], ids=lambda kind: kind.name)
def test_a_kind_is_compared_on_the_command_line_where_its_estimates_have_a_number(kind):
    fields = {field.name for field in dataclasses.fields(kind.statistic)}
    has = view_class(kind.estimate).compares
    assert (kind.command_options.compared is not None) == (has and "by" not in fields)
    options = set(inspect.signature(release_command(kind)).parameters)
    assert ("compared" in options) == has


def test_a_kind_is_planned_beside_its_question_where_that_says_how():
    named = {kind.name: kind.prediction.__name__ for kind in KINDS if kind.prediction.__module__.endswith(".statistic")}
    questions = {kind.name: kind.question for kind in KINDS}
    assert named == {name: f"{questions[name]}Prediction" for name in ("quantiles", "boxplot", "bounds", "histogram")}


def test_a_kind_without_a_plan_of_its_own_is_simulated():
    simulated = Kind("methods", "curve", "Methods", "curve.estimate:Curve", "ogive.methods/1").prediction
    assert simulated is Prediction
    assert sum(kind.prediction is simulated for kind in KINDS) < len(KINDS)  # the control: some have their own


def test_a_kind_without_its_rooms_is_noticed():
    """The control."""
    assert missing(Kind("none", "none", "None", "none:None", "ogive.none/1")) == list(ROOMS)
    assert missing(Kind("methods", "methods", "Methods", "methods:M", "ogive.methods/1")) == list(ROOMS)


def test_each_schema_is_of_one_kind_and_published():
    assert len(SCHEMAS) == len(KINDS)
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in (PACKAGE / "schemas").glob("*.json")]
    published = {document["properties"].get("schema", {}).get("const") for document in documents}
    assert SCHEMAS.keys() - {kind.schema for kind in UNKEPT} <= published
    folders = {path.parent.name for path in (PACKAGE / "statistics").glob("*/statistic.py")}
    assert folders == {kind.folder for kind in KINDS}


def test_a_released_statistic_is_kept():
    """What `UNKEPT` leaves out of the lists of kept questions, documents, fields and schemas has not been released."""
    changelog = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (.*)$", changelog, re.MULTILINE)
    assert newest is not None
    assert not UNKEPT or newest[1].startswith("Unreleased"), "keep a question, a document and the fields of each"


DERIVED = [
    kind for kind in KINDS if kind.name not in {each.name for each in UNKEPT} and "_read" not in vars(kind.estimate)
]


@pytest.mark.parametrize("kind", DERIVED, ids=lambda kind: kind.name)
def test_the_derived_schema_has_the_fields_of_the_published_one(kind):
    """Of estimates that their codecs write; what a field may hold says the published one more closely."""
    derived = json_schema(kind.estimate)
    const = {"const": kind.schema}
    (published,) = (each for each in schemas().values() if each["properties"].get("schema") == const)
    assert derived["properties"].keys() == published["properties"].keys()
    assert set(derived["required"]) == set(published["required"])


def test_estimates_that_codecs_write_are_several():
    """The control of the list above."""
    assert {"count", "mean", "histogram", "crosstab", "group_auc"} <= {kind.name for kind in DERIVED}
