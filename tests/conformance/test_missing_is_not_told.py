"""Under REPLACE no trust model tells how many values are missing: what would is refused, what is told is the same."""

import itertools
import math

import pytest

import ogive
from ogive import Adjacency, Simulation
from ogive.columns import Domain, Listed
from ogive.errors import ParameterError
from ogive.local.oracles import RandomizedResponse
from ogive.queries import ReportsQuery, RowValues

MODELS = {
    "central": Simulation.of(ogive.Central),
    "clear": Simulation.of(ogive.Clear),
    "local": Simulation.of(ogive.Local),
    "secagg": Simulation(ogive.SecAgg, parties=2),
    "servers": Simulation.of("servers"),
}
DROPPING = [
    ogive.Ecdf("x", (0, 4), bins=4, missing="drop"),
    ogive.Quantiles("x", (0.5,), bounds=(0, 4), bins=4, missing="drop"),
    ogive.Mean("x", (0, 4), missing="drop"),
    ogive.Sum("x", (0, 4), missing="drop"),
    ogive.Proportion("x", positive=1, missing="drop"),
    ogive.Histogram("x", values=(0, 1), other="count", missing="drop"),
    ogive.Crosstab("x", "y", rows=(0, 1, 2), columns=(0, 1), missing="drop"),
    ogive.GroupAuc(
        "y", "g", "x", (0, 1), bins=2, positive="a", negative="b", group_values=(0, 1, 2), missing_group="drop"
    ),
]
COUNTING = [
    ogive.Mean("x", (0, 4), missing="low"),
    ogive.Sum("x", (0, 4), missing=2),
    ogive.Proportion("x", positive=1, missing="no"),
    ogive.Count("x"),
    ogive.Histogram("x", values=(0, 1), other="count", missing="count"),
    ogive.Crosstab("x", "y", rows=(0, 1, 2), columns=(0, 1), missing="count"),
    ogive.GroupAuc("x", "y", "g", (0, 4), bins=4, group_values=("a", "b"), missing="low"),
]
TABLE = {"x": [0.0, 1.0, 2.0, 1.0, 0.0, 2.0] * 20, "y": [0, 1] * 60, "g": ["a", "b", "b"] * 40}


def served(statistics):
    """Each of some statistics with every trust model; owners do not report areas between groups."""
    pairs = itertools.product(statistics, MODELS)
    return [(each, model) for each, model in pairs if (each.name, model) != ("group_auc", "local")]


def named(each):
    return each if isinstance(each, str) else each.name


def ask(statistic, model, table, **named):
    privacy = None if model == "clear" else ogive.PureDP(1)
    return ogive.release(statistic, trust=MODELS[model].over(table), privacy=privacy, **named)


def without(places):
    """The table with missing values at some places."""
    return TABLE | {"x": [math.nan if place in places else value for place, value in enumerate(TABLE["x"])]}


@pytest.mark.parametrize(("statistic", "model"), served(DROPPING), ids=named)
def test_what_leaves_missing_values_out_of_a_public_number_is_refused(statistic, model):
    with pytest.raises(ParameterError, match="would publish how many values are missing"):
        ask(statistic, model, without({3}))


@pytest.mark.parametrize(
    "statistic", [ogive.Mean("x", (0, 4), missing="drop"), DROPPING[5]], ids=lambda each: each.name
)
def test_owners_of_public_groups_do_not_tell_it(statistic):
    with pytest.raises(ParameterError, match="would publish how many values are missing"):
        ask(ogive.Grouped(statistic, "g", ("a", "b")), "local", without({3}), public=["g"])


@pytest.mark.one_in(2)  # of five models, so that each is met
@pytest.mark.parametrize(("statistic", "model"), served(COUNTING), ids=named)
def test_what_is_told_exactly_is_the_same_whatever_is_missing(statistic, model):
    told = {
        ask(statistic, model, without(places)).provenance.total
        for places in (set(), {0}, {3, 4, 5}, set(range(0, 120, 2)))
    }
    assert told == {120}


@pytest.mark.parametrize("missing", ["drop", "refuse"])
def test_the_price_of_reports_is_for_a_report_of_every_owner(missing):
    column = Listed("x", (0, 1), missing=missing)
    query = ReportsQuery(RowValues(Domain((column,))), RandomizedResponse(2, 1))
    unit = ogive.PrivacyUnit(Adjacency.REPLACE)
    if missing == "refuse":
        assert query.price(unit) == ogive.PureDP(1)
        return
    with pytest.raises(ParameterError, match="would publish how many values are missing"):
        query.price(unit)
