import copy
import dataclasses
import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from helpers.curves import PROVENANCE, any_curve, noisy_curve
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.statistics.curve.estimate import Curve
from ogive.strategies import design_hats, design_path, design_square_root, design_tree

SCHEMA = json.loads((files("ogive") / "schemas" / "curve-1.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
CURVE = noisy_curve(np.arange(50.0), Grid.linear(0, 50, bins=8)).with_provenance(PROVENANCE)
PLAIN = json.loads(CURVE.to_json())


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert not VALIDATOR.is_valid({**PLAIN, "schema": "ogive.curve/2"})
    assert not VALIDATOR.is_valid({**PLAIN, "provenance": {**PLAIN["provenance"], "release_id": "xyz"}})


@given(any_curve(), st.booleans())
def test_json_gives_the_same_curve_back_and_follows_the_schema(curve, released):
    if released and curve.private:
        curve = curve.with_provenance(dataclasses.replace(PROVENANCE, adjacency=curve.adjacency))
    text = curve.to_json()
    assert Curve.from_json(text) == curve
    assert Curve.from_json(text.encode()) == curve
    VALIDATOR.validate(json.loads(text))


@pytest.mark.parametrize("privacy", [PureDP("1/3"), ZeroConcentratedDP("0.1")], ids=str)
@pytest.mark.parametrize("design", [design_path, design_tree, design_hats, design_square_root])
def test_every_strategy_survives_and_gives_the_same_band(design, privacy):
    if design is design_square_root and isinstance(privacy, PureDP):
        privacy = ZeroConcentratedDP("1/7")
    strategy = design(16, privacy=privacy, adjacency=Adjacency.REPLACE)
    counts = np.arange(1.0, 17)
    curve = Curve(Grid.integers(1, 16), counts, counts, strategy, Adjacency.REPLACE, 16, "none", "x")
    again = Curve.from_json(curve.to_json())
    assert again == curve
    assert np.array_equal(again.band(simulations=99).low, curve.band(simulations=99).low)
    VALIDATOR.validate(json.loads(curve.to_json()))


def test_files_are_written_and_read(tmp_path):
    path = tmp_path / "curve.json"
    text = CURVE.to_json(path)
    assert path.read_text() == text + "\n"
    assert Curve.from_json(path) == CURVE
    assert [item.name for item in tmp_path.iterdir()] == ["curve.json"]
    with pytest.raises(DataError, match="cannot read"):
        Curve.from_json(Path(tmp_path / "none.json"))


def changed(**changes):
    return json.dumps({**PLAIN, **changes})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ('{"schema": "a", "fields": [{"x": 1, "x": 2}]}', "not JSON: 'x' stands twice in one object"),
        (b"\xff\xfe\x00", "not JSON"),
        ("[]", "not a curve"),
        ('"curve"', "not a curve"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "not JSON"),
        (changed(schema="ogive.curve/2"), "schema ogive.curve/1"),
        (changed(schema=[1]), "schema ogive.curve/1"),
        (json.dumps({name: value for name, value in PLAIN.items() if name != "raw"}), "lacks the field 'raw'"),
        (changed(raw=None), "'raw'"),
        (changed(raw=[1, "2"]), "'raw'"),
        (changed(raw=[True] * 8), "'raw'"),
        (changed(raw=[10**400] * 8), "'raw'"),
        (changed(raw=PLAIN["raw"][:-1]), "bins = 7"),
        (changed(cumulative=[1.0] * 9), "must hold 8 numbers"),
        (changed(cumulative=[2.0] * 7 + [1.0]), "must not decrease"),
        (changed(raw=[1e999] * 8), "Infinity is not a number"),
        (changed().replace('"raw": [', '"raw": [1e999, ', 1), "finite"),
        (changed(total=-1), "'total'"),
        (changed(total=True), "'total'"),
        (changed(total=10**400), "'total'"),
        (changed(column=7), "'column'"),
        (changed(adjacency="swap"), "unknown adjacency"),
        (changed(grid=None), "'grid'"),
        (changed(grid={**PLAIN["grid"], "bins": 1 << 24}), "bins = 8"),
        (changed(grid={**PLAIN["grid"], "high": 10**400}), "finite numbers low and high"),
        (changed(grid={**PLAIN["grid"], "kind": "integers"}), "inconsistent"),
        (changed(grid={**PLAIN["grid"], "kind": ["linear"]}), "unknown kind"),
        (changed(grid={**PLAIN["grid"], "spam": 1}), "contradicts itself"),
        (changed(grid={**PLAIN["grid"], "thresholds": [1, 2]}), "thresholds of the grid"),
        (changed(grid={**PLAIN["grid"], "unit": "date", "high": 1e12}), "no calendar has"),
        (changed(strategy={}), "size = 8"),
        (changed(strategy={**PLAIN["strategy"], "size": 1 << 40}), "size = 8"),
        (changed(strategy={**PLAIN["strategy"], "name": "spam"}), "name must be one of"),
        (
            changed(strategy={**PLAIN["strategy"], "law": {"name": "discrete_laplace", "scale": "1e999999999"}}),
            "too large",
        ),
        (changed(strategy={**PLAIN["strategy"], "law": [[[[[[[[[[1]]]]]]]]]]}), "nested too deeply"),
        (changed(strategy={**PLAIN["strategy"], "law": None}), "not path noise"),
        (changed(provenance=[]), "must be an object"),
        (changed(provenance={**PLAIN["provenance"], "privacy": {"type": "PureDP", "epsilon": "1e99999999"}}), "exact"),
        (changed(provenance={**PLAIN["provenance"], "trust": "clear"}), "clear is not private"),
    ],
)
def test_broken_curves_are_refused_in_one_line(text, words):
    with pytest.raises((DataError, ParameterError), match=words) as caught:
        Curve.from_json(text)
    assert "\n" not in str(caught.value)


plain_data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["1/3", "1e9999999", "linear", "path", "PureDP", 10**400, -1, 8, "date"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=6,
)


def places(data, path=()):
    """Paths of all values inside plain data."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


@settings(max_examples=size(400, part=120), deadline=None)
@given(st.sampled_from(list(places(PLAIN))), plain_data)
def test_any_value_in_any_place_gives_a_valid_curve_or_a_refusal(path, value):
    data = copy.deepcopy(PLAIN)
    if path:
        target = data
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = value
    else:
        data = value
    try:
        curve = Curve.from_json(json.dumps(data))
    except (DataError, ParameterError):
        return
    assert curve.probabilities[-1] == 1
    assert Curve.from_json(curve.to_json()) == curve


@pytest.mark.parametrize("name", ["c.json", "folder/C.JSON"])
def test_the_name_of_a_file_is_told_from_its_text(name):
    with pytest.raises(DataError, match=r"is not JSON; give a file as a Path, such as Path\('c.json'\)"):
        Curve.from_json(name)
