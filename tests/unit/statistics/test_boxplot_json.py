import copy
import json
from functools import cache
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
import referencing
from helpers.declared import public_of
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st

import ogive
from ogive.errors import DataError, ParameterError
from ogive.noise import KeyedSource
from ogive.statistics.kinds import read_estimate

SCHEMAS = [
    json.loads((files("ogive") / "schemas" / name).read_text())
    for name in ("boxplot-1.schema.json", "curve-1.schema.json")
]
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMAS[0],
    registry=referencing.Registry().with_resources(
        (schema["$id"], referencing.Resource.from_contents(schema)) for schema in SCHEMAS
    ),
)
RNG = np.random.default_rng(3)
TABLE = {
    "x": RNG.gamma(3.0, 10.0, size=900),
    "day": np.datetime64("2020-01-01") + RNG.integers(0, 300, 900),
    "g": RNG.choice(["a", "b"], 900),
    "n": RNG.integers(0, 2, 900),
}
QUESTIONS = {
    "one": ogive.Boxplot("x", (0, 120), bins=32),
    "groups": ogive.Boxplot("x", (0, 120), bins=32, by="g", groups=("a", "b")),
    "public": ogive.Boxplot("x", (0, 120), bins=32, by="g", groups=("a", "b"), public_groups=True),
    "numbers": ogive.Boxplot("x", (0, 120), bins=32, by="n", groups=(0, 1), method="five_numbers"),
    "geometric": ogive.Boxplot("x", (0.1, 200), bins=16, grid="geometric", curve="tree_ls"),
    "days": ogive.Boxplot("day", ("2020-01-01", "2020-12-01"), grid="integers", method="five_numbers"),
    "parts of days": ogive.Boxplot("day", ("2020-01-01", "2020-12-01"), bins=500),
}


def released(name, adjacency=ogive.Adjacency.REPLACE, trust=ogive.Central):
    privacy = None if trust is ogive.Clear else ogive.ApproxDP(1, "1e-6")
    return ogive.release(
        QUESTIONS[name],
        trust=trust(TABLE),
        privacy=privacy,
        adjacency=adjacency,
        public=public_of(QUESTIONS[name], adjacency),
        source=KeyedSource(bytes(32)),
    )


@pytest.mark.parametrize("trust", [ogive.Clear, ogive.Local])
def test_a_group_without_records_has_no_five_numbers_for_people(trust):
    table = {"x": np.full(400, 100.0), "g": np.repeat("a", 400)}
    boxes = ogive.release(
        QUESTIONS["public"],
        trust=trust(table),
        privacy=None if trust is ogive.Clear else ogive.PureDP(4),
        public="g",
        source=KeyedSource(bytes(32)),
    )
    text = boxes.to_json()
    full, empty = json.loads(text)["boxes"]
    assert (full["records"], empty["records"]) == (400, 0)
    assert full["values"]["median"] == pytest.approx(100, abs=8)
    assert empty["values"] == dict.fromkeys(("low", "q1", "median", "q3", "high"))
    VALIDATOR.validate(json.loads(text))
    assert ogive.Boxplots.from_json(text) == boxes
    told = json.loads(text)
    told["boxes"][1]["values"] = told["boxes"][0]["values"]
    with pytest.raises(DataError, match="its values must be those of its numbers"):
        ogive.Boxplots.from_dict(told)


@pytest.mark.each_value
@pytest.mark.parametrize("trust", [ogive.Central, ogive.Clear])
@pytest.mark.parametrize("adjacency", ogive.Adjacency)
@pytest.mark.parametrize("name", QUESTIONS)
def test_json_gives_the_same_boxes_back_and_follows_the_schema(name, adjacency, trust, tmp_path):
    boxes = released(name, adjacency, trust)
    text = boxes.to_json(tmp_path / "boxes.json")
    VALIDATOR.validate(json.loads(text))
    assert ogive.Boxplots.from_json(text) == boxes
    assert ogive.Boxplots.from_json(tmp_path / "boxes.json") == boxes
    assert read_estimate(json.loads(text)) == boxes


@cache
def stored(name):
    """Boxes as plain data; who changes them copies them first."""
    return released(name).to_dict()


LEFT_OUT = object()
"""In place of a value: the field is left out."""


