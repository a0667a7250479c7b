"""The plan of the method that is taken has the numbers of that row, and computes no other."""

from itertools import pairwise

import pytest
from helpers.scope import size

from ogive.errors import ParameterError
from ogive.privacy import Adjacency, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.releasing.planning import plan
from ogive.releasing.planning.predict import Planner, plan_taken
from ogive.releasing.planning.text import tables
from ogive.statistics import Count, Ecdf, HosmerLemeshow, Mean, Quantiles, Roc
from ogive.statistics.prediction import Prediction
from ogive.trust import Central, SecAgg, Simulation

pytestmark = pytest.mark.usefixtures("fewer_shapes")

AGE = Ecdf("age", bounds=(0, 30), grid="integers")
PARTIES = Simulation(SecAgg, parties=3)
REPLACE = PrivacyUnit(Adjacency.REPLACE)


TAKEN = [
    AGE,
    Ecdf("age", bounds=(0, 30), grid="integers", method="path"),
    Quantiles("age", bounds=(0, 30), grid="integers", probabilities=(0.5,)),
    Roc("score", "label", bounds=(0, 1), bins=16),
    HosmerLemeshow("score", "label"),
    Mean("age", bounds=(0, 30)),
]


# each statistic under one trust model, and each model with three of them; `make test-all` takes all
@pytest.mark.parametrize(
    ("statistic", "trust"),
    [
        pytest.param(
            statistic,
            trust,
            id=f"{name}-{statistic.name} by {getattr(statistic, 'method', 'its only method')}",
            marks=() if number % 2 == turn else pytest.mark.everything,
        )
        for turn, (name, trust) in enumerate({"central": Central, "secagg": PARTIES}.items())
        for number, statistic in enumerate(TAKEN)
    ],
)
def test_the_row_is_the_chosen_one_of_the_whole_plan(statistic, trust, monkeypatch):
    # both plans simulate the same releases, so few of them tell whether their rows are equal
    monkeypatch.setattr(Prediction, "runs", size(Prediction.runs, part=20))
    whole = plan(statistic, privacy=PureDP(1), records=500, trust=trust)
    taken = plan_taken(statistic, privacy=PureDP(1), records=500, unit=REPLACE, trust=trust)
    assert taken.rows == (whole.chosen,)
    assert (taken.statistic, taken.unit, taken.trust) == (whole.statistic, whole.unit, whole.trust)


def test_errors_of_other_methods_are_not_computed(monkeypatch):
    asked = []
    errors = Planner.errors
    monkeypatch.setattr(Planner, "errors", lambda self, *given: asked.append(given) or errors(self, *given))
    plan_taken(AGE, privacy=PureDP(1), records=500, unit=REPLACE, trust=PARTIES)
    assert len(asked) == 1


def test_a_statistic_that_does_not_fit_is_refused():
    with pytest.raises(ParameterError, match="Gaussian noise"):
        plan_taken(
            Ecdf("age", bounds=(0, 30), method="sqrt"), privacy=PureDP(1), records=500, unit=REPLACE, trust=PARTIES
        )


def test_what_columns_say_is_said_once_and_by_whom_where_it_differs():
    asked = {"one": AGE, "two": AGE, "three": Mean("age", bounds=(0, 30)), "four": Count("age")}
    hidden = PrivacyUnit(Adjacency.ADD_OR_REMOVE)
    said = tables(
        {
            name: plan_taken(statistic, privacy=ZeroConcentratedDP(1), records=500, unit=hidden, trust=PARTIES)
            for name, statistic in asked.items()
        }
    )
    lines = said.splitlines()
    assert [line for line in lines if line in asked] == list(asked)
    assert sum(line.startswith("ks: ") for line in lines) == 1
    # the row that is taken stands below each heading
    ends = [*(lines.index(name) for name in asked), len(lines)]
    for first, last in pairwise(ends):
        assert any(line.startswith("*  ") for line in lines[first:last])
    assert sum(line.startswith("per party: ") for line in lines) == 1
    assert "noise of the mean: standard deviation of the noise of the mean" in said
    assert "noise of the count: standard deviation of the noise of the count" in said


@pytest.mark.parametrize(("method", "quantiles"), [("exponential", 4), ("joint", 9)])
def test_selections_of_more_quantiles_than_a_plan_compares_are_planned_where_they_are_asked_for(method, quantiles):
    shares = [k / 10 for k in range(1, quantiles + 1)]
    statistic = Quantiles("x", shares, bounds=(0, 1), bins=64, method=method)
    taken = [row.method for row in plan(statistic, records=9_000, privacy=PureDP(1)).rows if row.chosen]
    assert taken == [method]
    assert method not in Quantiles("x", shares, bounds=(0, 1), bins=64, method="hat_ls").alternatives()
