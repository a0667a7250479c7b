import math
import re
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.showing import words


@given(st.fractions(0, 700))
@example(Fraction(1, 10**100))
@example(Fraction(3))
@example(Fraction(23025, 10_000))
@example(Fraction(23026, 10_000))
@example(Fraction(700))
def test_the_factor_is_the_next_tick_above_e_to_the_epsilon(epsilon):
    shown = Fraction(words.factor(epsilon).replace(",", ""))
    with mpmath.workdps(400):
        exact = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        tick = Fraction(1, 100) if exact < 10 else Fraction(10) ** (int(mpmath.floor(mpmath.log10(exact))) - 2)
        assert shown % tick == 0
        above, below = (mpmath.mpf(end.numerator) / end.denominator for end in (shown, shown - tick))
        assert below < exact <= above


def test_factors_are_written_for_people():
    found = {epsilon: words.factor(Fraction(epsilon)) for epsilon in ("0", "1/1000", "1", "3", "12", "700")}
    assert list(found.values()) == ["1.00", "1.01", "2.72", "20.1", "163,000", "1.02e304"]


def test_beyond_the_largest_factor_none_is_stated_as_a_bound():
    said = words.promise(ApproxDP(701, "0.003"), PrivacyUnit(Adjacency.REPLACE))
    assert "by a factor beyond 10^304, except for an added chance" in said
    assert "at most 1 in 333." in said
    assert "times" not in said
    assert "would have been at most 1.02e304 times" in words.promise(PureDP(700), PrivacyUnit(Adjacency.REPLACE))
    with mpmath.workdps(50):
        assert mpmath.exp(words.BEYOND) > mpmath.mpf(10) ** words.BEYOND_POWER


@pytest.mark.parametrize("adjacency", list(Adjacency), ids=lambda member: member.value)
def test_the_promise_names_its_unit_and_its_factor(adjacency):
    said = words.promise(PureDP("0.4"), PrivacyUnit(adjacency))
    assert "1.50 times" in said
    assert ("different values" in said) == (adjacency is Adjacency.REPLACE)
    assert ("missing" in said) == (adjacency is Adjacency.ADD_OR_REMOVE)
    assert "added chance of at most 1 in 333." in words.promise(ApproxDP(1, "0.003"), PrivacyUnit(adjacency))
    assert "1 in 1,000,000" in words.promise(ZeroConcentratedDP("0.1"), PrivacyUnit(adjacency))


def test_the_promise_to_a_person_is_about_all_their_rows():
    said = words.promise(PureDP(1), PrivacyUnit(Adjacency.ADD_OR_REMOVE, "patient", 3))
    assert "any one person been missing with all their rows" in said
    assert "2.72 times" in said
    said = words.promise(PureDP(1), PrivacyUnit(Adjacency.REPLACE, "patient"))
    assert "any one person been another" in said


def test_a_person_column_replaces_the_warning_about_several_records():
    found = dict(words.limits([PrivacyUnit(Adjacency.ADD_OR_REMOVE, "patient", 3)]))
    assert "One record per person." not in found
    assert "patient" in found["Who is a person."]
    assert "3 rows" in found["Who is a person."]
    both = [name for name, _ in words.limits([PrivacyUnit(Adjacency.REPLACE), PrivacyUnit(Adjacency.REPLACE, "id")])]
    assert {"One record per person.", "Who is a person."} <= set(both)


def test_two_methods_are_named_once_each():
    assert words.method("path") == words.METHODS["path"]
    assert words.method("path+tree_ls") == f"{words.METHODS['path']}; then {words.METHODS['tree_ls']}"
    assert words.method("path+path") == words.METHODS["path"]
    assert words.method("something new") == "something new"


def test_differences_are_rounded_up():
    assert words.points(0.00187) == "0.19 percentage points"
    assert words.points(0.0181) == "1.9 percentage points"
    assert words.rounded_up(0.0781) == "0.079"
    assert words.points(0.0) == "0 percentage points"
    assert words.points(0.5) == "50 percentage points"
    assert words.in_a_thousand(0.0011) == "2 in 1,000"
    assert words.in_a_thousand(0.00031) == "4 in 10,000"
    assert words.in_a_thousand(1e-12) == "1 in 1,000,000"


def test_places_of_a_percentage_follow_its_uncertainty():
    assert words.percent(0.1234, words.digits(0.011)) == "12.3 %"
    assert words.percent(0.1234, words.digits(0.0011)) == "12.34 %"
    assert words.percent(0.25) == "25 %"
    assert words.percent(0.3) == "30 %"


