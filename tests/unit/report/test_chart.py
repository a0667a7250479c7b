import datetime
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from ogive.columns.grids import Grid
from ogive.showing.chart import BOTTOM, LEFT, NARROW, RIGHT, TOP, WIDE, CurveChart, draw, standalone

SVG = "{http://www.w3.org/2000/svg}"


def sample(bins=50, **changes):
    grid = changes.pop("grid", None) or Grid.linear(0, 100, bins=bins)
    share = np.linspace(0, 1, grid.bins + 1)[1:] ** 2
    fields = {"grid": grid, "label": "age", "share": share, "view": (grid.low, grid.high), "summary": "A rising curve."}
    return CurveChart(**{**fields, **changes})


def element(drawing, size=WIDE):
    return ET.fromstring(draw(drawing, size, identity="c"))


def paths(drawing, kind, size=WIDE):
    return [node.get("d") for node in element(drawing, size).iter(f"{SVG}path") if node.get("class") == kind]


def heights(path):
    """The step function that a path draws, as (x, y) corners, read independently of how it was made."""
    x, y, corners = 0.0, 0.0, []
    for command, arguments in re.findall(r"([MHVZ])([^MHVZ]*)", path):
        numbers = [float(number) for number in arguments.split()]
        if command == "M":
            x, y = numbers
        elif command == "H":
            x = numbers[0]
        elif command == "V":
            y = numbers[0]
        corners.append((x, y))
    return corners


def value_at(path, x):
    level = None
    for a, b in heights(path):
        if a <= x + 1e-9:
            level = b
    return level


def test_the_curve_is_drawn_where_it_is():
    drawing = sample()
    (path,) = paths(drawing, "curve")
    width = WIDE.width - LEFT - RIGHT
    bottom, top = value_at(path, LEFT), value_at(path, WIDE.width - RIGHT)
    for t in (3.0, 10.5, 50.0, 77.7, 99.0):
        expected = float(drawing.share[np.searchsorted(drawing.grid.thresholds, t, side="right") - 1])
        x = LEFT + width * t / 100 + 0.3
        assert (bottom - value_at(path, x)) / (bottom - top) == pytest.approx(expected, abs=0.002)


def test_a_million_thresholds_make_a_small_picture_with_the_same_ends():
    small, large = sample(bins=500), sample(bins=1_000_000)
    (few,), (many,) = paths(small, "curve"), paths(large, "curve")
    assert len(many) < 40_000
    assert heights(many)[-1] == heights(few)[-1]


def edges(path):
    """Upper and lower edge of a band, as two paths from left to right."""
    end = f"H{WIDE.width - RIGHT}"
    upper, back = path.split(end, 1)
    corners = heights(f"M{WIDE.width - RIGHT} 0{back}")[1:]  # down to the lower edge, then leftwards
    lower, level = [], corners[0][1]
    for x, y in corners[1:]:
        if y != level or x == LEFT:
            lower.append((x, level))
            level = y
    return upper, lower


def lower_at(lower, x):
    return next(level for start, level in lower if start <= x)


