"""Messages that mark the Python they quote: shown without marks, passed on with them, safe from what users write."""

import copy
import pickle
from fractions import Fraction

import pytest

from ogive.errors import (
    DataError,
    Marked,
    OgiveError,
    ParameterError,
    PeerError,
    ScaleError,
    marks_of,
    parts,
    plain,
    quoted,
    unmarked,
)

MARKED = "`bounds` must be two numbers, for example `bounds=(0, 120)`"
SHOWN = "bounds must be two numbers, for example bounds=(0, 120)"


def test_a_message_is_shown_without_its_marks():
    problem = ParameterError(MARKED)
    assert (str(problem), problem.marked, problem.parameter) == (SHOWN, MARKED, "bounds")
    assert parts(MARKED) == [
        ("", False),
        ("bounds", True),
        (" must be two numbers, for example ", False),
        ("bounds=(0, 120)", True),
        ("", False),
    ]
    assert str(OgiveError()) == ""


@pytest.mark.parametrize(
    ("message", "parameter"),
    [
        ("choose their treatment with `missing='low'`", "missing"),
        ("grant `PureDP`, or leave out `delta=`", "delta"),
        ("use `'high'` or `low`", "low"),
        ("nothing is marked", None),
        ("a column 'a``missing``b'", None),
    ],
)
def test_the_parameter_is_the_first_that_is_marked(message, parameter):
    assert DataError(message).parameter == parameter
    assert DataError(message, parameter="bounds").parameter == "bounds"


@pytest.mark.parametrize("again", [copy.copy, lambda problem: pickle.loads(pickle.dumps(problem))])
def test_an_error_survives_processes_and_keeps_its_facts(again):
    problem = again(ScaleError("`epsilon` is too small", Fraction(3)))
    assert (str(problem), problem.marked, problem.parameter, problem.excess) == (
        "epsilon is too small",
        "`epsilon` is too small",
        "epsilon",
        3,
    )
    assert again(DataError("a fault", parameter="bounds")).parameter == "bounds"


def test_a_prefix_is_text_and_leaves_the_marks():
    problem = PeerError(MARKED).prefixed("the `file`")
    assert type(problem) is PeerError
    assert (str(problem), problem.parameter) == (f"the `file`: {SHOWN}", "bounds")
    assert [text for text, inside in parts(problem.marked) if inside] == ["bounds", "bounds=(0, 120)"]


@pytest.mark.parametrize("written", ["`missing='drop'`", "`", "``", "```a", "a`bins`b", "\\`bins\\`", "x" * 60 + "`"])
def test_what_users_write_marks_nothing(written):
    for safe, shown in ((plain(written), written), (quoted(written), None), (quoted([written]), None)):
        message = f"`column` is {safe}, not `bins`"
        assert [text for text, inside in parts(message) if inside] == ["column", "bins"]
        assert shown is None or unmarked(message) == f"column is {shown}, not bins"
    assert unmarked(quoted(written)) in {repr(written), repr(written)[:80] + "..."}
    assert parts(written) != [(written, False)], "a control: as it is, it would not be text"


def test_a_kept_message_is_text_that_knows_its_marks():
    kept = Marked(MARKED)
    assert (kept, marks_of(kept), marks_of("a `b`")) == (SHOWN, MARKED, "a ``b``")
    assert marks_of(pickle.loads(pickle.dumps(kept))) == MARKED
