"""Intervals of boxes: against a slow oracle, where there are none, and how they are shown and stored."""

import json
import re

import numpy as np
import pytest
from helpers.declared import public_of
from helpers.scope import is_everything

import ogive
from ogive.errors import DataError
from ogive.noise import KeyedSource
from ogive.report import chart_svg, render_report
from ogive.statistics.boxplot.estimate import QUARTERS, Intervals
from ogive.statistics.curve import approximating

RNG = np.random.default_rng(8)
N = 3_000
TABLE = {
    "x": RNG.gamma(3.0, 10.0, N),
    "age": RNG.integers(18, 90, N),
    "day": np.datetime64("2020-01-01") + RNG.integers(0, 300, N),
    "g": RNG.choice(["a", "b"], N),
}
BY = {"by": "g", "groups": ("a", "b")}
CURVES = ("auto", "tree_ls", "path", "sqrt", "hat_ls", "histogram", "adaptive", "selected", "projection")


@pytest.fixture(autouse=True)
def few_programs(monkeypatch):
    """Bands of approximate curves solve few programs: how wide they are is looked at in `test_bands_common`."""
    monkeypatch.setattr(approximating, "PROGRAMS", 4)


def released(statistic, privacy=None, trust=ogive.Central, table=TABLE, adjacency=ogive.Adjacency.REPLACE, key=0):
    privacy = None if trust is ogive.Clear else privacy or ogive.ApproxDP(1, "1e-6")
    return ogive.release(
        statistic,
        trust=trust(table),
        privacy=privacy,
        adjacency=adjacency,
        public=public_of(statistic, adjacency.value),
        source=KeyedSource(key.to_bytes(32, "big")),
    )


def slow_interval(curve, share):
    """Ends found one threshold at a time: F is in the band everywhere, and does not decrease."""
    band, grid = curve.band(0.95), curve.grid
    ends = [grid.low, *grid.thresholds]
    possible = []
    for i in range(grid.bins):
        at_most = min(band.high[i:])  # of F at threshold i
        at_least_before = max([0.0, *band.low[:i]])  # of F at the threshold before
        if at_most >= share and at_least_before < share:
            possible.append(i)
    if not possible:
        return None
    first, last = possible[0], possible[-1]
    return (float(grid.thresholds[first]) if grid.kind == "integers" else float(ends[first])), float(ends[last + 1])


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", ogive.Adjacency)
@pytest.mark.parametrize("curve", CURVES)
def test_intervals_hold_the_box_and_are_within_those_of_a_slow_oracle_for_bands(curve, adjacency):
    """They are those of the oracle for curves that have bands only; others are narrower, and some clearly so."""
    for groups in ({}, BY) if is_everything() else (BY,):
        asked = ogive.Boxplot("x", (0, 120), bins=64, curve=curve, expected_records=N, **groups)
        boxes = released(asked, adjacency=adjacency)
        for box, held in zip(boxes.boxes, boxes.curves, strict=True):
            assert isinstance(box.intervals, Intervals)
            numbers = (box.q1, box.median, box.q3)
            ends, wide = held.quantile_interval(QUARTERS), [slow_interval(held, share) for share in QUARTERS]
            for k, (number, interval, (low, high)) in enumerate(zip(numbers, box.intervals, wide, strict=True)):
                assert interval == (min(ends.low[k], number), max(ends.high[k], number))
                assert min(low, number) <= interval.low <= interval.high <= max(high, number)
                if curve == "projection":
                    assert interval == (min(low, number), max(high, number))
            if curve in ("tree_ls", "path", "hat_ls"):
                assert np.diff(box.intervals).sum() < 0.9 * np.diff(wide).sum()


def test_on_whole_numbers_and_days_ends_are_values_of_the_column():
    ages = released(ogive.Boxplot("age", (0, 119), grid="integers")).boxes[0]
    assert all(end == int(end) for ends in ages.intervals for end in ends)
    days = released(ogive.Boxplot("day", ("2020-01-01", "2020-12-31"), bins=64))
    frame = days.to_frame("pandas")
    assert str(frame["median_low"][0]) <= str(frame["median"][0]) <= str(frame["median_high"][0])
    assert re.search(r"2020-0\d-\d\d \(2020-0\d-\d\d to 2020-0\d-\d\d\)", str(days))


