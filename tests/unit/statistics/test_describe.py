"""What counts as the same question: its description does not depend on how it was written."""

import datetime
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogive import (
    Adjacency,
    Bounds,
    Central,
    Ecdf,
    Grid,
    HistogramQueries,
    HosmerLemeshow,
    Ledger,
    PrivacyUnit,
    Projection,
    PureDP,
    Quantiles,
    Roc,
)
from ogive.releasing.release import release
from ogive.statistics.base import canonical_class, describe
from ogive.strategies import design_tree

TREE = design_tree(4, privacy=PureDP(1), adjacency=Adjacency.REPLACE)


def text(statistic):
    """As a ledger compares it."""
    return json.dumps(describe(statistic), sort_keys=True)


SAME = {
    "numbers": [
        Ecdf("x", (0, 1)),
        Ecdf("x", (0.0, 1.0)),
        Ecdf("x", (-0.0, np.float32(1))),
        Ecdf("x", [Fraction(0), "1"]),
        Ecdf("x", (False, True)),
        Ecdf("x", (0, 1), bins=np.int64(1024)),
    ],
    "defaults": [
        Ecdf("x", (0, 1)),
        Ecdf("x", (0, 1), bins=1024, grid="linear", method="auto", smooth="auto", missing="refuse"),
        Ecdf("x", grid=Grid.linear(0, 1, bins=1024)),
        Ecdf("x", grid=Grid.linear(0, 1, bins=1024), bins=7),
    ],
    "an unbiased method": [
        Ecdf("x", (0, 1), method="hat_ls"),
        Ecdf("x", (0, 1), method="hat_ls", smooth="shrinkage"),
    ],
    "a curve_method by its name": [
        Ecdf("x", (0, 1), method="histogram"),
        Ecdf("x", (0, 1), method=HistogramQueries()),
        Ecdf("x", (0, 1), method=HistogramQueries(groups=30, accounting="joint")),
    ],
    "quantiles by a curve_method": [
        Quantiles("x", (0.5,), bounds=(0, 1), method="projection"),
        Quantiles("x", (0.5,), bounds=(0, 1), method=Projection()),
    ],
    "integers": [
        Ecdf("x", (0, 9), grid="integers"),
        Ecdf("x", (0, 9), grid="integers", bins=5),
        Ecdf("x", grid=Grid.integers(0, 9)),
    ],
    "dates": [
        Ecdf("day", ("2024-01-01", "2024-12-31")),
        Ecdf("day", (datetime.date(2024, 1, 1), datetime.date(2024, 12, 31))),
    ],
    "thresholds": [
        Ecdf("x", grid=Grid.explicit([1, 2, 5])),
        Ecdf("x", grid=Grid.explicit(np.array([1.0, 2.0, 5.0]), low=1)),
    ],
    "by hand": [Ecdf("x", (0, 1), bins=4, method=TREE), Ecdf("x", grid=Grid.linear(0, 1, bins=4), method=TREE)],
    "quantiles": [
        Quantiles("x", (0.25, 0.5), bounds=(0, 1)),
        Quantiles("x", np.array([0.25, 0.5]), bounds=(0.0, 1.0), confidence_level="0.95"),
        Quantiles("x", [Fraction(1, 4), 0.5], grid=Grid.linear(0, 1, bins=1024), confidence_level=Fraction(19, 20)),
    ],
    "roc": [
        Roc("s", "y", (0, 1)),
        Roc("s", "y", (0.0, 1.0), positive=True, negative=False),
        Roc("s", "y", (0, 1), positive=(1.0, True), negative=[np.int64(0)], smooth="shrinkage"),
        Roc("s", "y", grid=Grid.linear(0, 1, bins=1024), positive={1}, negative=-0.0, confidence_level="19/20"),
    ],
    "classes": [
        Roc("s", "y", (0, 1), positive=("a", "b", 2), negative=("c", 3)),
        Roc("s", "y", (0, 1), positive=[2.0, "b", "a"], negative={3, "c"}),
    ],
    "calibration": [
        HosmerLemeshow("p", "y"),
        HosmerLemeshow("p", "y", positive=True, negative=(False,), floor="1", groups=10, confidence_level="0.95"),
    ],
    "split": [HosmerLemeshow("p", "y", split=0.1), HosmerLemeshow("p", "y", split=Fraction(1, 10))],
    "paper": [
        HosmerLemeshow("p", "y", constants="paper"),
        HosmerLemeshow("p", "y", constants="paper", method="path", form="counts"),
    ],
    "bounds": [Bounds("x"), Bounds("x", base="2", largest=1 << 63, false_alarm=Fraction(1, 100))],
}

