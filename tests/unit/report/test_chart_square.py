import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from ogive.showing.chart import LARGE, SMALL, BarChart, Line, Mark, Ribbon, SquareChart, draw, standalone

SVG = "{http://www.w3.org/2000/svg}"
ENDS = np.array([0.0, 1.0])


def chart(**changes):
    fields = {"title": "ROC curve", "summary": "It rises.", "x_label": "across", "y_label": "up"}
    return SquareChart(**{**fields, **changes})


def element(shown, size=LARGE[0]):
    return ET.fromstring(draw(shown, size, identity="c"))


def corners(root, kind):
    """Corners of the paths of a class, in px."""
    found = []
    for node in root.iter(f"{SVG}path"):
        if node.get("class") == kind:
            numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", node.get("d"))]
            found.append(np.array(numbers).reshape(-1, 2))
    return found


def frame(root):
    """Left, right, top and bottom of the plot, read off the rules."""
    rules = [node for node in root.iter(f"{SVG}line") if node.get("class") == "rule"]
    flat = [node for node in rules if node.get("y1") == node.get("y2")]
    heights = [float(node.get("y1")) for node in flat]
    return float(flat[0].get("x1")), float(flat[0].get("x2")), min(heights), max(heights)


@pytest.mark.parametrize("size", [*LARGE, *SMALL], ids=lambda size: size.name)
def test_lines_are_drawn_where_they_are(size):
    x = np.linspace(0, 1, 5)
    root = element(chart(lines=(Line("curve", x, x**2),)), size)
    left, right, top, bottom = frame(root)
    (path,) = corners(root, "curve")
    np.testing.assert_allclose((path[:, 0] - left) / (right - left), x, atol=0.001)
    np.testing.assert_allclose((bottom - path[:, 1]) / (bottom - top), x**2, atol=0.001)


def test_axes_may_end_below_one():
    root = element(chart(lines=(Line("curve", ENDS / 5, ENDS / 4),), x_top=0.2, y_top=0.5))
    left, right, top, bottom = frame(root)
    (path,) = corners(root, "curve")
    assert path[-1] == pytest.approx([right, (top + bottom) / 2], abs=0.1)
    assert path[0] == pytest.approx([left, bottom], abs=0.1)


def test_nothing_leaves_the_frame():
    root = element(chart(lines=(Line("curve", np.array([-1.0, 2.0]), np.array([-3.0, 5.0])),)))
    left, right, top, bottom = frame(root)
    (path,) = corners(root, "curve")
    assert path.min(axis=0) == pytest.approx([left, top])
    assert path.max(axis=0) == pytest.approx([right, bottom])


def test_points_that_are_not_finite_are_skipped_and_a_line_without_points_is_none():
    line = Line("curve", np.array([0, np.nan, 1.0]), np.array([0, 0.5, 1.0]))
    (path,) = corners(element(chart(lines=(line,))), "curve")
    assert len(path) == 2
    nothing = Line("truth", np.full(3, np.nan), ENDS[[0, 0, 1]])
    assert not corners(element(chart(lines=(nothing,))), "truth")


def test_a_million_points_make_a_small_picture_with_the_same_ends():
    x = np.linspace(0, 1, 1_000_001)
    (path,) = corners(element(chart(lines=(Line("curve", x, np.sqrt(x)),))), "curve")
    assert 100 < len(path) < 3_000
    (ends,) = corners(element(chart(lines=(Line("curve", ENDS, ENDS),))), "curve")
    np.testing.assert_allclose(path[[0, -1]], ends)


