import itertools
import math
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.accounting import per_report_epsilon
from ogive.accounting.randomized_responses import responses_delta
from ogive.errors import ParameterError


def enumerated_delta(epsilon, own, reports):
    """Largest difference P(S) - e^epsilon Q(S) over all outputs of so many randomized responses."""
    truth = math.exp(own) / (1 + math.exp(own))
    delta = 0.0
    for told in itertools.product([0, 1], repeat=reports):
        p = math.prod(truth if bit else 1 - truth for bit in told)
        q = math.prod(1 - truth if bit else truth for bit in told)
        delta += max(0.0, p - math.exp(epsilon) * q)
    return delta


@pytest.mark.parametrize(
    ("reports", "delta", "exact", "advanced"),
    [
        (16, "1e-8", 0.06252503847, 0.03536213684),
        (64, "1e-8", 0.0253215331, 0.01768106842),
        (100, "1e-6", 0.0240110804, 0.01598332167),
    ],
)
def test_values_of_the_methods_file(reports, delta, exact, advanced):
    assert float(per_report_epsilon(1, delta, reports, "exact")) == pytest.approx(exact, rel=1e-9)
    assert float(per_report_epsilon(1, delta, reports, "advanced")) == pytest.approx(advanced, rel=1e-8)
    assert per_report_epsilon(1, delta, reports, "basic") == Fraction(1, reports)


@pytest.mark.parametrize("reports", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.1])
def test_exact_composition_is_tight(reports, epsilon, delta):
    found = float(per_report_epsilon(epsilon, delta, reports, "exact"))
    assert enumerated_delta(epsilon, found, reports) <= delta * (1 + 1e-12)
    assert enumerated_delta(epsilon, found * (1 + 1e-6), reports) > delta


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.floats(0, 3), st.floats(0.01, 2))
def test_the_delta_of_responses_is_that_of_all_their_outputs(reports, epsilon, own):
    found = responses_delta(Fraction(epsilon), Fraction(own), reports)
    assert found == pytest.approx(enumerated_delta(epsilon, own, reports), rel=1e-7, abs=1e-14)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200), st.floats(0.01, 8), st.sampled_from(["1e-12", "1e-8", "1e-3"]))
def test_exact_is_never_less_than_the_other_rules(reports, epsilon, delta):
    found = per_report_epsilon(epsilon, delta, reports, "exact")
    assert found >= per_report_epsilon(epsilon, delta, reports, "basic")
    try:
        assert found >= per_report_epsilon(epsilon, delta, reports, "advanced")
    except ParameterError:
        assert epsilon > (1 + math.sqrt(-2 * math.log(float(delta)))) * math.log(2) * (1 - 1e-6)


def test_without_a_delta_epsilons_add_up():
    assert per_report_epsilon("1/3", 0, 7, "exact") == Fraction(1, 21)


def test_advanced_composition_is_refused_where_it_is_not_proved():
    with pytest.raises(ParameterError, match=r"proved for epsilon up to 4\.9"):
        per_report_epsilon(7.84, 1e-8, 128, "advanced")
    with pytest.raises(ParameterError, match=r"proved for epsilon up to 3\.27"):
        per_report_epsilon(5.55, 1e-3, 64, "advanced")
    with pytest.raises(ParameterError, match="needs a delta above 0"):
        per_report_epsilon(1, 0, 128, "advanced")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0, 1, "basic"), "epsilon must be above 0"),
        ((501, 0, 1, "basic"), "at most 500"),
        ((1, 1, 1, "basic"), "delta must be 0"),
        ((1, -0.1, 1, "basic"), "delta must be 0"),
        ((1, 0, 0, "basic"), "reports must be a whole number from 1"),
        ((1, 0, True, "basic"), "reports must be a whole number from 1"),
        ((1, 0, 1, "best"), "composition must be one of basic, advanced, exact, got 'best'"),
    ],
)
def test_refuses_arguments_out_of_range(arguments, message):
    with pytest.raises(ParameterError, match=message):
        per_report_epsilon(*arguments)


def test_owners_need_no_library_for_it():
    code = (
        "import sys; from ogive.accounting import per_report_epsilon; per_report_epsilon(1, 1e-6, 4, 'exact'); "
        "print([name for name in ('numpy', 'scipy', 'numba', 'dp_accounting') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
