"""Conditions that estimates of groups state: none ends a release that was paid; some are refused before."""

import dataclasses

import pytest

from ogive import Central, Describe, Grouped, Ledger, Mean, PureDP, Subset, release
from ogive.columns.predicates import Comparison, predicate, within_group
from ogive.errors import ParameterError
from ogive.ledger.entries import plain_text
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.report import render_report
from ogive.statistics.kinds import read_estimate

ROWS = 100
MEAN = Mean("u", (0, 1))


def table(groups=("a", "b"), by="g"):
    return {by: list(groups) * ROWS, "u": [0, 1] * ROWS, "w": list(range(2 * ROWS))}


def asked(kind, groups=("a", "b"), by="g"):
    return Grouped(MEAN, by, groups) if kind == "mean" else Describe(values={"u": 1}, by=by, groups=groups)


def deep(levels):
    where = "w > 0"
    for _ in range(levels):
        where = f"u == 1 or w > 1 and ({where})"
    return where


def negated(levels):
    return "not " * levels + "w == 1"


@pytest.mark.each_value
@pytest.mark.parametrize("kind", ["mean", "describe"])
@pytest.mark.parametrize(
    ("groups", "by", "where"),
    [
        (("x" * 4000, "b"), "g", "w > 3"),
        (("\\'" * 2000, "b"), "g", "w > 3"),
        (("a", "b"), "`g`", "w > 3"),
        (("a", "b"), "g", deep(50)),
        (("a", "b"), "g", negated(49)),
        (("a", "b"), "g", {"w": list(range(900))}),
        (("a", "b"), "g", " or ".join(f"w == {each}" for each in range(300))),
    ],
    ids=["long", "quotes", "backticks", "deep", "not", "many values", "many comparisons"],
)
def test_conditions_that_are_accepted_are_stated_by_every_group(tmp_path, kind, groups, by, where):
    account = Ledger.open(tmp_path / "ledger.db").account("table", unit=PrivacyUnit(Adjacency.REPLACE))
    statistic = Subset(asked(kind, groups, by), where)
    found = release(statistic, trust=Central(table(groups, by)), privacy=PureDP(5), ledger=account)
    again = release(statistic, trust=Central(table(groups, by)), privacy=PureDP(5), ledger=account)
    again_opened = Ledger.open(tmp_path / "ledger.db").account("table", unit=PrivacyUnit(Adjacency.REPLACE))
    assert len(again_opened.history) == 1
    assert again.to_dict() == found.to_dict() == read_estimate(found.to_dict()).to_dict()


@pytest.mark.parametrize("kind", ["mean", "describe"])
@pytest.mark.parametrize("text", ["a\nb", "a\u2028b", "\u202ea", "a\0"])
def test_texts_of_several_lines_are_refused_before_anything_is_paid(kind, text):
    with pytest.raises(ParameterError, match="every group must be a text of one line"):
        asked(kind, (text, "b"))
    for groups in (("a", "b"), None):
        with pytest.raises(ParameterError, match="the column of groups must have a name of one line"):
            asked(kind, groups, by=text)
    with pytest.raises(ParameterError, match="must be one line"):
        Subset(MEAN, f"`{text}` is missing")


def test_what_nests_so_deeply_that_no_ledger_could_be_read_is_never_written():
    nested = []
    for _ in range(300):
        nested = [nested]
    with pytest.raises(ParameterError, match="may nest 256 levels deep"):
        plain_text({"asked": nested})
    with pytest.raises(ParameterError, match="nested more than 50 levels deep"):
        Subset(MEAN, deep(51))


def test_conditions_that_are_too_long_are_refused_before_anything_is_paid():
    with pytest.raises(ParameterError, match="at most 16000 characters"):
        Subset(MEAN, {"w": [letter * 4000 for letter in "abcde"]})
    long = {"w": [letter * 3000 for letter in "abcd"]}
    Subset(asked("mean"), long)
    for kind in ("mean", "describe"):
        with pytest.raises(ParameterError, match="more than 16000 characters"):
            Subset(asked(kind, ("x" * 4000, "b")), long)


WHERES = (
    "w > 3",
    "w > 3 and u == 1",
    "w > 3 or u == 1",
    "not w > 3",
    "not (w > 3 and u == 1)",
    "not not w > 3",
    "w not in (1, 2)",
    "u is not missing",
    "(w > 3 or u == 1) and (w < 9 or not u == 0)",
    "`a b` in ('x', 'it\\'s') and w == 1.5",
)


@pytest.mark.parametrize("where", WHERES)
def test_a_condition_within_a_group_is_what_reading_both_gives(where):
    """Stored estimates state it, so its text does not change."""
    group = Comparison("g", "==", "a")
    written = str(predicate(where))
    assert within_group(group, written) == str(predicate(f"{group} and ({written})"))


@pytest.mark.parametrize("hidden", [0, 1])
def test_groups_of_which_noise_hides_one_can_be_shown(hidden):
    mean = Mean("u", (0, 4))  # squares are measured too
    found = release(
        Grouped(mean, "g", ("a", "b")),
        trust=Central(table()),
        privacy=PureDP(5),
        adjacency=Adjacency.ADD_OR_REMOVE,
    )
    each = list(found.estimates)
    nobody = dataclasses.replace(each[hidden].measured, values=(-(10**15), 0, 0))
    each[hidden] = dataclasses.replace(each[hidden], measured=nobody)
    found = dataclasses.replace(found, estimates=tuple(each))
    assert [one.defined for one in found.estimates] == [place != hidden for place in (0, 1)]
    assert str(found).splitlines()[2 + hidden].split()[2:] == ["-"] * 4
    assert found._repr_html_()
    assert render_report([found], title="Groups")
    assert len(set(map(len, found.to_dict()["estimates"]))) == 1
    assert len(found.to_frame("pandas")) == 2