def changed(data, path, value):
    data = copy.deepcopy(data)
    place = data
    for step in path[:-1]:
        place = place[step]
    if value is LEFT_OUT:
        del place[path[-1]]
    else:
        place[path[-1]] = value(stored("groups")) if callable(value) else value
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (("groups", ["schema"], "ogive.boxplot/2"), "expected a JSON object of schema ogive.boxplot/1"),
        (("groups", ["boxes"], LEFT_OUT), "lack the field 'boxes'"),
        (("groups", ["method"], "smith"), "must be one of resample, five_numbers, joint"),
        (("groups", ["by"], 3), "'by' of boxplots must be a short text or null"),
        (("groups", ["by"], None), "must be a list of 1 to 1000 boxes"),
        (("groups", ["boxes"], []), "must be a list of 1 to 1000 boxes"),
        (("groups", ["curves"], []), "a curve for each box"),
        (("groups", ["boxes", 0, "group"], "b"), "of a group of its own"),
        (("groups", ["boxes", 0, "group"], None), "of a group of its own"),
        (("groups", ["boxes", 0, "group"], ["b"]), "group of a box must be"),
        (("groups", ["boxes", 0, "numbers", 2], 119.0), "not decrease"),
        (("groups", ["boxes", 0, "numbers", 4], 500.0), "lie in the bounds"),
        (("groups", ["boxes", 0, "numbers", 4], float("nan")), "must be its low, q1, median, q3 and high"),
        (("groups", ["boxes", 0, "values", "q1"], 1.0), "contradicts itself"),
        (("groups", ["boxes", 0, "below"], -1), "'below' of a box must be a number of records or null"),
        (("groups", ["boxes", 0, "outliers"], [3.0, 2.0]), "outliers of a box must lie in the bounds"),
        (("groups", ["boxes", 0, "outliers"], [2.0] * 101), "at most 100 numbers"),
        (("groups", ["boxes", 0, "records"], -2), "records of a box"),
        (("groups", ["boxes", 0, "flat"], 1), "'flat' of a box must be true or false"),
        (("groups", ["boxes", 0], 1), "each box must have group"),
        (("groups", ["curves", 0], lambda groups: groups["curves"][1]), "a box contradicts its curve"),
        (("groups", ["curves", 0, "column"], "y"), "another column or grid"),
        (("numbers", ["curves"], lambda groups: groups["curves"]), "none where five numbers were found"),
        (("numbers", ["grid", "unit"], "year"), "unit of a grid must be number, date or datetime"),
    ],
)
def test_refuses_boxes_that_contradict_themselves_in_one_line(data, message):
    name, path, value = data
    damaged = changed(stored(name), path, value)
    with pytest.raises((DataError, ParameterError), match=message) as refused:
        ogive.Boxplots.from_dict(damaged)
    assert "\n" not in str(refused.value)


JUNK = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({})


@st.composite
def places(draw):
    """A path of a field, and the name of boxes."""
    groups = stored("groups")
    path = st.sampled_from(
        [[name] for name in groups]
        + [["boxes", 0, name] for name in groups["boxes"][0]]
        + [["boxes", 0, "numbers", k] for k in range(5)]
        + [["curves", 0, name] for name in groups["curves"][0]]
    )
    return draw(path), draw(st.sampled_from(["groups", "numbers"]))


@pytest.fixture(scope="module")
def made():
    """The boxes are there before hypothesis takes the time of drawing from them."""
    return stored("groups"), stored("numbers")


@given(places(), JUNK)
@settings(max_examples=size(300, part=80), deadline=None)
def test_any_plain_data_gives_boxes_or_one_line(made, place, junk):
    path, data = place[0], stored(place[1])
    if path[0] == "curves" and len(path) > 1 and not data["curves"]:
        return
    try:
        read_estimate(changed(data, path, junk))
    except (DataError, ParameterError) as refused:
        assert "\n" not in str(refused)  # noqa: PT017 - most changes are refused, a few are none


def test_boxes_say_truly_whether_their_groups_are_public():
    for name, adjacency in (("one", ogive.Adjacency.REPLACE), ("public", ogive.Adjacency.ADD_OR_REMOVE)):
        data = released(name, adjacency).to_dict()
        assert data["public_groups"] is False
        for value in (True, 1, None):
            with pytest.raises(DataError, match="'public_groups' must be false, or true where there are groups"):
                ogive.Boxplots.from_dict({**data, "public_groups": value})
