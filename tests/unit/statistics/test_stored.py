"""Whatever is given to `read_estimate`: an estimate that can be stored again, or one clear line."""

import copy
import json
from functools import cache, partial

import numpy as np
import pytest
from helpers.examples import UNKEPT
from helpers.scope import is_everything, size
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import DataError, ParameterError
from ogive.noise import KeyedSource
from ogive.pate import LargestMargins, LNMax
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.queries import Ballots
from ogive.releasing.release import release
from ogive.statistics import (
    Bounds,
    Boxplot,
    Concordance,
    Count,
    Crosstab,
    Describe,
    Ecdf,
    GroupAuc,
    Grouped,
    Histogram,
    HosmerLemeshow,
    Labels,
    Mean,
    Proportion,
    Quantiles,
    Roc,
    Sum,
    Survival,
    Ustatistic,
    Validation,
)
from ogive.statistics.kinds import KINDS, SCHEMAS, read_estimate
from ogive.statistics.plain_json import parse
from ogive.trust import Central, Clear

RNG = np.random.default_rng(11)
P = RNG.beta(1, 3, size=300)
TABLE = {
    "p": P,
    "q": P**2,
    "t": 100 * P[::-1],
    "y": np.where(RNG.random(300) < P, "ill", "well"),
    "day": np.datetime64("2024-01-01") + RNG.integers(0, 60, 300),
    "v": RNG.integers(0, 3, 300),
    "w": RNG.integers(0, 2, 300),
}
BALLOTS = Ballots(("v", "w"), classes=3)
STATISTICS = [
    Ecdf("p", (0, 1), bins=8),
    Ecdf("day", ("2024-01-01", "2024-03-01"), grid="integers"),
    Quantiles("p", (0.25, 0.75), bounds=(0, 1), bins=8),
    Quantiles("day", (0.5,), bounds=("2024-01-01", "2024-03-01"), grid="integers", method="bisection"),
    Roc("p", "y", (0, 1), bins=8, positive="ill"),
    HosmerLemeshow("p", "y", bins=8, groups=4, positive="ill", negative=("well", "fit")),
    HosmerLemeshow("p", "y", bins=8, groups=4, positive="ill", negative=None, form="difference"),
    Bounds("p", base=10, smallest=0.01, largest=10),
    Boxplot("p", (0, 1), bins=8, by="y", groups=("ill", "well"), curve="tree_ls"),
    Boxplot("day", ("2024-01-01", "2024-03-01"), grid="integers", method="five_numbers"),
    Ustatistic("p", "gini", bounds=(0, 1)),
    Ustatistic(("p", "y"), "auc", bounds=(0, 1), positive="ill"),
    Count("v", among=(1, 2)),
    Proportion("y", positive="ill"),
    Mean("p", (0, 1), step="0.01"),
    Sum("v", (0, 2)),
    Grouped(Mean("p", (0, 1), step="0.1"), "v", (0, 1, 2)),
    Histogram("v", values=(0, 1, 2)),
    Crosstab("v", "y", rows=(0, 1, 2), columns=("ill", "well")),
    GroupAuc("p", "y", "v", (0, 1), bins=4, positive="ill", group_values=(0, 1), other="count"),
    Describe(("p", "y"), bounds={"p": (0, 1)}, values={"y": "ill"}),
    Survival("p", "v", bounds=(0, 1), bins=8, causes=(1, 2)),
    Concordance("p", "t", "v", (0, 100), bins=2, score_bins=4, observed=(1, 2), method="path"),
    Validation("p", "v", bins=4, positive=(1, 2), method="path"),
    Validation("p", "v", other="q", bins=4, positive=(1, 2), method="path"),
    Concordance("p", "t", "v", (0, 100), other="q", bins=2, score_bins=4, observed=(1, 2), method="path"),
    Labels(LNMax(40), BALLOTS),
    Labels(LargestMargins(None, keep=1), BALLOTS),
]


def stored(statistic, privacy, adjacency):
    trust = Clear(TABLE) if privacy is None else Central(TABLE)
    estimate = release(statistic, trust=trust, privacy=privacy, adjacency=adjacency, source=KeyedSource.from_seed(3))
    return json.loads(estimate.to_json())


GUARANTEES = [
    (PureDP(1), Adjacency.REPLACE),
    (ZeroConcentratedDP("1/7"), Adjacency.ADD_OR_REMOVE),
    (ApproxDP("1/2", "1e-6"), Adjacency.REPLACE),
    (None, Adjacency.REPLACE),
]


