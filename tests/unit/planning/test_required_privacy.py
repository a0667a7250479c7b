"""From a wanted error to the smallest guarantee."""

import dataclasses
import time
from fractions import Fraction

import pytest
from helpers.scope import is_everything, size

import ogive
from ogive.errors import ParameterError
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.releasing.planning.predict import _loss, _nearest, _smallest, plan_taken
from ogive.statistics import Bounds, Ecdf, HosmerLemeshow, Quantiles, Roc
from ogive.trust import Central

pytestmark = pytest.mark.usefixtures("fewer_shapes")

STATISTIC = Ecdf("x", (0, 100), bins=64)
RECORDS = 5_000


def quicker():
    """The statistic where the choice among methods does not matter."""
    return dataclasses.replace(STATISTIC, method="auto" if is_everything() else "hat_ls")


def larger(privacy, step=1):
    """The guarantee with the next decimal of three digits, or the one before."""
    loss = privacy.rho if isinstance(privacy, ZeroConcentratedDP) else privacy.epsilon
    other = _loss(_nearest(float(loss)) + step)
    if isinstance(privacy, ApproxDP):
        return ApproxDP(other, privacy.delta)
    return type(privacy)(other)


@pytest.mark.each_value
@pytest.mark.parametrize("method", ["auto", "hat_ls"])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(
    ("kind", "delta", "of"), [("pure", None, PureDP), ("zcdp", None, ZeroConcentratedDP), ("approx", "1e-6", ApproxDP)]
)
@pytest.mark.parametrize("error", [{"rmse": 0.002}, {"ks": 0.01}, {"ks_95": 0.03}])
def test_the_error_is_met_and_a_smaller_guarantee_would_not(error, kind, delta, of, adjacency, method):
    statistic = Ecdf("x", (0, 100), bins=size(64, part=16), method=method)
    needed = ogive.required_privacy(
        statistic, records=RECORDS, error=error, kind=kind, delta=delta, adjacency=adjacency
    )
    assert type(needed) is of
    [(name, wanted)] = error.items()

    def value(privacy):
        unit = PrivacyUnit(adjacency)
        plan = plan_taken(statistic, privacy=privacy, records=RECORDS, unit=unit, trust=Central)
        return plan.chosen.errors[name]

    assert value(needed) <= wanted < value(larger(needed, -1)) < 1.05 * wanted


def test_quantiles_of_reports_need_what_a_plan_says_of_the_curve_of_reports():
    quantiles = Quantiles("x", bounds=(0, 10), bins=size(32, part=8))
    needed = ogive.required_privacy(quantiles, records=RECORDS, error={"ks": 0.1}, trust="local")
    errors = [
        ogive.plan(quantiles, privacy=each, records=RECORDS, trust="local").chosen.ks
        for each in (needed, larger(needed, -1))
    ]
    assert errors[0] <= 0.1 < errors[1]


def test_a_pinned_method_needs_more_than_the_best():
    error = {"rmse": 0.001}
    best = ogive.required_privacy(STATISTIC, records=RECORDS, error=error)
    path = ogive.required_privacy(Ecdf("x", (0, 100), bins=64, method="path"), records=RECORDS, error=error)
    assert path.epsilon > 1.5 * best.epsilon


def test_half_the_error_needs_about_twice_the_epsilon_and_twice_the_records_half_of_it():
    def epsilon(error, records):
        return float(ogive.required_privacy(quicker(), records=records, error={"ks": error}).epsilon)

    whole = epsilon(0.01, RECORDS)
    assert epsilon(0.005, RECORDS) == pytest.approx(2 * whole, rel=0.1)
    assert epsilon(0.01, 2 * RECORDS) == pytest.approx(whole / 2, rel=0.1)


def test_quantiles_and_auc_can_be_asked_for():
    bisection = Quantiles("x", bounds=(0, 100), bins=64, method="bisection")
    needed = ogive.required_privacy(bisection, records=RECORDS, error={"ks": 0.01})
    assert needed.epsilon > ogive.required_privacy(quicker(), records=RECORDS, error={"ks": 0.01}).epsilon
    roc = Roc("s", "y", bounds=(0, 1), bins=16)
    runs = size(20, part=8)
    found = ogive.required_privacy(roc, records=RECORDS, error={"auc": 0.02}, runs=runs)
    assert ogive.plan(roc, privacy=found, records=RECORDS, runs=runs).chosen.auc <= 0.02