def test_a_ribbon_encloses_its_line():
    x = np.linspace(0, 1, 21)
    root = element(chart(ribbon=Ribbon(x, x / 2, np.sqrt(x)), lines=(Line("curve", x, 0.6 * x + 0.2 * np.sqrt(x)),)))
    (band,), (line,) = corners(root, "band"), corners(root, "curve")
    upper, lower = band[: len(band) // 2], band[len(band) // 2 :][::-1]
    # y grows downwards
    assert np.all(np.interp(line[:, 0], upper[:, 0], upper[:, 1]) <= line[:, 1] + 0.2)
    assert np.all(np.interp(line[:, 0], lower[:, 0], lower[:, 1]) >= line[:, 1] - 0.2)
    assert np.ptp(band[:, 1]) > 100


def test_marks_have_their_interval_and_their_name():
    root = element(chart(marks=(Mark(0.5, 0.4, "a group", 0.2, 0.9), Mark(0.1, 0.1, "bare", kind="true-dot"))))
    left, right, top, bottom = frame(root)
    dots = {node.get("class"): node for node in root.iter(f"{SVG}circle")}
    assert float(dots["dot"].get("cx")) == pytest.approx((left + right) / 2, abs=0.1)
    assert float(dots["dot"].get("cy")) == pytest.approx(bottom - 0.4 * (bottom - top), abs=0.1)
    (bar,) = [node.get("d") for node in root.iter(f"{SVG}path") if node.get("class") == "interval"]
    low, high = (float(number) for number in re.search(r"M[\d.]+ ([\d.]+)V([\d.]+)", bar).groups())
    assert (bottom - low) / (bottom - top) == pytest.approx(0.2, abs=0.001)
    assert (bottom - high) / (bottom - top) == pytest.approx(0.9, abs=0.001)
    assert {"a group", "bare"} <= {node.text for node in root.iter(f"{SVG}title")}


@pytest.mark.parametrize("top", [1.0, 0.01, 0.02, 0.6])
@pytest.mark.parametrize("size", [*LARGE, *SMALL], ids=lambda size: size.name)
def test_tick_labels_do_not_overlap_and_stay_within_the_drawing(size, top):
    root = element(chart(x_top=top, y_top=top), size)
    ticks = [node for node in root.iter(f"{SVG}text") if node.get("class") == "tick middle"]
    spans = [(float(n.get("x")) - 3.9 * len(n.text), float(n.get("x")) + 3.9 * len(n.text)) for n in ticks]
    assert len(ticks) >= 3
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    assert spans[-1][1] <= size.width
    for node in root.iter(f"{SVG}text"):
        if node.get("class") == "tick end":
            assert float(node.get("x")) - 7.8 * len(node.text) >= -2


def test_multiples_are_not_percentages():
    root = element(chart(y_top=4.0, y_factor=True))
    texts = [node.text for node in root.iter(f"{SVG}text") if node.get("class") == "tick end"]
    assert "2 ×" in texts
    assert not any("%" in text for text in texts)


def test_every_chart_names_and_describes_itself_and_stands_alone():
    for shown in (chart(), BarChart("Budget", "Half.", (("spent", 0.5), ("left", 0.5)))):
        root = ET.fromstring(draw(shown, shown.sizes[0], identity="c"))
        named = {node.get("id"): node.text for node in root.iter() if node.get("id")}
        assert root.get("role") == "img"
        assert named[root.get("aria-labelledby")] == shown.title
        assert named[root.get("aria-describedby")] == shown.summary
        text = standalone(shown)
        ET.fromstring(text)
        assert "prefers-color-scheme: dark" in text
        assert text.count("http") == 1


@pytest.mark.parametrize("share", [0.0, 0.25, 0.999999, 1.0, 1.7])
def test_a_bar_is_cut_in_proportion(share):
    shown = BarChart("Budget", "", (("spent", share), ("left", 1 - share)))
    rects = {node.get("class"): node for node in ET.fromstring(draw(shown, shown.sizes[0], identity="c"))[2:]}
    whole = float(rects["frame"].get("width"))
    spent = float(rects["spent"].get("width")) if "spent" in rects else 0.0
    left = float(rects["left"].get("width")) if "left" in rects else 0.0
    assert spent == pytest.approx(min(share, 1.0) * whole, abs=0.1)
    assert spent + left == pytest.approx(whole, abs=0.11)


def test_precision_and_lift_have_the_bands_of_their_estimates():
    import numpy as np

    import ogive

    rng = np.random.default_rng(4)
    labels = (rng.random(5_000) < 0.3).astype(int)
    roc = ogive.roc(rng.normal(labels, 1), labels, bounds=(-4, 6), outside="clip", privacy=ogive.PureDP(1))
    found = [picture.chart for picture in roc.view().chapter().pictures]
    assert [chart.title for chart in found[1:]] == ["Precision and recall", "Lift"]
    for chart, band in zip(found[1:], (roc.precision_recall_band(0.95), roc.lift_band(0.95)), strict=True):
        places, low, high = band.outline()
        # each pair of ends is drawn from its place to the next
        assert chart.ribbon.x[0::2].tolist() == places.tolist()
        assert chart.ribbon.x[1:-1:2].tolist() == places[1:].tolist()
        assert chart.ribbon.low[0::2].tolist() == chart.ribbon.low[1::2].tolist() == low.tolist()
        assert chart.ribbon.high[1::2].tolist() == np.minimum(high, 1e6).tolist()
        assert ("band", "95 % band for the population") in chart.legend