def test_the_band_encloses_the_curve_everywhere():
    share = np.linspace(0, 1, 51)[1:]
    drawing = sample(share=share, low=np.maximum(share - 0.05, 0), high=np.minimum(share + 0.05, 1))
    (band,), (curve,) = paths(drawing, "band"), paths(drawing, "curve")
    upper, lower = edges(band)
    height = WIDE.height - BOTTOM - TOP
    for x in np.linspace(LEFT + 1, WIDE.width - RIGHT - 1, 60):
        at = value_at(curve, x)
        # 0.05 up and the step to the next threshold, 0.02, cut off at 1; 0.05 down, cut off at 0
        assert at - value_at(upper, x) == pytest.approx(min(0.07 * height, at - TOP), abs=0.2)
        assert lower_at(lower, x) - at == pytest.approx(min(0.05 * height, WIDE.height - BOTTOM - at), abs=0.2)


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        (Grid.explicit([1, 2, 3, 4], low=1), 0.6),
        (Grid.integers(1, 4), 0.6),  # a column may hold 1.5
        (Grid.integers(datetime.date(2026, 1, 1), datetime.date(2026, 1, 4)), 0.3),
    ],
    ids=["numbers", "whole numbers", "days"],
)
def test_between_thresholds_the_band_reaches_up_to_the_next_one_unless_nothing_lies_there(grid, expected):
    high = np.array([0.3, 0.6, 0.8, 1.0])
    drawing = sample(grid=grid, share=high - 0.05, low=high - 0.1, high=high)
    upper, lower = edges(paths(drawing, "band")[0])
    middle = LEFT + (WIDE.width - LEFT - RIGHT) / 6  # of the first and second threshold
    bottom, height = WIDE.height - BOTTOM, WIDE.height - BOTTOM - TOP
    assert (bottom - value_at(upper, middle)) / height == pytest.approx(expected, abs=0.002)
    assert (bottom - lower_at(lower, middle)) / height == pytest.approx(0.2, abs=0.002)


def test_a_view_cuts_the_axis_and_keeps_the_height_at_its_left_edge():
    drawing = sample(view=(50.0, 100.0))
    (path,) = paths(drawing, "curve")
    bottom = WIDE.height - BOTTOM
    assert (bottom - heights(path)[0][1]) / (bottom - TOP) == pytest.approx(0.25, abs=0.01)
    assert all(LEFT <= x <= WIDE.width - RIGHT for x, _ in heights(path))


def test_truth_and_marks_are_drawn_only_when_given():
    assert not paths(sample(), "truth")
    assert not paths(sample(), "band")
    drawing = sample(truth=np.linspace(0, 1, 50), marks=((0.5, 70.0, 68.0, 73.0),))
    assert len(paths(drawing, "truth")) == 1
    titles = [node.text for node in element(drawing).iter(f"{SVG}title")]
    assert "50% at or below 70, interval 68 to 73" in titles


def test_every_chart_names_and_describes_itself():
    root = element(sample())
    assert root.get("role") == "img"
    named = {node.get("id"): node.text for node in root.iter() if node.get("id")}
    assert named[root.get("aria-labelledby")] == "Distribution of age"
    assert named[root.get("aria-describedby")] == "A rising curve."


def test_hostile_and_long_labels_stay_text_within_the_drawing():
    root = element(sample(label='<script>"&' * 30), NARROW)
    assert not list(root.iter(f"{SVG}script"))
    (name,) = [node.text for node in root.iter(f"{SVG}text") if "name" in node.get("class")]
    assert len(name) * 8 < NARROW.width
    assert name.endswith("…")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=lambda size: size.name)
def test_tick_labels_do_not_overlap(size):
    for grid in (
        Grid.linear(-10_000, 110_000, bins=64),
        Grid.geometric(0.001, 1e9, bins=64),
        Grid.integers("2019-06-01", "2024-01-15"),
        Grid.linear("2024-01-01T00:00:00", "2024-01-03T12:00:00", bins=64),
        Grid.linear(0.00001, 0.00002, bins=64),
    ):
        nodes = [n for n in element(sample(grid=grid), size).iter(f"{SVG}text") if n.get("class") == "tick middle"]
        spans = [(float(n.get("x")) - 3.7 * len(n.text), float(n.get("x")) + 3.7 * len(n.text)) for n in nodes]
        assert len(nodes) >= 2
        assert all(before[1] < after[0] for before, after in pairwise(spans)), grid


def test_a_file_of_its_own_brings_its_style_and_loads_nothing():
    text = standalone(sample())
    root = ET.fromstring(text)
    assert root.get("width") == "760"
    assert "prefers-color-scheme: dark" in text
    assert "url(" not in text
    assert "@import" not in text
    assert text.count("http") == 1  # the name of the SVG namespace
