"""Differences and ratios of two independent numbers: intervals hold at their level, whatever the noise."""

import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import ogive
from ogive import Contrast
from ogive.showing.view import BACKENDS
from ogive.statistics.confidence import Number, difference, ratio

Z = stats.norm.ppf(0.975)


def normal(value, error):
    return Number("x", value, value - Z * error, value + Z * error, error)


def test_a_difference_of_normal_numbers_has_the_usual_interval():
    value, error, low, high = difference(normal(5, 0.3), normal(3, 0.4), 0.95)
    assert (value, error) == (2, pytest.approx(0.5))
    assert (low, high) == (pytest.approx(2 - Z * 0.5), pytest.approx(2 + Z * 0.5))


def test_a_ratio_of_normal_numbers_has_fiellers_interval():
    a, b, va, vb = 5.0, 3.0, 0.3, 0.4
    value, error, low, high = ratio(normal(a, va), normal(b, vb), 0.95)
    # Fieller: the roots in R of (a - R b)^2 = z^2 (va^2 + R^2 vb^2)
    roots = np.roots([b * b - Z * Z * vb**2, -2 * a * b, a * a - Z * Z * va**2])
    assert [low, high] == pytest.approx(sorted(roots))
    assert value == a / b
    assert error == pytest.approx(math.hypot(va, a / b * vb) / b)


@pytest.mark.parametrize("signs", [(1, 1), (-1, 1), (1, -1), (-1, -1)])
def test_signs_turn_a_ratio_round(signs):
    first, second = signs
    value, error, low, high = ratio(normal(5 * first, 0.3), normal(3 * second, 0.4), 0.95)
    plain = ratio(normal(5, 0.3), normal(3, 0.4), 0.95)
    assert value == pytest.approx(first * second * plain[0])
    assert low < value < high
    assert sorted([abs(low), abs(high)]) == pytest.approx([plain[2], plain[3]])
    assert abs(error) == pytest.approx(plain[1])


@pytest.mark.parametrize("second", [Number("x", 0.0, -1, 1), Number("x", 0.5, -0.1, 1.1), Number("x", 0.0, 0.0, 2.0)])
def test_a_ratio_by_what_may_be_nothing_may_be_anything(second):
    assert ratio(normal(5, 0.3), second, 0.95)[2:] == (-math.inf, math.inf)


NOTHING = Number("x", math.nan, 0.0, 1.0, math.nan)


@pytest.mark.parametrize("known", [Number("x", 0.4, 0.3, 0.6, 0.1), Number("x", 0.4, 0.3, 0.6), NOTHING], ids=str)
def test_where_noise_leaves_a_number_no_value_intervals_hold_all_that_is_possible(known):
    for one, other in ((NOTHING, known), (known, NOTHING)):
        value, error, low, high = difference(one, other, 0.95)
        assert math.isnan(value)
        assert math.isnan(error)
        assert (low, high) == (one.low - other.high, one.high - other.low)
        assert ratio(one, other, 0.95)[2:] == (-math.inf, math.inf)
        assert math.isnan(ratio(one, other, 0.95)[0])


def laplace(values, scale, sampling, rng):
    """Noisy numbers with an interval of 95 % by the exact law of a normal and a Laplace error."""
    draws = rng.normal(0, sampling, 400_000) + rng.laplace(0, scale, 400_000)
    reach = np.quantile(np.abs(draws), 0.95)
    noisy = values + rng.normal(0, sampling, len(values)) + rng.laplace(0, scale, len(values))
    return [Number("x", v, v - reach, v + reach) for v in noisy]