def test_amounts_that_do_not_end_are_rounded_up():
    assert words.amount(PureDP("0.1")) == "epsilon = 0.1"
    shown = words.amount(PureDP("1/3")).removeprefix("epsilon = ")
    assert Fraction(1, 3) < Fraction(shown) < Fraction(1, 3) * Fraction(100001, 100000)
    assert words.amount(ApproxDP(1, "1e-9")) == "epsilon = 1, delta = 1e-09"
    assert "rho = 0.5" in words.amount(ZeroConcentratedDP("0.5"))


def test_the_public_number_of_records_is_named_only_where_it_is_public():
    names = [name for name, _ in words.limits([PrivacyUnit(Adjacency.ADD_OR_REMOVE)])]
    assert "The number of records is public." not in names
    assert "The number of records is public." in [name for name, _ in words.limits([PrivacyUnit(Adjacency.REPLACE)])]
    for needed in ("Bounds and thresholds are public.", "One record per person.", "Releases add up."):
        assert needed in names


def test_every_strategy_and_smoothing_has_words():
    from ogive.statistics.methods.choose import METHODS
    from ogive.strategies.smoothing import RANK_MATCHING, SMOOTHINGS

    assert set(METHODS) <= set(words.METHODS)
    assert {*SMOOTHINGS, RANK_MATCHING} <= set(words.SMOOTHINGS)


def shown_chance(privacy):
    """The share of right guesses that is stated, as a number."""
    text = words.certainty(privacy, PrivacyUnit(Adjacency.REPLACE))
    assert "between two equally likely values of one record" in text
    found = re.search(r"at most ([\d.]+) % of cases", text)
    return float(found[1]) / 100 if found else 1.0


@pytest.mark.parametrize(
    ("privacy", "said"),
    [
        (PureDP("0.1"), "right in at most 53 % of cases."),
        (PureDP(1), "at most 74 % of cases."),
        (PureDP(3), "at most 96 % of cases."),
        (PureDP(8), "at most 99.97 % of cases. That is weak protection."),
        (PureDP(50), "in up to 100 % of cases. That is weak protection."),
        (ApproxDP(1, "1e-6"), "at most 74 % of cases."),
        (ApproxDP(1, "0.5"), "at most 87 % of cases."),
    ],
    ids=str,
)
def test_how_often_guesses_are_right_is_said(privacy, said):
    assert said in words.certainty(privacy, PrivacyUnit(Adjacency.REPLACE))


def test_how_often_guesses_are_right_is_never_understated():
    for epsilon in ("0.01", "0.7", "2", "4", "6"):
        # randomized response attains the bound: who believes its answer is right so often
        best = math.exp(float(epsilon)) / (1 + math.exp(float(epsilon)))
        assert best <= shown_chance(PureDP(epsilon)) <= best + 0.011
        # with a chance of delta the answer is given away
        leaky = 0.1 + 0.9 * best
        assert leaky <= shown_chance(ApproxDP(epsilon, "0.1")) <= leaky + 0.011
    for rho in ("0.001", "0.1", "1"):
        # Gaussian noise of variance 1 / (2 rho) on a number that is 0 or 1: the better guess cuts in the middle
        best = 0.5 * (1 + math.erf(math.sqrt(float(rho)) / 2))
        assert best <= shown_chance(ZeroConcentratedDP(rho))


def test_certainty_is_about_what_the_unit_hides():
    away = Adjacency.ADD_OR_REMOVE
    assert "whether one person is in the data" in words.certainty(PureDP(1), PrivacyUnit(away, "id", 3))
    assert "whether one record is in the data" in words.certainty(PureDP(1), PrivacyUnit(away))


def test_likelihoods_are_called_almost_the_same_only_where_they_are():
    unit = PrivacyUnit(Adjacency.REPLACE)
    assert "almost" in words.promise(PureDP("0.5"), unit)
    assert "almost" not in words.promise(PureDP(1), unit)
    assert "everything here" in words.promise(PureDP(1), unit, what="everything here")


def test_areas_have_the_places_that_mean_something():
    assert words.decimal(0.87654, 0.2) == "0.88"
    assert words.decimal(0.87654, 0.012) == "0.877"
    assert words.decimal(0.87654, 0.0012) == "0.8765"
    assert words.decimal(0.87654, 0.0) == "0.8765"
