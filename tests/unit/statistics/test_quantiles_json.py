import copy
import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
import referencing
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st

import ogive
from ogive.errors import DataError, ParameterError
from ogive.noise import KeyedSource
from ogive.privacy import PureDP
from ogive.statistics.kinds import read_estimate
from ogive.statistics.quantiles.estimate import QuantileEstimates

SCHEMAS = [
    json.loads((files("ogive") / "schemas" / name).read_text())
    for name in ("quantiles-1.schema.json", "curve-1.schema.json")
]
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMAS[0],
    registry=referencing.Registry().with_resources(
        (schema["$id"], referencing.Resource.from_contents(schema)) for schema in SCHEMAS
    ),
)
RNG = np.random.default_rng(3)
NUMBERS = RNG.gamma(3.0, 10.0, size=500)
DAYS = np.datetime64("2020-01-01") + RNG.integers(0, 300, 500)
MOMENTS = np.datetime64("2020-01-01T00:00:00.123457") + RNG.integers(0, 10**9, 500).astype("timedelta64[us]")
GRIDS = {
    "linear": (NUMBERS, ogive.Grid.linear(0, 110, bins=13)),
    "geometric": (NUMBERS, ogive.Grid.geometric(0.1, 1000, bins=32)),
    "whole numbers": (NUMBERS.round(), ogive.Grid.integers(0, 200)),
    "explicit": (NUMBERS, ogive.Grid.explicit([1, 2.5, 7, 70], low=-3)),
    "days": (DAYS, ogive.Grid.integers("2020-01-01", "2020-12-01")),
    # thresholds between midnights: their dates are rounded, and several have the same
    "parts of days": (DAYS, ogive.Grid.linear("2020-01-01", "2020-12-01", bins=1000)),
    "moments": (MOMENTS, ogive.Grid.linear("2020-01-01T00:00", "2020-01-01T00:16:41", bins=37)),
}


def released(name, method, adjacency=ogive.Adjacency.REPLACE):
    values, grid = GRIDS[name]
    return ogive.release(
        ogive.Quantiles("x", (0, 0.25, 0.5, 1), grid=grid, method=method, confidence_level=0.9),
        trust=ogive.Central({"x": values}),
        privacy=ogive.PureDP("1/3"),
        adjacency=adjacency,
        source=KeyedSource(bytes(32)),
    )


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", ogive.Adjacency)
@pytest.mark.parametrize("method", ["tree_ls", "bisection"])
@pytest.mark.parametrize("name", GRIDS)
def test_json_gives_the_same_quantiles_back_and_follows_the_schema(name, method, adjacency):
    estimates = released(name, method, adjacency)
    data = json.loads(estimates.to_json())
    VALIDATOR.validate(data)
    again = QuantileEstimates.from_dict(data)
    assert again == estimates
    assert read_estimate(data) == estimates
    assert again.to_json() == estimates.to_json()
    assert (again.curve is None) == (method == "bisection")
    assert again.values == estimates.values


def test_quantiles_without_a_release_keep_that_they_have_none():
    bare = QuantileEstimates("x", ogive.Grid.linear(0, 1, bins=4), (0.5,), (0.5,), (0.25,), (0.75,))
    assert QuantileEstimates.from_dict(json.loads(bare.to_json())) == bare


PLAIN = json.loads(released("linear", "tree_ls").to_json())
OTHER = json.loads(released("geometric", "tree_ls").to_json())
ROW = PLAIN["quantiles"][1]


def changed(**changes):
    return {**PLAIN, **changes}


def with_row(**changes):
    return changed(quantiles=[{**ROW, **changes}])