def test_what_each_statistic_decides_by_can_be_asked_for_and_nothing_else():
    test = HosmerLemeshow("p", "y", groups=5, bins=32)
    needed = ogive.required_privacy(test, records=RECORDS, error={"visible": 0.02})
    assert 0.0198 < ogive.plan(test, privacy=needed, records=RECORDS).chosen.errors["visible"] <= 0.02
    found = ogive.required_privacy(Bounds("x"), records=RECORDS, error={"unseen": 0.01})
    assert 0.0095 < ogive.plan(Bounds("x"), privacy=found, records=RECORDS).chosen.errors["unseen"] <= 0.01
    for statistic, names in ((test, r"difference \(D\), visible"), (Bounds("x"), "unseen")):
        with pytest.raises(ParameterError, match=f"one of {names}, got 'ks'"):
            ogive.required_privacy(statistic, records=RECORDS, error={"ks": 0.01})


def test_a_band_below_the_sampling_error_is_refused_with_what_is_left():
    with pytest.raises(ParameterError, match=r"no guarantee up to 10000 brings band to 0.01: .* still be 0.019"):
        ogive.required_privacy(quicker(), records=RECORDS, error={"band": 0.01})
    assert ogive.required_privacy(quicker(), records=RECORDS, error={"band": 0.05}).epsilon < 1


def test_an_error_that_any_noise_meets_gets_the_smallest_that_can_be_drawn():
    statistic = Ecdf("x", (0, 100), bins=4, method=quicker().method)
    needed = ogive.required_privacy(statistic, records=10**12, error={"rmse": 0.9})
    assert needed.epsilon < Fraction("1e-9")


@pytest.mark.parametrize("threshold", [0.0001234, 0.9995, 1, 1.004, 77.7, 9990])
def test_the_search_finds_the_smallest_decimal_of_any_falling_error(threshold):
    calls = []

    def step(loss):
        calls.append(loss)
        return 1.0 if loss < threshold else 0.5

    def power(loss):
        calls.append(loss)
        return float(threshold / loss) ** 0.5 * 0.7

    for value in (step, power):
        found = _smallest(value, 0.7, "ks")
        assert value(found) <= 0.7
        assert value(_loss(_nearest(float(found)) - 1)) > 0.7
    assert len(calls) < 80


def test_a_decimal_has_three_digits_and_its_number_is_found_again():
    assert [str(_loss(step)) for step in (0, 1, 899, 900)] == ["1", "101/100", "999/100", "10"]
    for step in (-2700, -901, -1, 0, 450, 1799):
        assert _nearest(float(_loss(step))) == step
    assert _loss(_nearest(1.2341)) == Fraction("1.24")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"error": 0.1}, "error must be one name"),
        ({"error": {"ks": 0.1, "rmse": 0.1}}, "error must be one name"),
        ({"error": {"ks": 0}}, "above 0"),
        ({"error": {"ks": True}}, "above 0"),
        ({"error": {"auc": 0.1}}, r"error must name one of rmse, ks, ks_95 \(ks 95 %\), band"),
        ({"kind": "renyi"}, "kind must be"),
        ({"kind": "approx"}, "which needs it"),
        ({"delta": "1e-6"}, "delta belongs to"),
        ({"records": -1}, "records must be"),
    ],
)
def test_bad_arguments_get_one_clear_line(arguments, message):
    with pytest.raises(ParameterError, match=message):
        ogive.required_privacy(STATISTIC, **{"records": RECORDS, "error": {"ks": 0.01}, **arguments})


@pytest.mark.everything
def test_it_is_quick():
    statistic = Ecdf("x", (0, 100), bins=1024)
    ogive.required_privacy(statistic, records=RECORDS, error={"ks": 0.02})  # compiles
    start = time.process_time()
    ogive.required_privacy(statistic, records=RECORDS, error={"ks": 0.011})
    assert time.process_time() - start < 30


def test_progress_is_told():
    seen = []
    asked = {"statistic": Ecdf("x", (0, 100), bins=32), "records": 1000, "error": {"ks": 0.05}}
    found = ogive.required_privacy(**asked, progress=lambda *step: seen.append(step))
    assert found == ogive.required_privacy(**asked)
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert all(done <= whole for done, whole in seen)
