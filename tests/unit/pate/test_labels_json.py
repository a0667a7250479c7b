"""Stored labels fit their published schema, come back as they were, and are refused where they are damaged."""

import copy
import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
import referencing

from ogive.errors import DataError
from ogive.pate import ConfidentGNMax, GNMax, LargestMargins, LNMax, label
from ogive.privacy import Adjacency, ApproxDP, PureDP
from ogive.statistics.kinds import read_estimate
from ogive.statistics.labels.estimate import LabelsEstimate

SCHEMAS = [
    json.loads((files("ogive") / "schemas" / name).read_text())
    for name in ("labels-1.schema.json", "curve-1.schema.json")
]
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMAS[0],
    registry=referencing.Registry().with_resources(
        (schema["$id"], referencing.Resource.from_contents(schema)) for schema in SCHEMAS
    ),
)
VOTES = np.array([[7, 2, 1], [3, 3, 4], [0, 10, 0]])
EXAMPLES = [
    label(VOTES, LNMax(10)),
    label(VOTES, GNMax("4/3"), target_delta="1e-5"),
    label(VOTES, ConfidentGNMax(5, 2, 3), target_delta="1e-5", max_answers=1),
    label(VOTES, LargestMargins(None, 2), privacy=PureDP(1), adjacency=Adjacency.ADD_OR_REMOVE),
    label(VOTES, LargestMargins(2, 2), privacy=ApproxDP(8, "1e-5")),
]


@pytest.mark.parametrize("estimate", EXAMPLES, ids=lambda each: each.aggregator["name"])
def test_labels_fit_their_schema_and_come_back(estimate, tmp_path):
    data = json.loads(estimate.to_json())
    VALIDATOR.validate(data)
    for again in (read_estimate(data), LabelsEstimate.from_json(estimate.to_json())):
        assert again == estimate
        assert hash(again) == hash(estimate)
        assert str(again) == str(estimate)
    estimate.to_json(tmp_path / "labels.json")
    assert LabelsEstimate.from_json(tmp_path / "labels.json") == estimate
    assert estimate != EXAMPLES[EXAMPLES.index(estimate) - 1]
    assert estimate != 3


def test_the_margins_are_those_of_the_opened_votes():
    found = EXAMPLES[-1]
    assert np.allclose(found.votes, found.opened / 2**found.bits)
    ordered = np.sort(found.votes, axis=1)
    assert np.allclose(found.margins, ordered[:, -1] - ordered[:, -2])
    assert EXAMPLES[0].votes is None
    assert EXAMPLES[0].margins is None
    assert "largest margins" in str(found)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("labels", [0, 1], "3 numbers from -1 to 2"),
        ("labels", [0, 1, 3], "3 numbers from -1 to 2"),
        ("taught", [True, True, 1], "3 truth values"),
        ("asked", 4, "from 0 to 3"),
        ("asked", 1, "labels must be of queries that were asked"),
        ("bits", 31, "from 0 to 30"),
        ("opened", [[1, 2, 3]] * 2, "3 lists of 3 whole numbers"),
        ("opened", [[1, 2]] * 3, "3 lists of 3 whole numbers"),
        ("law", {"law": "polya", "scale": "1", "shape": "1"}, "exact number"),
        ("law", {"law": "geometric", "scale": "1"}, "discrete Laplace or discrete Gaussian"),
        ("law", {"law": "discrete_laplace", "scale": "1e5"}, "exact number"),
        ("aggregator", {"sigma": 1}, "object of a name"),
        ("aggregator", {"name": "x", "sigma": [1]}, "object of a name"),
        ("ballots", {"queries": [1], "classes": 3}, "list of short texts"),
        ("ballots", {"queries": ["a"], "classes": 1}, "at least 2"),
        ("total", -1, "number of records or null"),
    ],
)
def test_damaged_labels_are_refused_in_one_line(name, value, message):
    data = copy.deepcopy(json.loads(EXAMPLES[-1].to_json()))
    data[name] = value
    with pytest.raises(DataError, match=message) as why:
        read_estimate(data)
    assert "\n" not in str(why.value)


def test_a_label_that_teachers_gave_is_a_class():
    data = json.loads(EXAMPLES[0].to_json())
    data["labels"][0] = -1
    with pytest.raises(DataError, match="that teachers gave must be classes"):
        read_estimate(data)


def test_labels_of_one_query_are_said_to_be():
    found = label([[30, 2]], GNMax(40), target_delta="1e-5")
    assert str(found).startswith("labels of 1 query (")
