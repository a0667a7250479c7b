"""Numbers with their intervals as a chart: where they are drawn, and what is said of those that noise hides."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import ogive
from ogive import Clear, Describe, release
from ogive.showing.chart import MOST_ROWS, Dot, DotChart, draw

SVG = "{http://www.w3.org/2000/svg}"
RNG = np.random.default_rng(6)
TABLE = {
    "ward": RNG.choice(["A", "B", "C"], 3_000, p=[0.6, 0.3, 0.1]),
    "ill": RNG.integers(0, 2, 3_000),
    "age": RNG.integers(18, 95, 3_000),
}


def both(statistic):
    """A release and the truth."""
    released = ogive.release(statistic, trust=ogive.Central(TABLE), privacy=ogive.PureDP(2))
    return released, ogive.release(statistic, trust=ogive.Clear(TABLE))


def drawn(chart, size):
    """Dots, ends of intervals and marks of truths in px, and all texts."""
    root = ET.fromstring(draw(chart, size, identity="c"))
    dots = [float(node.get("cx")) for node in root.iter(f"{SVG}circle")]
    ends = [
        (float(match[1]), float(match[2]))
        for node in root.iter(f"{SVG}path")
        if node.get("class") == "interval"
        and (match := re.match(r"M([\d.]+) [\d.]+v8M[\d.]+ [\d.]+H([\d.]+)M", node.get("d")))
    ]
    return dots, ends, " ".join(root.itertext())


def chart_of(*dots, **more):
    return DotChart(title="t", label="l", dots=dots, summary="s", **more)


def test_a_number_lies_on_the_axis_where_its_share_of_the_length_is():
    chart = chart_of(Dot("a", 0.0, 0.0, 0.5), Dot("b", 0.25, 0.0, 0.5), Dot("c", 0.5, 0.25, 0.5, 0.5), shares=True)
    for size in chart.sizes:
        (first, middle, last), ends, text = drawn(chart, size)
        assert middle == pytest.approx((first + last) / 2, abs=0.1)
        assert ends == [(first, last), (first, last), (middle, last)]
        assert "c: 50 %, interval 25 % to 50 %, true 50 %" in text


def test_noise_that_hides_a_number_is_said_and_infinite_ends_stay_within_the_chart():
    chart = chart_of(Dot("a", None, 0, 0), Dot("b", 5.0, -np.inf, np.inf), Dot("c", 4.0, 3.0, 6.0))
    for size in chart.sizes:
        dots, ends, text = drawn(chart, size)
        assert len(dots) == 2
        assert "says nothing: too noisy" in text
        assert all(0 <= place <= size.width for pair in ends for place in pair)


def test_equal_numbers_have_an_axis():
    chart = chart_of(Dot("a", 3.0, 3.0, 3.0))
    dots, _, _ = drawn(chart, chart.sizes[0])
    assert 0 < dots[0] < chart.sizes[0].width


def test_histograms_cross_tables_and_numbers_of_groups_are_drawn_with_their_intervals_and_the_truth():
    wards = ("A", "B", "C")
    histograms = both(ogive.Histogram("ward", values=wards))
    crosstabs = both(ogive.Crosstab("ward", "ill", rows=wards, columns=(0, 1)))
    means = both(ogive.Grouped(ogive.Mean("age", bounds=(18, 95)), "ward", wards))
    for found, exact in (histograms, crosstabs, means):
        (picture,) = found.view().chapter(exact).pictures
        assert picture.chart.dots
        for dot in picture.chart.dots:
            assert dot.low <= dot.value <= dot.high
            assert dot.low <= dot.truth <= dot.high
        assert {kind for kind, _ in picture.chart.legend} == {"interval", "truth"}
        (alone,) = found.view().chapter(None).pictures
        assert all(dot.truth is None for dot in alone.chart.dots)
    dots = histograms[0].view().chapter(None).pictures[0].chart.dots
    assert [dot.value for dot in dots] == list(histograms[0].shares)
    dots = means[0].view().chapter(None).pictures[0].chart.dots
    assert [dot.value for dot in dots] == [each.value for _, each in means[0]]


def test_more_numbers_than_fit_are_left_to_the_table():
    ages = tuple(range(18, 95))
    assert len(ages) > MOST_ROWS
    found, _ = both(ogive.Histogram("age", values=ages))
    assert found.view().chapter(None).pictures == ()


def described(variables, wards=0):
    rng = np.random.default_rng(3)
    groups = {"by": "ward", "groups": tuple(range(wards))} if wards else {}
    names = [f"x{number}" for number in range(variables)]
    data = {name: rng.random(200) < 0.5 for name in names}
    data |= {"age": rng.integers(20, 90, 200), "ward": rng.integers(0, max(1, wards), 200)}
    asked = Describe(("age", *names), bounds={"age": (0, 120)}, values=dict.fromkeys(names, True), **groups)
    return release(asked, trust=Clear(data))


def test_described_groups_have_a_chart_of_each_number_with_a_dot_for_each_column_of_the_table():
    found = described(1, wards=3)
    age, share = (picture.chart for picture in found.view().chapter(None).pictures)
    assert [dot.name for dot in age.dots] == ["Overall", "ward = 0", "ward = 1", "ward = 2"]
    for chart, column, part in ((age, "age", "mean"), (share, "x0", "proportion")):
        assert chart.shares == (part == "proportion")
        for dot, group in zip(chart.dots, (None, 0, 1, 2), strict=True):
            estimate = found.of(column, group)[part]
            assert dot == (dot.name, estimate.value, *estimate.interval(), None)


def test_variables_of_all_records_have_one_chart_of_their_shares():
    (picture,) = described(2).view().chapter(None).pictures
    assert [dot.name for dot in picture.chart.dots] == ["x0", "x1"]
    assert picture.note is None
    assert described(0).view().chapter(None).pictures == ()
    (picture,) = described(MOST_ROWS + 3).view().chapter(None).pictures
    assert len(picture.chart.dots) == MOST_ROWS
    assert picture.note == "3 more shares are in the table alone."


def test_what_would_be_too_much_to_draw_of_groups_is_left_to_the_table():
    pictures = described(25, wards=2).view().chapter(None).pictures
    assert len(pictures) == 24
    assert pictures[-1].note == "2 more means and shares are in the table alone."
    assert described(1, wards=MOST_ROWS).view().chapter(None).pictures == ()
