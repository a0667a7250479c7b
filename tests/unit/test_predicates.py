"""Conditions: one text, one tree; what cannot be read is refused in one line, and nothing is evaluated."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogive.columns.predicates import (
    MOST_PARTS,
    All,
    Among,
    Comparison,
    Either,
    Missing,
    Not,
    columns_of,
    from_dict,
    predicate,
)
from ogive.errors import ParameterError


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("age >= 65", Comparison("age", ">=", 65)),
        ("age = 6.5e1", Comparison("age", "==", 65)),
        ("ward == 'A' and age < 3.5", All((Comparison("ward", "==", "A"), Comparison("age", "<", 3.5)))),
        ('ward in ("A", "B")', Among("ward", ("A", "B"))),
        ("ward in ['A']", Comparison("ward", "==", "A")),
        ("ward not in ('A', 'B')", All((Not(Among("ward", ("A", "B"))), Not(Missing("ward"))))),
        (
            "a == 1 or b == 2 and c == 3",
            Either((Comparison("a", "==", 1), All((Comparison("b", "==", 2), Comparison("c", "==", 3))))),
        ),
        ("not (a == 1 or b == 2)", Not(Either((Comparison("a", "==", 1), Comparison("b", "==", 2))))),
        ("`blood pressure` is missing", Missing("blood pressure")),
        ("x is not missing", Not(Missing("x"))),
        ("smoker == TRUE", Comparison("smoker", "==", True)),
        ("name == 'O\\'Neill'", Comparison("name", "==", "O'Neill")),
        ("x != -1", Comparison("x", "!=", -1)),
    ],
)
def test_a_text_is_read_as_its_tree_and_written_so_that_it_is_read_again(text, tree):
    assert predicate(text) == tree
    assert predicate(str(tree)) == tree
    assert from_dict(tree.to_dict()) == tree


def test_values_by_column_are_the_same_condition_as_the_text():
    assert predicate({"ward": "A"}) == predicate("ward == 'A'")
    assert predicate({"ward": ["A", "B"], "age": np.int64(3)}) == predicate("ward in ('A', 'B') and age == 3")
    assert predicate({"day": datetime.date(2024, 5, 1)}) == predicate("day == '2024-05-01'")
    assert predicate({"x": 2.0}) == predicate({"x": 2})
    assert predicate({"ward": {"B", "A"}}) == predicate({"ward": ["A", "B"]})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "a column's name"),
        ("ward ==", "a number, true, false, or a text in quotes at its end"),
        ("ward == A", "a text in quotes at 'A'"),
        ("ward", "a comparison such as"),
        (
            "size (cm) > 160",
            "spaces or signs, for example where='`size (cm)` > 160'",
        ),
        ("age > 3 and patient no == 'x'", "for example where=\"`patient no` == 'x'\""),
        ("mg/dl > 2", "at '/dl > 2'; put a column's name that has spaces or signs in backticks"),
        ("age and ward == 'A'", "a comparison such as"),
        ("(age) > 3", "a comparison such as"),
        ("age x", "a comparison such as"),
        ("ward in 'A'", "a list of values"),
        ("ward in ()", "a number, true, false"),
        ("(a == 1", "needs ) at its end"),
        ("a == 1 b == 2", "and, or, or the end at 'b == 2'"),
        ("a == 1 & b == 2", "cannot be read at '& b == 2'"),
        ("__import__('os').system('ls')", "cannot be read at"),
        ("a == 1 and and b == 2", "a column's name"),
        ("a == 1e999", "2^62"),
        ("not " * 60 + "a == 1", "not too many times"),
        ("(" * 60 + "a == 1" + ")" * 60, "nested more than"),
        ("a == 1 or " * 1000 + "a == 2", "characters"),
        ("a == 'two\nlines'", "compares column 'a' with"),
    ],
)
def test_what_is_no_condition_is_refused_in_one_line(text, wanted):
    with pytest.raises(ParameterError) as refused:
        predicate(text)
    assert wanted in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.parameter == "where"


@pytest.mark.parametrize(
    "given", [3, None, {}, [], {1: 2}, {"a": []}, {"a": float("nan")}, {"a": object()}, {"a": None}]
)
def test_what_is_no_text_and_no_values_is_refused(given):
    with pytest.raises(ParameterError, match="where"):
        predicate(given)
    for number in ({"a": 2**62}, {"a": 10**300}, {"a": 1e308}):
        with pytest.raises(ParameterError, match="a number of 2\\^62 or more"):
            predicate(number)
    with pytest.raises(ParameterError, match="cannot name a column with a backtick"):
        predicate({"a` == 1 or `b": 1})  # written out it would be another condition
    with pytest.raises(ParameterError, match="numbers, truth values, texts or dates"):
        predicate({"a": np.zeros((2, 2))})
    assert predicate({"a": np.array([1, 2])}) == predicate({"a": [1, 2]})
    with pytest.raises(ParameterError, match="more than"):
        predicate({"a": list(range(MOST_PARTS + 1))})


_VALUES = st.one_of(st.integers(-100, 100), st.booleans(), st.text("ab' \\\"", max_size=4), st.floats(-5, 5, width=16))
_NAMES = st.sampled_from(["a", "b", "two words", "not", "In"])
_LEAVES = st.one_of(
    st.builds(lambda name, sign, value: predicate({name: value}) if sign == "==" else Comparison(name, sign, value),
              _NAMES, st.sampled_from(["==", "!=", "<", ">="]), st.integers(-9, 9)),
    st.builds(lambda name, value: predicate({name: value}), _NAMES, _VALUES),
    st.builds(lambda name, values: predicate({name: values}), _NAMES, st.lists(_VALUES, min_size=1, max_size=3)),
    st.builds(Missing, _NAMES),
)  # fmt: skip


def _joined(parts):
    """What the reader makes of several conditions: those of one kind are one."""
    return st.builds(
        lambda kind, some: kind(
            tuple(part for each in some for part in (each.parts if isinstance(each, kind) else (each,)))
        ),
        st.sampled_from([All, Either]),
        st.lists(parts, min_size=2, max_size=3),
    )


@given(st.recursive(_LEAVES, lambda parts: st.one_of(st.builds(Not, parts), _joined(parts)), max_leaves=8))
def test_every_condition_is_written_so_that_it_is_read_again(tree):
    assert predicate(str(tree)) == tree
    assert from_dict(tree.to_dict()) == tree
    assert set(columns_of(tree)) <= {"a", "b", "two words", "not", "In"}


@pytest.mark.parametrize(
    "plain",
    [None, [], {}, {"and": []}, {"and": [{"missing": "a"}]}, {"or": "ab"}, {"not": None}, {"missing": 3},
     {"column": "a"}, {"column": "a", "sign": "~", "value": 1}, {"column": "a", "in": []},
     {"column": "a", "sign": "==", "value": None}],
)  # fmt: skip
def test_plain_data_that_is_no_condition_is_refused(plain):
    with pytest.raises(ParameterError):
        from_dict(plain)
    for _ in range(200):
        plain = {"not": plain}
    with pytest.raises(ParameterError):
        from_dict(plain)