@pytest.mark.parametrize("compared", [difference, ratio], ids=["difference", "ratio"])
@pytest.mark.parametrize(
    ("sampling", "scale"), [(1.0, 0.01), (0.5, 0.7), (0.01, 1.0)], ids=["sampling", "both", "noise"]
)
def test_intervals_hold_at_their_level(compared, sampling, scale):
    """4,000 pairs at 95 %: a share below 0.94 has probability under 0.002 where the level holds."""
    rng = np.random.default_rng(3)
    ones = laplace(np.full(4000, 30.0), scale, sampling, rng)
    others = laplace(np.full(4000, 20.0), 2 * scale, sampling, rng)
    truth = 10.0 if compared is difference else 1.5
    found = [compared(one, other, 0.95) for one, other in zip(ones, others, strict=True)]
    held = np.mean([low <= truth <= high for _, _, low, high in found])
    assert held >= 0.94
    # the control: an interval that takes the second number for exact
    exact = [other._replace(low=other.value, high=other.value) for other in others]
    alone = [compared(one, other, 0.95) for one, other in zip(ones, exact, strict=True)]
    assert np.mean([low <= truth <= high for _, _, low, high in alone]) < 0.9


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (0.0314, "1,234.57 (95 % CI 1,234.51 to 1,234.63)"),
        (31.4, "1,230 (95 % CI 1,170 to 1,300)"),
        (0.0, "1,234.57 (95 % CI 1,234.57 to 1,234.57)"),
        (math.inf, "1,234.57 (95 % CI -inf to inf)"),
    ],
)
def test_a_contrast_is_printed_with_the_digits_that_its_interval_leaves(error, shown):
    value, reach = 1234.567891, Z * error
    contrast = Contrast("difference", "mean of x", "g", "a", "b", value, error, value - reach, value + reach, 0.95)
    assert str(contrast) == f"difference of the mean of x, g a minus b: {shown}"


def test_a_comparison_is_one_short_line_in_a_notebook():
    found = Contrast("difference", "mean of age", "ward", "A", "B", 2.0, 0.5, 1.02, 2.98, 0.95)
    assert repr(found) == "<Contrast difference of the mean of age, ward A minus B: 2.0 (95 % CI 1.0 to 3.0)>"
    hidden = Contrast("ratio", "mean of age", "ward", "A", "B", math.nan, math.nan, -math.inf, math.inf, 0.95)
    assert repr(hidden) == f"<Contrast {hidden.head}: noise leaves no number>"


@pytest.fixture(scope="module")
def compared():
    ages = {"age": np.arange(400.0) % 80, "ward": ["A", "B"] * 200}
    question = ogive.Grouped(ogive.Mean("age", bounds=(0, 90)), "ward", ("A", "B"))
    found = ogive.release(question, trust=ogive.Central(ages), privacy=ogive.PureDP(20))
    return found.difference("A", "B"), found.ratio("A", "B")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_contrast_is_a_row_of_a_data_frame(compared, backend):
    for each in compared:
        frame = each.to_frame(backend)
        row = frame.to_pylist()[0] if backend == "pyarrow" else {name: frame[name][0] for name in frame.columns}
        assert (row["kind"], row["group"], row["other"], row["value"]) == (each.kind, "A", "B", each.value)
        assert (row["low"], row["high"], row["standard_error"]) == (each.low, each.high, each.standard_error)


def test_a_contrast_is_a_table_in_notebooks_with_its_guarantee(compared):
    for each in compared:
        page = each._repr_html_()
        assert all(shown in page for shown in (*each.shown, "95 % CI", "epsilon = 20"))


def test_a_contrast_is_drawn_with_its_interval_beside_the_value_of_groups_that_are_alike(compared):
    for each, alike in zip(compared, (0, 1), strict=True):
        lines = each.plot(Figure().subplots()).get_lines()
        drawn = [tuple(map(float, line.get_xdata())) for line in lines]
        assert drawn[0] == each.interval
        assert drawn[-1] == (alike, alike)
        assert (each.value,) in drawn


def test_a_contrast_without_a_number_is_shown_and_not_drawn():
    hidden = ogive.Contrast("ratio", "mean of age", "ward", "A", "B", math.nan, math.nan, -math.inf, math.inf, 0.95)
    assert "Noise leaves no number" in hidden._repr_html_()
    assert math.isnan(hidden.to_frame("pandas")["value"][0])
    with pytest.raises(ogive.ParameterError, match="noise leaves no number to draw of the ratio of the mean of age"):
        hidden.plot()


def test_a_contrast_of_exact_values_says_so():
    question = ogive.Grouped(ogive.Mean("age", bounds=(0, 90)), "ward", ("A", "B"))
    found = ogive.release(question, trust=ogive.Clear({"age": [1.0, 2.0] * 9, "ward": ["A", "B"] * 9}))
    assert "not private: exact values" in found.difference("A", "B")._repr_html_()
