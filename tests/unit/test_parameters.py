"""A field that a statistic gets later leaves stored questions what they were."""

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

import ogive
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.core.checks import added, completed, is_added, written_fields
from ogive.ledger.entries import plain_text, question_digest
from ogive.privacy import Adjacency, PrivacyUnit, PureDP
from ogive.queries import CurveQuery
from ogive.statistics.base import describe
from ogive.statistics.curve.estimate import Curve
from ogive.strategies import design_tree

TABLE = {"age": np.arange(40) % 10}


def ask(statistic, terms):
    """A curve of ten bins; the statistics below differ in nothing but what they are called with."""
    binning = Binning(statistic.column, Grid.integers(0, 9))
    strategy = design_tree(10, privacy=terms.privacy, adjacency=terms.adjacency)
    answer = yield CurveQuery(binning, strategy)
    counts = np.maximum.accumulate(np.clip(strategy.estimate(answer.values, answer.total), 0, answer.total))
    return Curve(binning.grid, counts, raw=counts, strategy=strategy, adjacency=terms.adjacency, total=answer.total,
                 smoothing="isotonic", column=statistic.column)  # fmt: skip


@dataclass(frozen=True)
class Tiny:
    """A statistic as it was when questions were stored."""

    name: ClassVar[str] = "tiny"
    column: str

    def questions(self, terms):
        return ask(self, terms)


@dataclass(frozen=True)
class Grown:
    """The same statistic after it got two options."""

    name: ClassVar[str] = "tiny"
    column: str
    ties: str = added("below")
    share: Fraction = added(Fraction(1, 2))

    def questions(self, terms):
        return ask(self, terms)


@dataclass(frozen=True)
class Changed:
    """The same statistic after one of the options got another default."""

    name: ClassVar[str] = "tiny"
    column: str
    ties: str = added("below", default="above")
    flag: bool = added(1, default=True)


@dataclass(frozen=True)
class Careless:
    """The same statistic where nobody thought of stored questions."""

    name: ClassVar[str] = "tiny"
    column: str
    ties: str = "below"


def digest(statistic):
    return question_digest(plain_text(describe(statistic)))


def test_an_added_field_at_what_was_meant_before_is_not_described():
    assert describe(Grown("age")) == describe(Tiny("age")) == {"name": "tiny", "column": "age"}
    assert describe(Grown("age", ties="below", share=Fraction("0.5"))) == describe(Tiny("age"))
    assert digest(Grown("age")) == digest(Tiny("age"))


def test_any_other_value_of_an_added_field_makes_another_question():
    assert describe(Grown("age", ties="above")) == {"name": "tiny", "column": "age", "ties": "above"}
    assert describe(Grown("age", share=Fraction(1, 4))) == {"name": "tiny", "column": "age", "share": 0.25}
    assert len({digest(Grown("age", *values)) for values in ((), ("above",), ("below", Fraction(1, 4)))}) == 3


def test_a_later_default_is_described_and_the_first_one_still_is_not():
    assert describe(Changed("age"))["ties"] == "above"
    assert "ties" not in describe(Changed("age", ties="below"))


def test_true_is_not_taken_for_one():
    assert describe(Changed("age"))["flag"] is True
    assert "flag" not in describe(Changed("age", flag=1))


def test_a_field_that_is_not_declared_so_makes_a_new_question():
    """The control."""
    assert digest(Careless("age")) != digest(Tiny("age"))


def test_what_is_read_back_means_what_was_meant_when_it_was_written():
    old, new = {"column": "age"}, {"column": "age", "ties": "above"}
    assert Changed(**completed(Changed, old)) == Changed("age", ties="below", flag=1)
    assert Changed(**completed(Changed, new)).ties == "above"
    for statistic in (Changed("age"), Changed("age", ties="below"), Grown("age", share=Fraction(1, 4))):
        assert type(statistic)(**completed(type(statistic), written_fields(statistic))) == statistic


def test_only_added_fields_are_marked_and_the_order_of_fields_stays():
    assert [is_added(field) for field in dataclasses.fields(Grown)] == [False, True, True]
    assert list(written_fields(Grown("age", "above", Fraction(1, 4)))) == ["column", "ties", "share"]
    assert not any(map(is_added, dataclasses.fields(Careless)))


def test_a_question_that_a_ledger_answered_is_free_after_the_statistic_grew():
    def release(statistic, account):
        trust = ogive.Central(TABLE)
        return ogive.release(statistic, trust=trust, privacy=PureDP(1), ledger=account)

    with ogive.Ledger.open() as ledger:
        account = ledger.account("any", unit=PrivacyUnit(Adjacency.REPLACE), fingerprint=ledger.fingerprint(b"any"))
        before = release(Tiny("age"), account)
        assert release(Grown("age"), account).to_dict() == before.to_dict()
        assert account.spent == PureDP(1)
        other = release(Grown("age", ties="above"), account)
        assert account.spent == PureDP(2)
        assert other.provenance.release_id != before.provenance.release_id


def test_descriptions_of_methods_and_terms_leave_out_added_fields_too():
    @dataclass(frozen=True)
    class Terms:
        parties: int
        rejoining: int = added(0)

    assert written_fields(Terms(3)) == {"parties": 3}
    assert written_fields(Terms(3, 1)) == {"parties": 3, "rejoining": 1}
    with pytest.raises(TypeError):
        Terms(**completed(Terms, {"parties": 3, "unheard_of": 1}))