FAR = changed(
    grid={"kind": "linear", "low": 0.0, "high": 1e12, "bins": 8, "unit": "date"},
    quantiles=[{"probability": 0.5, "value": "x", "low": "x", "high": "x", "numbers": [1e12, 0, 1e12]}],
    curve=None,
)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "not quantiles"),
        ([], "not quantiles"),
        (changed(schema="ogive.quantiles/2"), "not quantiles"),
        ({name: value for name, value in PLAIN.items() if name != "curve"}, "lack the field 'curve'"),
        (changed(column=7), "'column'"),
        (changed(column="x" * 5000), "'column'"),
        (changed(confidence_level=1), "confidence level"),
        (changed(confidence_level="0.9"), "confidence level"),
        (changed(confidence_level=float("nan")), "confidence level"),
        (changed(quantiles=[]), "at least one"),
        (changed(quantiles={}), "at least one"),
        (changed(quantiles=[1]), "each quantile must have"),
        (changed(grid=None), "grid"),
        (changed(grid={**PLAIN["grid"], "bins": 1 << 40}), "bins"),
        (changed(curve=OTHER["curve"]), "another column, grid or release"),
        (changed(curve={**PLAIN["curve"], "column": "y"}), "another column, grid or release"),
        (
            changed(curve={**PLAIN["curve"], "grid": {**PLAIN["grid"], "high": 111.0}}),
            "another column, grid or release",
        ),
        (changed(curve={**PLAIN["curve"], "provenance": None}), "another column, grid or release"),
        (changed(curve=7), "not a curve"),
        (changed(provenance=None), "another column, grid or release"),
        (changed(provenance=[]), "must be an object"),
        (with_row(probability="0.5"), "probability"),
        (with_row(probability=1.5), "probability"),
        (with_row(probability=True), "probability"),
        (with_row(probability=10**400), "probability"),
        (with_row(value="2020-01-01"), "contradicts itself"),
        (with_row(value=ROW["value"] + 1), "contradicts itself"),
        (with_row(numbers=[1, 2]), "numbers of a quantile"),
        (with_row(numbers=[float("inf")] * 3), "numbers of a quantile"),
        (with_row(numbers=[1e9, 0, 1e9], value=1e9, low=0.0, high=1e9), "bounds of the grid"),
        (FAR, "no calendar has"),
        (with_row(numbers=[5, 9, 1], value=5.0, low=9.0, high=1.0), "low before high"),
    ],
)
def test_broken_quantiles_are_refused_in_one_line(data, words):
    with pytest.raises((DataError, ParameterError), match=words) as caught:
        QuantileEstimates.from_dict(data)
    assert "\n" not in str(caught.value)


plain_data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["1/3", "1e9999999", "linear", "2020-01-01", 10**400, -1, 8, "date", 0.5]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=6,
)


def places(data, path=()):
    """Paths of all values inside plain data, but for the curve, whose own tests do the same."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        if key != "curve":
            yield from places(value, (*path, key))


@pytest.fixture(scope="module")
def dates():
    """Dates that are rounded, before hypothesis takes the time of drawing places in them."""
    return json.loads(released("parts of days", "bisection").to_json())


@settings(max_examples=size(300, part=50), deadline=None)
@given(st.data(), plain_data)
def test_any_value_in_any_place_gives_valid_quantiles_or_a_refusal(dates, drawn, value):
    place = drawn.draw(st.sampled_from([(data, path) for data in (PLAIN, dates) for path in places(data)]))
    data, path = copy.deepcopy(place[0]), place[1]
    if path:
        target = data
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = value
    else:
        data = value
    try:
        estimates = read_estimate(data)
    except (DataError, ParameterError):
        return
    assert read_estimate(json.loads(estimates.to_json())) == estimates


def test_quantiles_are_read_back_from_json_and_from_a_file(tmp_path):
    found = ogive.quantiles(np.linspace(0, 1, 500), (0.25, 0.5), bounds=(0, 1), bins=16, privacy=PureDP(1))
    path = tmp_path / "quantiles.json"
    assert QuantileEstimates.from_json(found.to_json(path)) == QuantileEstimates.from_json(path) == found
    assert path.read_text() == found.to_json() + "\n"
