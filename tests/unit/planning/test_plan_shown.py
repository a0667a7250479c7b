"""Plans as JSON of a published schema, and as pictures."""

import copy
import dataclasses
import json
import pickle
from functools import cache
from importlib.resources import files

import jsonschema
import pytest
from helpers.scope import is_everything

import ogive
from ogive.errors import DataError, OgiveError, ParameterError
from ogive.pate import GNMax
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.queries import Ballots
from ogive.statistics import Ecdf, Labels, Quantiles, Roc
from ogive.statistics.methods.choose import CURVE_METHODS

pytestmark = pytest.mark.usefixtures("fewer_shapes")

SCHEMA = json.loads((files("ogive") / "schemas" / "plan-1.schema.json").read_text())
ECDF = Ecdf("x", (0, 100), bins=8)


PLANS = {
    "ladder": (ECDF, {}),
    "approximate": (ECDF, {"privacy": ApproxDP(1, "1e-6"), "adjacency": Adjacency.ADD_OR_REMOVE}),
    "quantiles": (Quantiles("x", bounds=(0, 100), bins=8), {"privacy": ZeroConcentratedDP(1)}),
    "roc": (Roc("s", "y", bounds=(0, 1), bins=8), {"privacy": PureDP(1), "runs": 3}),
    "like": (ECDF, {"privacy": PureDP(1), "like": {"x": [1.0, 50.0]}, "runs": 3}),
}


@cache
def planned(name):
    """One of these plans, made once."""
    statistic, arguments = PLANS[name]
    return ogive.plan(statistic, records=1000, **arguments)


@pytest.mark.parametrize("name", PLANS)
def test_json_follows_the_published_schema(name, tmp_path):
    plan = planned(name)
    jsonschema.validate(plan.to_dict(), SCHEMA)
    path = tmp_path / "plan.json"
    assert json.loads(plan.to_json(path)) == json.loads(path.read_text()) == plan.to_dict()
    assert ogive.Plan.from_json(path) == ogive.Plan.from_json(path.read_text()) == plan
    assert str(ogive.Plan.from_dict(plan.to_dict())) == str(plan)


def test_the_schema_refuses_what_is_no_plan():
    plan = planned("ladder").to_dict()
    for damage in ({"records": 0}, {"schema": "ogive.plan/2"}, {"rows": []}, {"extra": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**plan, **damage}, SCHEMA)


def places(data, path=()):
    """Paths of all values inside plain data."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def test_a_damaged_plan_is_read_or_refused_in_one_short_line():
    whole = ogive.plan(ECDF, privacy=ApproxDP(1, "1e-6"), records=1000).to_dict()
    assert [left["method"] for left in whole["left_out"]] == ["reports"]
    whole["rows"] = [row for number, row in enumerate(whole["rows"]) if number < 2 or row["chosen"]]
    whole["left_out"] = [{"method": "a", "privacy": whole["rows"][0]["privacy"], "reason": "b"}]
    assert ogive.Plan.from_dict(whole).to_dict() == whole
    refused = []
    for path in places(whole):
        for damage in (None, -1, True, "x" * 5000, [], {}, [[]], {"type": "y"}, 1e400):
            data = copy.deepcopy(whole)
            place = data
            for key in path[:-1]:
                place = place[key]
            if path:
                place[path[-1]] = damage
            else:
                data = damage
            try:
                read = ogive.Plan.from_dict(data)
            except OgiveError as problem:
                refused.append(str(problem))
            else:
                assert ogive.Plan.from_json(read.to_json()) == read
    assert len(refused) > 300
    assert not [line for line in refused if "\n" in line or len(line) > 300]


def test_no_plan_is_read_from_something_else():
    with pytest.raises(DataError, match=r"expected a JSON object of schema ogive\.plan/1, got schema 'ogive.curve/1'"):
        ogive.Plan.from_json('{"schema": "ogive.curve/1"}')
    with pytest.raises(DataError, match="a plan lacks the field 'statistic'"):
        ogive.Plan.from_dict({"schema": "ogive.plan/1"})


def test_a_picture_has_a_line_for_each_method_on_logarithmic_axes():
    axes = planned("ladder").plot()
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    lines = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
    assert set(lines) == {"path", "tree_ls", "hat_ls", *CURVE_METHODS} - {"reports"}
    for name, points in lines.items():
        assert points[:, 0].tolist() == [0.1, 0.2, 0.5, 1, 2, 5]
        assert (points[1:, 1] < points[:-1, 1]).all() or name in CURVE_METHODS
        assert points[0, 1] > points[-1, 1]
    assert axes.get_xlabel() == "epsilon"


def test_a_picture_shows_the_error_that_is_asked_for():
    grants = [ZeroConcentratedDP("0.1"), ZeroConcentratedDP(1)][0 if is_everything() else 1 :]
    plan = ogive.plan(ECDF, privacy=grants, records=1000)
    axes = plan.plot(error="rmse")
    drawn = {line.get_label(): line.get_ydata()[-1] for line in axes.get_lines()}
    assert drawn == {row.method: row.rmse for row in plan.rows if row.privacy == ZeroConcentratedDP(1)}
    assert axes.get_xlabel() == "rho"
    with pytest.raises(ParameterError, match="error must be one of"):
        plan.plot(error="auc")
    with pytest.raises(ParameterError, match="one type"):
        dataclasses.replace(plan, rows=(*plan.rows, *planned("approximate").rows)).plot()


def test_a_plan_can_be_read_by_people():
    text = str(planned("roc"))
    assert "plan for roc of s: 1,000 records" in text
    assert "an assumed model: binormal scores, 30 % positives, AUC 0.8" in text
    assert "hat_ls, split" in text


@pytest.mark.parametrize("method", ["resample", "five_numbers"])
def test_a_plan_of_boxes_says_nothing_of_classes(method):
    boxes = ogive.Boxplot("x", (20, 200), bins=32, by="g", groups=("a", "b"), method=method)
    text = str(ogive.plan(boxes, privacy=PureDP(1), records=1000, runs=2))
    assert "an assumed model: values over the whole range, equal groups" in text
    assert "AUC" not in text
    assert "give like= for other data" in " ".join(text.split())


def test_a_plan_of_labels_asks_for_no_votes_but_public_ones():
    labels = Labels(GNMax(40), Ballots(("a", "b"), classes=3))
    text = str(ogive.plan(labels, privacy=ApproxDP(2, "1e-5"), records=250, runs=2))
    assert "give like= for other votes that are public" in " ".join(text.split())


def test_bisected_quantiles_are_planned_beside_all_others():
    bisected = Quantiles("x", (0.5,), bounds=(20, 200), bins=32, method="bisection")
    plan = ogive.plan(bisected, privacy=PureDP(1), records=1000, runs=2)
    assert {"bisection", "tree_ls"} <= {row.method for row in plan.rows}
    assert not any("by hand" in row.method for row in plan.rows)


def test_a_plan_goes_to_other_processes_and_into_caches():
    made = ogive.plan(ogive.Ecdf("x", bounds=(0, 1), bins=16), records=500, privacy=ogive.PureDP(1))
    for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert again == made
        assert str(again) == str(made)
        with pytest.raises(TypeError):
            again.chosen.errors["ks"] = 0.0