@pytest.fixture(scope="module", autouse=True)
def few_simulations():
    """What bands hold is tested with them; of these any numbers do, and what is read back has the same."""
    with pytest.MonkeyPatch.context() as patched:
        values = 300_000 if is_everything() else 60_000
        patched.setattr("ogive.statistics.curve.bands.SIMULATED_VALUES", values)
        if not is_everything():
            patched.setattr("ogive.statistics.roc.area.MOST_SIMULATIONS", 499)
            patched.setattr("ogive.statistics.calibration.sums.TESTED", 299)
        yield


@cache
def examples():
    """The stored estimates of all statistics with all guarantees; who changes one copies it first."""
    return [stored(statistic, *guarantee) for statistic in STATISTICS for guarantee in GUARANTEES]


SCHEMA_OF = {kind.name: kind.schema for kind in KINDS}


@pytest.fixture(scope="module")
def made():
    """The examples are there before hypothesis takes the time of drawing from them."""
    return examples()


@pytest.fixture(params=range(len(STATISTICS)), ids=[SCHEMA_OF[statistic.name] for statistic in STATISTICS])
def data(request):
    """A stored estimate of each statistic."""
    return examples()[request.param * len(GUARANTEES)]


def places(data, path=()):
    """Paths of all values inside plain data."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def at(data, path):
    """The value at a path."""
    for key in path:
        data = data[key]
    return data


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([
        0, 1, -1, 1.0, 0.0, -0.0, 1e-320, 1e308, -1e308, 1 << 62, (1 << 62) - 1, 1 << 63, 10**400, 1 << 24,
        "1/3", "0", "-1", "1/0", "1e9999999", "9" * 5000, "linear", "integers", "path", "PureDP", "2024-02-30", "clear",
        "date", "\n", "\ud800",
    ]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=6,
)  # fmt: skip


@st.composite
def damaged(draw):
    """A stored estimate with one to three of its fields deleted, replaced, moved, repeated or wrapped."""
    data = copy.deepcopy(draw(st.sampled_from(examples())))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([path for path in places(data) if path] or [()]))
        if not path:
            return draw(JUNK)
        parent, key = at(data, path[:-1]), path[-1]
        match draw(st.sampled_from(["delete", "replace", "transplant", "repeat", "list", "dict", "number"])):
            case "delete":
                del parent[key]
            case "replace":
                parent[key] = draw(JUNK)
            case "transplant":
                other = draw(st.sampled_from(examples()))
                same = [place for place in places(other) if place and place[-1] == key] or [()]
                anywhere = list(places(other))
                parent[key] = copy.deepcopy(at(other, draw(st.sampled_from(draw(st.sampled_from([same, anywhere]))))))
            case "repeat" if isinstance(parent, list):
                parent.insert(key, copy.deepcopy(parent[key]))
            case "repeat":
                parent[draw(st.text(max_size=5))] = copy.deepcopy(parent[key])
            case "list":
                parent[key] = [parent[key]]
            case "dict":
                parent[key] = {str(key): parent[key]}
            case _:
                if isinstance(parent[key], int | float) and abs(parent[key]) < 1e300:
                    parent[key] = draw(st.sampled_from([-1, 0.5, 2, 1e6, 1e300])) * parent[key]
    return data


def test_every_schema_has_examples_that_are_read_back():
    assert {data["schema"] for data in examples()} >= set(SCHEMAS) - {kind.schema for kind in UNKEPT}
    for data in examples():
        assert read_estimate(data).to_dict() == data


def without(data, path):
    """The data lacking one field."""
    data = copy.deepcopy(data)
    del at(data, path[:-1])[path[-1]]
    return data


FOLLOWS = ("results", "records_outside")
"""Fields that follow from others."""


def test_every_field_is_needed_but_what_follows_from_others(data):
    for name in data:
        if name in FOLLOWS:
            assert read_estimate(without(data, (name,))).to_dict() == data
        elif name == "counts_rounding":  # files of before do not have it, and keep their intervals
            assert name not in read_estimate(without(data, (name,))).to_dict()
        else:
            with pytest.raises(DataError, match=f"lacks? the field '{name}'|its schema must be"):
                read_estimate(without(data, (name,)))


COMMON = {
    "column": [None, 7, "x" * 5000, ["p"]],
    "adjacency": [None, "near", ["replace"], "x" * 5000],
    "total": [-1, True, 1.0, "3", 1 << 62, 10**5000],
    "confidence_level": [0, 1, True, None, "0.9", float("nan"), 10**400, -0.5, [0.9]],
    "false_alarm": [0, 1, True, None, "0.9", float("nan"), 10**400],
    "provenance": [[], {}, "central", 10**5000],
    "floor": [0, None, True, float("inf"), float("nan")],
    "low": [None, True, "0", 5.0, float("nan")],
    "label": [
        None,
        [],
        {"column": "y", "positive": [1]},
        {"column": "y", "positive": [1], "negative": None, "more": 1},
        {"column": 3, "positive": [1], "negative": None},
        {"column": "y", "positive": None, "negative": None},
        {"column": "y", "positive": [], "negative": None},
        {"column": "y", "positive": [1], "negative": []},
        {"column": "y", "positive": [1], "negative": [1]},
        {"column": "y", "positive": [[1]], "negative": None},
        {"column": "y", "positive": [1 << 62], "negative": None},
        {"column": "y", "positive": [1e300], "negative": None},
        {"column": "y", "positive": [float("nan")], "negative": None},
        {"column": "y", "positive": ["x" * 5000], "negative": None},
        {"column": "y", "positive": list(range(10_001)), "negative": None},
    ],
}


def test_fields_that_several_estimates_have_are_checked_alike(data):
    assert COMMON.keys() & data.keys()
    for name in COMMON.keys() & data.keys():
        for value in COMMON[name]:
            with pytest.raises((DataError, ParameterError)) as refusal:
                read_estimate({**data, name: value})
            assert "\n" not in str(refusal.value)
            assert len(str(refusal.value)) < 300


def test_provenance_with_line_breaks_and_long_texts_is_refused_in_one_short_line():
    data = examples()[0]
    for path, value in (
        (("trust",), "cent\nral"),
        (("release_id",), "z" * 5000),
        (("person",), 10**5000),
        (("max_rows_per_person",), 10**5000),
        (("privacy", "type"), "x" * 5000),
        (("price", "epsilon\n"), "x"),
    ):
        changed = copy.deepcopy(data)
        at(changed["provenance"], path[:-1])[path[-1]] = value
        if path == ("trust",):
            changed["provenance"]["privacy"] = None
        with pytest.raises(ParameterError) as refusal:
            read_estimate(changed)
        assert "\n" not in str(refusal.value)
        assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("value", [1e300, float("inf"), float("nan"), 1 << 62, 10**5000, "x" * 4001], ids=type)
@pytest.mark.parametrize("statistic", [partial(Roc, bounds=(0, 1)), HosmerLemeshow], ids=["roc", "calibration"])
def test_a_label_that_could_not_be_read_back_is_refused_before_anything_is_spent(statistic, value):
    with pytest.raises(ParameterError, match=r"positive must hold texts of at most 4000 characters or numbers below"):
        statistic("p", "y", positive=value)
    with pytest.raises(ParameterError, match="negative must hold"):
        statistic("p", "y", positive=1, negative=(0, value))


@settings(max_examples=200, deadline=None)
@given(st.text() | st.binary() | JUNK.map(json.dumps))
def test_any_text_is_json_or_refused(text):
    try:
        data = parse(text)
    except DataError:
        return
    assert isinstance(data, dict | list | str | int | float | None)


def check(data):
    """Read it; if that is not refused, the estimate must be whole: stored again, it is the same."""
    refusal = None
    try:
        estimate = read_estimate(data)
    except (DataError, ParameterError) as problem:
        refusal = str(problem)
    if refusal is not None:
        assert "\n" not in refusal
        assert len(refusal) < 500
        return
    again = read_estimate(json.loads(estimate.to_json()))
    assert again == estimate
    assert again.to_json() == estimate.to_json()
    assert str(again) == str(estimate)


@settings(max_examples=size(300, part=100), deadline=None)
@given(damaged())
def test_damaged_estimates_are_read_or_refused(made, data):
    check(data)


@settings(max_examples=100, deadline=None)
@given(JUNK | st.fixed_dictionaries({"schema": st.sampled_from(sorted(SCHEMAS)) | JUNK}, optional={"total": JUNK}))
def test_any_value_is_read_or_refused(data):
    check(data)
