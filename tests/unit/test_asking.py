"""The loop that a release and a plan share: what is refused, what is paid for, and in which order."""

import numpy as np
import pytest

import ogive
from ogive import BudgetError, PureDP, UnsupportedError
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import ReportsQuery
from ogive.releasing.release import drive
from ogive.statistics.base import Terms
from ogive.strategies import design_tree
from ogive.trust import Central, Local
from ogive.trust.imagined import Imagined

ONE = PureDP(1)
COUNTS = np.full(8, 50)
CURVE = ogive.Ecdf("x", (0, 8), bins=8, method="tree_ls")
CHOSEN = ogive.Quantiles("x", [0.25, 0.5], bounds=(0, 8), bins=8, method="bisection")


def terms(privacy=ONE, refusal=None, **others):
    return Terms(privacy, PrivacyUnit(Adjacency.REPLACE), refusal or (lambda query: None), **others)


class Noting(Imagined):
    """An imagined holder that notes what happens to it."""

    def __init__(self, run=0):
        super().__init__(lambda aggregate: COUNTS, Adjacency.REPLACE, adding=1, honest=1, run=run)
        self.done = []

    def pay(self, loss, query):
        self.done.append(("pay", loss, query.measurement))

    def answer(self, query):
        self.done.append(("answer", None, query.measurement))
        return super().answer(query)


def test_every_measurement_is_paid_for_once_before_its_first_answer():
    holder = Noting()
    found = drive(CHOSEN, terms(), holder)
    names = [name for name, _, _ in holder.done]
    paid = [measured for name, _, measured in holder.done if name == "pay"]
    assert names[0] == "pay"
    assert len(set(paid)) == len(paid) == len(found.measured)
    assert names.count("answer") == len(found.queries) > len(paid)
    for number, (name, _, measured) in enumerate(holder.done):
        assert name == "pay" or measured in {each for what, _, each in holder.done[:number] if what == "pay"}
    assert [loss for name, loss, _ in holder.done if name == "pay"][-1] == found.price == PureDP(1)
    assert found.answer.total == COUNTS.sum()


def test_what_costs_too_much_or_is_not_served_is_neither_paid_for_nor_answered():
    tree = design_tree(8, privacy=PureDP(2), adjacency=Adjacency.REPLACE)
    dear = ogive.Ecdf("x", (0, 8), bins=8, method=tree)
    holder = Noting()
    with pytest.raises(
        BudgetError, match=r"^ecdf would cost epsilon = 2, more than the privacy guarantee epsilon = 1$"
    ):
        drive(dear, terms(), holder)
    with pytest.raises(UnsupportedError, match="not here"):
        drive(CURVE, terms(refusal=lambda query: "not here"), holder)
    assert holder.done == []
    drive(dear, terms(), holder, bounded=False)
    assert holder.done


def test_what_publishes_a_column_that_is_not_public_is_refused():
    groups = ogive.Boxplot("x", bounds=(0, 8), bins=8, by="g", groups=["a"], public_groups=True, method="resample")
    with pytest.raises(UnsupportedError, match="declare public columns"):
        drive(groups, terms(), Noting())


def test_an_imagined_holder_answers_alike_in_every_run_of_a_number_and_exactly_in_none():
    first, again, other, exact = (drive(CURVE, terms(), Noting(run)).estimate.raw for run in (3, 3, 4, None))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.array_equal(exact, np.cumsum(COUNTS))


def test_what_owners_do_has_no_exact_answer():
    reports = ogive.Ecdf("x", (0, 8), bins=8, method="reports")
    owners = terms(PureDP(4), Local.options_type().refusal, count=lambda: 400)
    found = drive(reports, owners, Noting())
    assert isinstance(found.queries[0], ReportsQuery)
    with pytest.raises(UnsupportedError, match="use trust local"):
        drive(reports, owners, Noting(run=None))


def test_a_release_and_an_imagined_one_ask_the_same():
    release = ogive.release(CURVE, trust=Central({"x": np.repeat(np.arange(8), 50)}), privacy=PureDP(1))
    imagined = drive(CURVE, terms(count=lambda: 400), Noting())
    assert release.strategy == imagined.estimate.strategy
    assert release.provenance.price == imagined.price