DIFFERENT = [
    *(spellings[0] for name, spellings in SAME.items() if name != "defaults"),
    Ecdf("z", (0, 1)),
    Ecdf("x", (0, 2)),
    Ecdf("x", (0, math.nextafter(1, 2))),
    Ecdf("x", (0, 1), bins=512),
    Ecdf("x", (1, 2), grid="geometric"),
    Ecdf("x", (1, 2)),
    Ecdf("x", (0, 1), method="path"),
    Ecdf("x", (0, 1), method="projection"),
    Ecdf("x", (0, 1), method=Projection(degree=6)),
    Ecdf("x", (0, 1), method=HistogramQueries(groups=20)),
    Ecdf("x", (0, 1), expected_records=1000),
    Ecdf("x", (0, 1), smooth="isotonic"),
    Ecdf("x", (0, 1), smooth="shrinkage"),
    Ecdf("x", (0, 1), missing="low"),
    Ecdf("day", ("2024-01-01T00:00:00", "2024-12-31T00:00:00")),
    Ecdf("x", grid=Grid.explicit([1, 2, 5], low=0)),
    Quantiles("x", (0.5, 0.25), bounds=(0, 1)),
    Quantiles("x", (0.25, 0.5), bounds=(0, 1), confidence_level=0.9),
    Roc("s", "y", (0, 1), positive="1", negative="0"),
    Roc("s", "y", (0, 1), positive=0, negative=1),
    Roc("s", "y", (0, 1), positive=2),
    Roc("s", "y", (0, 1), positive=("a", "b"), negative=("c", 3)),
    Roc("s", "y", (0, 1), public_labels=True),
    Roc("s", "y", (0, 1), budget="split"),
    Roc("s", "y", (0, 1), outside="clip"),
    HosmerLemeshow("p", "y", groups=5),
    HosmerLemeshow("p", "y", form="counts"),
    HosmerLemeshow("p", "y", df="fitted"),
    HosmerLemeshow("p", "y", floor=2),
    Bounds("x", base=10),
]


@pytest.mark.parametrize("spellings", SAME.values(), ids=SAME)
def test_the_same_question_is_described_alike(spellings):
    assert len(spellings) > 1
    assert {text(each) for each in spellings} == {text(spellings[0])}


def test_different_questions_are_described_differently():
    texts = [text(each) for each in DIFFERENT]
    assert len(set(texts)) == len(DIFFERENT)


NUMBERS = st.one_of(st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False), st.fractions())


@given(NUMBERS, NUMBERS)
def test_numbers_are_described_alike_if_and_only_if_they_are_equal(one, other):
    for again in (one, Fraction(one)):
        assert json.dumps(describe(again)) == json.dumps(describe(one))
    assert (json.dumps(describe(one)) == json.dumps(describe(other))) == (one == other)


LABELS = st.lists(st.one_of(st.booleans(), st.integers(-3, 3), st.sampled_from([0.0, 1.0, 0.5, "0", "1", "yes"])))


@given(LABELS, LABELS, st.randoms())
def test_classes_are_described_alike_if_and_only_if_they_hold_the_same_values(one, other, random):
    shuffled = [*one, *one[:2]]
    random.shuffle(shuffled)
    assert canonical_class(shuffled) == canonical_class(one)
    assert (json.dumps(canonical_class(one)) == json.dumps(canonical_class(other))) == (set(one) == set(other))


def test_no_plain_form_is_said():
    with pytest.raises(TypeError, match="object has no plain form"):
        describe(object())
    assert math.isnan(describe(math.nan))


def test_a_question_in_other_words_is_answered_for_free():
    data = {"s": np.linspace(0, 1, 400), "y": np.arange(400) % 2}
    first = Roc("s", "y", (0, 1), bins=16)
    again = Roc("s", "y", (0.0, 1.0), bins=16, positive=True, negative=False, smooth="shrinkage")
    other = Roc("s", "y", (0, 1), bins=16, positive=0, negative=1)
    with Ledger.open() as ledger:
        account = ledger.account("people", unit=PrivacyUnit(Adjacency.REPLACE), limit=PureDP(3))
        answers = [
            release(statistic, trust=Central(data), privacy=PureDP(price), ledger=account)
            for statistic, price in ((first, "0.5"), (again, "1/2"), (other, "0.5"))
        ]
        assert account.spent == PureDP(1), "the second answer was charged"
    assert answers[0] == answers[1]
    assert answers[0] != answers[2]
