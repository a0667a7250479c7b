"""ROC curves as JSON: exact, described by a schema, and safe to read from strangers."""

import copy
import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
import referencing
from helpers.declared import public_of
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import DataError, ParameterError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.releasing.release import release
from ogive.statistics.kinds import read_estimate
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.roc.statistic import Roc
from ogive.trust import Central, Clear

CURVE, SCHEMA = (
    json.loads((files("ogive") / "schemas" / f"{name}-1.schema.json").read_text()) for name in ("curve", "roc")
)
REGISTRY = referencing.Registry().with_resource(CURVE["$id"], referencing.Resource.from_contents(CURVE))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, registry=REGISTRY)

RNG = np.random.default_rng(5)
TABLE = {"s": RNG.random(300), "y": np.where(RNG.random(300) < 0.4, "ill", "well")}
STATISTIC = Roc("s", "y", (0, 1), bins=8, positive="ill")
ESTIMATE = release(STATISTIC, trust=Central(TABLE), privacy=PureDP(1), source=KeyedSource.from_seed(1))
PLAIN = json.loads(ESTIMATE.to_json())


@pytest.fixture
def few_simulations(monkeypatch):
    """What bands and intervals hold is tested with them."""
    monkeypatch.setattr("ogive.statistics.roc.area.MOST_SIMULATIONS", 499)


@pytest.mark.usefixtures("few_simulations")
@pytest.mark.each_value(fields=str, privacy=str)
@pytest.mark.parametrize("trust", [Central, Clear])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", [PureDP("1/3"), ZeroConcentratedDP("0.1"), ApproxDP(1, "1e-6")], ids=str)
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"public_labels": True, "negative": ("well", "fit")},
        {"budget": "split", "positive_when": "low", "confidence_level": 0.9},
        {"method": "path", "grid": "geometric", "bounds": (0.001, 1), "outside": "clip"},
    ],
    ids=["plain", "public", "split", "path"],
)
def test_json_gives_the_same_estimate_back_and_follows_the_schema(trust, adjacency, privacy, fields):
    statistic = Roc(**{"score": "s", "label": "y", "bounds": (0, 1), "bins": 8, "positive": "ill", **fields})
    estimate = release(
        statistic, trust=trust(TABLE), privacy=privacy, adjacency=adjacency, public=public_of(statistic, adjacency)
    )
    text = estimate.to_json()
    again = RocEstimate.from_json(text)
    assert again == estimate
    assert again.to_json() == text
    assert read_estimate(json.loads(text)) == estimate
    assert again.auc_interval() == estimate.auc_interval()
    assert np.array_equal(again.band().low, estimate.band().low)
    VALIDATOR.validate(json.loads(text))


def test_the_schema_is_a_schema_and_refuses():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    VALIDATOR.validate(PLAIN)
    for change in ({"schema": "ogive.roc/2"}, {"positive_when": "up"}, {"extra": 1}, {"total": -1}, {"negatives": {}}):
        assert not VALIDATOR.is_valid({**PLAIN, **change})
    assert not VALIDATOR.is_valid({**PLAIN, "positives": {**PLAIN["positives"], "provenance": PLAIN["provenance"]}})


def test_files_are_written_and_read(tmp_path):
    path = tmp_path / "roc.json"
    text = ESTIMATE.to_json(path)
    assert path.read_text() == text + "\n"
    assert RocEstimate.from_json(path) == ESTIMATE
    with pytest.raises(DataError, match="cannot read"):
        RocEstimate.from_json(tmp_path / "none.json")


def changed(**fields):
    return {**copy.deepcopy(PLAIN), **fields}


BAD_LABELS = [
    None,
    [],
    {"column": "y", "positive": [1]},
    {"column": 3, "positive": [1], "negative": None},
    {"column": "y", "positive": None, "negative": None},
    {"column": "y", "positive": [], "negative": None},
    {"column": "y", "positive": [[1]], "negative": None},
    {"column": "y", "positive": [1], "negative": [1]},
    {"column": "y", "positive": [1 << 70], "negative": None},
    {"column": "y", "positive": ["x" * 5000], "negative": None},
]


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        changed(schema="ogive.curve/1"),
        *({name: value for name, value in PLAIN.items() if name != left} for left in PLAIN),
        *(changed(label=label) for label in BAD_LABELS),
        changed(positive_when="up"),
        changed(positive_when=3),
        changed(budget="half"),
        changed(budget=None),
        changed(total="300"),
        changed(total=True),
        changed(total=-1),
        changed(total=1 << 62),
        changed(confidence_level=1),
        changed(confidence_level="0.9"),
        changed(confidence_level=float("nan")),
        changed(negatives=None),
        changed(negatives=PLAIN),
        changed(positives={**PLAIN["positives"], "column": "another"}),
        changed(positives={**PLAIN["positives"], "strategy": None}),
        changed(positives={**PLAIN["positives"], "total": 4}),
        changed(positives={**PLAIN["positives"], "provenance": PLAIN["provenance"]}),
        changed(provenance={}),
    ],
)
def test_damaged_estimates_are_refused_in_one_line(data):
    with pytest.raises((DataError, ParameterError)) as refusal:
        RocEstimate.from_dict(data)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(PLAIN)), st.sampled_from([None, *sorted(PLAIN["negatives"])]), junk)
def test_anything_is_read_or_refused(name, inner, value):
    data = copy.deepcopy(PLAIN)
    if inner is not None and name in ("negatives", "positives"):
        data[name][inner] = value
    else:
        data[name] = value
    try:
        estimate = RocEstimate.from_dict(data)
    except (DataError, ParameterError):
        return
    assert RocEstimate.from_dict(estimate.to_dict()) == estimate
