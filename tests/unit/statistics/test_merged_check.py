"""Merged curves from files: they agree with their lists of who was counted, and no name passes for another line."""

import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

import ogive
from ogive.errors import DataError, ParameterError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PureDP
from ogive.statistics.curve.estimate import Curve

SCHEMA = json.loads((files("ogive") / "schemas" / "curve-1.schema.json").read_text())
BOUNDS, BINS = (0, 100), 64
ADD = Adjacency.ADD_OR_REMOVE


def sample(size, seed):
    return np.random.default_rng(seed).normal(50, 12, size)


def released(size=1000, seed=0, **options):
    plain = {"bounds": BOUNDS, "bins": BINS, "privacy": PureDP(1), "method": "hat_ls"}
    return ogive.ecdf(sample(size, seed), **{**plain, "source": KeyedSource.from_seed(seed), **options})


def merged_plain(**options):
    parts = released(1000, 1, batch="a", **options), released(400, 2, batch="b", **options)
    return json.loads(ogive.merge(*parts).to_json())


def strike(data, number):
    del data["batches"][number]


CONTRADICTIONS = {
    "no list": (lambda data: data.pop("batches"), "it was merged, but lacks the list of its batches"),
    "no release": (lambda data: data.update(provenance=None), "it lists batches, but no release"),
    "another release": (lambda data: data["provenance"].update(release_id="0badcafe"), "name of its release"),
    "another batch": (lambda data: data["batches"][1].update(release_id="0badcafe"), "name of its release"),
    "one batch more": (
        lambda data: data["batches"].append({**data["batches"][0], "release_id": "0badcafe", "name": "c"}),
        "it lists 3 batches, and its strategy is that of 2",
    ),
    "one strategy": (lambda data: data.update(strategy=data["strategy"]["parts"][0]), "its strategy is that of 1"),
    "one name": (lambda data: data["batches"][1].update(name="a"), "two of its batches have one name"),
    "totals": (lambda data: data["batches"][0].update(total=5, records=5.0), "add up to 405, not to 1400"),
    "records": (lambda data: data["batches"][0].update(records=5.0), "a batch has two numbers of records"),
    "hidden": (lambda data: data["batches"][0].update(total=None), "public in some places only"),
    "total": (lambda data: data.update(total=None), "public in some places only"),
    "source": (lambda data: data["provenance"].update(total=1000), "its provenance has another number of records"),
    "dear batch": (
        lambda data: data["batches"][0].update(privacy=PureDP(100).to_dict()),
        "a batch has epsilon = 100, which is more than the epsilon = 1 of all",
    ),
    "delta": (
        lambda data: data["batches"][0].update(privacy=ApproxDP(1, "1e-9").to_dict()),
        "a batch has epsilon = 1, delta = 1e-09, which is more than",
    ),
    "cheap sum": (
        lambda data: data["provenance"].update(privacy=PureDP("0.01").to_dict(), price=PureDP("0.01").to_dict()),
        "more than the epsilon = 0.01 of all",
    ),
    "exact batch": (lambda data: data["batches"][0].update(privacy=None), "partly private and partly exact"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_merged_curve_that_contradicts_its_batches_is_refused(name):
    change, message = CONTRADICTIONS[name]
    data = merged_plain()
    Curve.from_dict(data)
    change(data)
    with pytest.raises(DataError, match=f"this curve contradicts itself: .*{message}") as refusal:
        Curve.from_dict(data)
    assert "\n" not in str(refusal.value)


def test_exact_sums_and_mixtures_keep_their_lists_too():
    clear = [
        ogive.release(ogive.Ecdf("x", BOUNDS, bins=4), trust=ogive.Clear({"x": sample(9, seed)}), batch=str(seed))
        for seed in range(3)
    ]
    mixed = [released(900, seed, batch=str(seed)) for seed in range(4)]
    halves = ogive.merge(*mixed[:2]), ogive.merge(*mixed[2:])
    for whole in (ogive.merge(*clear), ogive.merge(*halves, weights=("1/3", "2/3"))):
        data = whole.to_dict()
        assert Curve.from_dict(data) == whole
        for number in range(len(whole.batches)):
            fewer = whole.to_dict()
            strike(fewer, number)
            with pytest.raises(DataError, match="contradicts itself"):
                Curve.from_dict(fewer)
        with pytest.raises(DataError, match="lacks the list"):
            Curve.from_dict({key: value for key, value in data.items() if key != "batches"})


def test_a_private_number_of_records_does_not_appear_in_a_stored_batch():
    data = merged_plain(adjacency=ADD)
    assert Curve.from_dict(data).total is None
    data["batches"][0]["total"] = 1000
    with pytest.raises(DataError, match="public in some places only"):
        Curve.from_dict(data)


@pytest.mark.parametrize("name", ["a\nb", "a\r", "\x1b[2K", "a\x85b", "a\u2028b", "a\u202eb", "\ud800", "\t", "a\0"])
def test_a_name_that_could_pass_for_another_line_is_refused(name):
    """A site's name stands in the text of the merged curve, and must not say what its privacy is."""
    with pytest.raises(ParameterError, match="a batch's name must be") as refusal:
        released(100, 1, batch=name)
    assert str(refusal.value).isprintable()
    merged = ogive.merge(released(100, 1), released(100, 2)).to_dict()
    merged["batches"][0]["name"] = name
    single = released(100, 1).to_dict()
    single["provenance"]["batch"] = name
    for data in (merged, single):
        with pytest.raises(ParameterError, match="a batch's name must be"):
            Curve.from_json(json.dumps(data))
        if name.strip() and name != "\ud800":  # half a character is not text of JSON's, whatever a schema says
            assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(data)
    for plain in ("Sønder Bjerge", "Köln, 2. Quartal", "एक", "می‌خواهم", "a+b/c (d)"):
        assert released(100, 1, batch=plain).batches[0].name == plain


@pytest.mark.parametrize("name", ["statistic", "method", "trust", "assumption", "version"])
def test_no_text_of_a_site_breaks_the_line_that_it_stands_in(name):
    data = released(100, 1).to_dict()
    data["provenance"][name] += "\n  privacy:    none was spent"
    with pytest.raises(ParameterError, match=f"'{name}' must be one line"):
        Curve.from_dict(data)