def test_more_noise_and_fewer_records_make_wider_intervals():
    def width(boxes):
        low, high = boxes.boxes[0].intervals.median
        return high - low

    asked = ogive.Boxplot("x", (0, 120), bins=128, curve="tree_ls")
    few = {"x": TABLE["x"][:300]}
    strong, weak = released(asked, ogive.PureDP(10)), released(asked, ogive.PureDP("0.2"))
    assert width(released(asked, trust=ogive.Clear)) <= width(strong) < width(weak)
    assert width(strong) < width(released(asked, ogive.PureDP(10), table=few))


def test_there_are_none_where_numbers_were_found_one_by_one_or_nothing_is_defined():
    five = released(ogive.Boxplot("x", (0, 120), bins=64, method="five_numbers"))
    assert five.boxes[0].intervals is None
    assert "confidence" not in str(five)
    assert five.to_frame("pandas")["median_low"].isna().all()
    assert "intervals" not in five.to_dict()["boxes"][0]
    empty = released(
        ogive.Boxplot("x", (0, 120), bins=64, **BY),
        trust=ogive.Clear,
        table={"x": TABLE["x"][:50], "g": np.repeat("a", 50)},
    )
    assert [box.intervals is None for box in empty.boxes] == [False, True]


def test_text_notebook_page_and_chart_show_them():
    boxes = released(ogive.Boxplot("age", (0, 119), grid="integers"))
    low, high = boxes.boxes[0].intervals.median
    shown = f"{boxes.boxes[0].median:.0f} ({low:.0f} to {high:.0f})"
    page = render_report([boxes], title="x")
    assert shown in str(boxes)
    assert shown in boxes._repr_html_()
    assert shown in page
    assert f"is {boxes.boxes[0].median:.0f} (95 % CI {low:.0f} to {high:.0f};" in page
    for text in (str(boxes), boxes._repr_html_(), page):
        assert "95 % confidence interval" in text
    assert len(re.findall(r'<path class="interval"', chart_svg(boxes))) == 2  # whiskers, and the intervals
    lines = [line for line in boxes.plot().collections if line.get_paths()]
    drawn = sorted(tuple(path.vertices[:, 1]) for line in lines for path in line.get_paths())
    assert drawn == sorted(tuple(ends) for ends in boxes.boxes[0].intervals)


def test_files_hold_them_and_files_of_before_are_read_without_them():
    boxes = released(ogive.Boxplot("x", (0, 120), bins=64, **BY))
    data = json.loads(boxes.to_json())
    assert ogive.Boxplots.from_dict(data) == boxes
    for box in data["boxes"]:
        del box["intervals"]
    old = ogive.Boxplots.from_dict(data)
    assert [box.intervals for box in old.boxes] == [None, None]
    assert old.to_dict() == data
    assert "confidence" not in str(old)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "must be of q1, median, q3"),
        ({"q1": [1, 2]}, "must be of q1, median, q3"),
        ("median", "must be two numbers"),
        ([0.0, 1.0, 2.0], "must be two numbers"),
        ([float("inf"), 3.0], "must be two numbers"),
        ([0.0, 0.5], "must hold it"),
        ([0.0, 500.0], "lie in the bounds"),
    ],
)
def test_refuses_intervals_of_strangers_that_are_none(value, message):
    data = released(ogive.Boxplot("x", (0, 120), bins=64)).to_dict()
    if value is None or isinstance(value, dict):
        data["boxes"][0]["intervals"] = value
    else:
        data["boxes"][0]["intervals"]["median"] = value
    with pytest.raises(DataError, match=message):
        ogive.Boxplots.from_dict(data)


def test_a_plan_spends_no_time_on_them(monkeypatch):
    def unwanted(*_, **__):
        raise AssertionError("a plan computed a band")

    monkeypatch.setattr(ogive.Curve, "band", unwanted)
    asked = ogive.Boxplot("x", (0, 120), bins=64, curve="tree_ls")
    ogive.plan(asked, records=500, privacy=ogive.PureDP(1), runs=2)
