"""Calibration tests as JSON: exact, described by a schema, and safe to read from strangers."""

import copy
import json
from functools import cache
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
import referencing
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import DataError, ParameterError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.releasing.release import release
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.calibration.statistic import HosmerLemeshow
from ogive.statistics.kinds import read_estimate
from ogive.trust import Central, Clear

CURVE, SCHEMA = (
    json.loads((files("ogive") / "schemas" / f"{name}-1.schema.json").read_text()) for name in ("curve", "calibration")
)
REGISTRY = referencing.Registry().with_resource(CURVE["$id"], referencing.Resource.from_contents(CURVE))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, registry=REGISTRY)

RNG = np.random.default_rng(5)
P = RNG.beta(1, 3, size=400)
TABLE = {"p": P, "y": np.where(RNG.random(400) < P, "ill", "well")}
STATISTIC = HosmerLemeshow("p", "y", bins=16, groups=4, positive="ill", negative=None)
FIELDS = [
    *("schema", "curve", "label", "bounds", "form", "bits", "constants", "expected_noise", "observed_noise", "values"),
    *("total", "p_value", "degrees_of_freedom", "floor", "confidence_level", "provenance", "results"),
]


@cache
def estimate():
    return release(STATISTIC, trust=Central(TABLE), privacy=PureDP(1), source=KeyedSource.from_seed(1))


@cache
def plain():
    """The estimate as plain data; who changes it copies it first."""
    return json.loads(estimate().to_json())


def test_every_field_is_looked_at():
    assert set(FIELDS) == plain().keys()


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    VALIDATOR.validate(plain())
    assert not VALIDATOR.is_valid({**plain(), "schema": "ogive.calibration/2"})
    assert not VALIDATOR.is_valid({**plain(), "values": plain()["values"][:2]})
    assert not VALIDATOR.is_valid({**plain(), "p_value": 1.5})


@pytest.mark.each_value
@pytest.mark.parametrize("trust", [Central, Clear])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(
    "privacy", [PureDP("1/3"), PureDP("1/10000"), ZeroConcentratedDP("0.1"), ApproxDP(1, "1e-6")], ids=str
)
@pytest.mark.parametrize("form", ["counts", "difference"])
def test_json_gives_the_same_estimate_back_and_follows_the_schema(form, privacy, adjacency, trust):
    statistic = HosmerLemeshow("p", "y", bins=16, groups=4, positive="ill", negative=("well", "fine"), form=form)
    found = release(
        statistic, trust=trust(TABLE), privacy=privacy, adjacency=adjacency, source=KeyedSource.from_seed(2)
    )
    text = found.to_json()
    VALIDATOR.validate(json.loads(text))
    again = Calibration.from_json(text)
    assert again == found
    assert hash(again) == hash(found)
    assert again.to_json() == text
    assert read_estimate(json.loads(text)) == found


def test_files_are_written_and_read(tmp_path):
    path = tmp_path / "fit.json"
    text = estimate().to_json(path)
    assert path.read_text() == text + "\n"
    assert Calibration.from_json(path) == estimate()


def test_estimates_that_differ_are_not_equal():
    assert estimate() != "an estimate"
    moved = copy.deepcopy(plain())
    moved["values"][0][0] += 1
    assert Calibration.from_dict(moved) != estimate()
    assert Calibration.from_dict({**plain(), "p_value": None}) != estimate()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"schema": "ogive.curve/1"}, "not a calibration"),
        ({"values": [[1, 2], [3]]}, "lists of 4 whole numbers"),
        ({"values": [[1.5] * 4] * 3}, "lists of 4 whole numbers"),
        ({"bounds": {"kind": "linear", "low": 0, "high": 2, "bins": 4, "unit": "number"}}, "from 0 to 1"),
        ({"bounds": {"kind": "explicit", "low": 0.0, "high": 1.0, "bins": 4, "unit": "number",
                     "thresholds": [0.1, 0.2, 0.3, 1.0]}}, "must be thresholds of the curve"),
        ({"form": "sums"}, "form of a calibration"),
        ({"form": "counts"}, "4 lists"),
        ({"bits": 99}, "bits of a calibration"),
        ({"constants": ["exact"]}, "constants of a calibration"),
        ({"expected_noise": None}, "noise of one kind"),
        ({"expected_noise": {"law": "discrete_laplace", "scale": "1e9"}}, "exact number"),
        ({"expected_noise": {"law": "discrete_laplace", "scale": 3}}, "exact number"),
        ({"expected_noise": None, "observed_noise": None}, "noise or neither"),
        ({"total": -1}, "number of records"),
        ({"p_value": 2}, "between 0 and 1"),
        ({"degrees_of_freedom": 0}, "degrees_of_freedom"),
        ({"floor": 0}, "above 0"),
        ({"confidence_level": 0.999999999}, "at most 0.9999"),
        ({"confidence_level": "high"}, "must be a number"),
        ({"label": {"column": "y", "positive": [], "negative": None}}, "positive must be the values"),
        ({"label": {"column": "y", "positive": [1], "negative": [1]}}, "cannot be in both classes"),
        ({"label": {"column": "y", "positive": [[1]], "negative": None}}, "positive values of a label"),
        ({"label": {"column": 1, "positive": [1], "negative": None}}, "column of a label"),
        ({"label": []}, "must have column"),
        ({"curve": None}, "not a curve"),
    ],
)  # fmt: skip
def test_damaged_fields_are_refused_in_one_line(changed, message):
    with pytest.raises((DataError, ParameterError), match=message) as problem:
        Calibration.from_dict({**plain(), **changed})
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("field", [name for name in FIELDS if name not in ("schema", "results")])
def test_a_missing_field_is_named(field):
    with pytest.raises(DataError, match=field):
        Calibration.from_dict({name: value for name, value in plain().items() if name != field})


def test_results_are_not_believed():
    lied = {**plain(), "results": {"statistic": 0.0}}
    assert Calibration.from_dict(lied) == estimate()


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=size(150, part=50), deadline=None)
@given(st.sampled_from(sorted(FIELDS)), JUNK)
def test_any_field_replaced_by_anything_is_read_or_refused(field, value):
    try:
        found = Calibration.from_dict({**plain(), field: value})
    except (DataError, ParameterError):
        return
    assert Calibration.from_dict(found.to_dict()) == found
