"""What an account hides is one sentence, and every release under it obeys that sentence."""

import hashlib
import json
import re
import warnings

import numpy as np
import pytest
from helpers.schemas import fits

import ogive
from ogive import Adjacency, PrivacyUnit, PureDP
from ogive.kernels import measure_of
from ogive.releasing.accounts import statement
from ogive.report import render_report
from ogive.statistics.base import describe
from ogive.statistics.kinds import read_estimate

N = 400
RNG = np.random.default_rng(3)
TABLE = {
    "s": RNG.uniform(0, 1, N),
    "ill": np.arange(N) % 2,
    "stage": np.arange(N) % 3,
    "g": np.repeat(["a", "b"], N // 2),
}
FLIPPED = {**TABLE, "ill": np.where(np.arange(N) == 7, 0, TABLE["ill"])}
ROC = {"score": "s", "label": "ill", "bounds": (0, 1), "bins": 16}
PUBLISHING = {
    "auc": (ogive.Ustatistic(("s", "ill"), "auc", bounds=(0, 1), public_labels=True), "ill"),
    "vus": (ogive.Ustatistic(("s", "stage"), "vus", bounds={"s": (0, 1)}, categories={"stage": (0, 1, 2)}), "stage"),
    "roc": (ogive.Roc(**ROC, public_labels=True), "ill"),
    "boxplot": (ogive.Boxplot("s", (0, 1), bins=16, by="g", groups=("a", "b"), public_groups=True), "g"),
}
SAME = "with the same value in column ill (the number of records and column ill are public)"


@pytest.fixture
def as_before(monkeypatch):
    """Releases as earlier versions made them, which published exact counts under any unit."""

    def release(*arguments, **options):
        with monkeypatch.context() as earlier:
            earlier.setattr("ogive.releasing.release.undeclared", lambda query, unit: None)
            return ogive.release(*arguments, **options)

    return release


def account(ledger, public=()):
    return ledger.account("people", unit=PrivacyUnit(Adjacency.REPLACE, public=public), limit=PureDP(9))


def test_a_unit_names_its_public_columns_and_one_without_is_written_as_before():
    plain = PrivacyUnit(Adjacency.REPLACE)
    assert plain.to_dict() == {"adjacency": "replace", "person": None, "max_rows_per_person": 1}
    one, two = (PrivacyUnit(Adjacency.REPLACE, public=names) for names in ("ill", ["region", "ill", "ill"]))
    assert one.words == f"one record replaced by any other {SAME}"
    assert two.public == ("ill", "region")
    assert "the same values in columns ill and region (the number of records and columns" in two.words
    assert one != plain
    for unit in (plain, one, two):
        assert PrivacyUnit.from_dict(json.loads(json.dumps(unit.to_dict()))) == unit
    person = PrivacyUnit(Adjacency.REPLACE, "who", public=("ill",))
    assert "(the number of persons and column ill are public)" in person.words  # the whole: `word_cases.py`


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ({"adjacency": "add_or_remove", "public": "ill"}, "takes all its values with it, so no column is public"),
        ({"adjacency": "replace", "person": "who", "public": "who"}, "identifies the person, so it cannot be public"),
        ({"adjacency": "replace", "public": 3}, "public must name columns, for example"),
        ({"adjacency": "replace", "public": ("",)}, "public must name columns"),
        ({"adjacency": "replace", "public": ("two\nlines",)}, "public must name columns"),
    ],
)
def test_columns_that_cannot_be_public_are_refused(unit, message):
    with pytest.raises(ogive.ParameterError, match=message):
        PrivacyUnit(**unit)


@pytest.mark.parametrize("trust", [ogive.Central, ogive.Simulation(ogive.SecAgg, parties=3), ogive.Clear])
def test_a_misspelled_column_is_refused_before_an_account_declares_it(tmp_path, trust):
    ledger = f"sqlite:///{tmp_path / 'budget.db'}"
    with pytest.raises(ogive.DataError, match=r"'il'; did you mean 'ill'\? it has 's', 'ill', 'stage', 'g'"):
        ogive.Session(TABLE, name="people", limit=PureDP(1), ledger=ledger, public=("g", "il"), trust=trust)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("trust", [ogive.Central, ogive.Simulation(ogive.SecAgg, parties=3), ogive.Local])
def test_a_release_declares_no_column_that_its_records_lack(trust):
    curve, held = ogive.Ecdf("s", bounds=(0, 1), bins=8), ogive.Simulation.of(trust).over(TABLE)
    for lacking in ("il", ("ill", "il")):
        with pytest.raises(ogive.DataError, match="has no column 'il'; did you mean 'ill'"):
            ogive.release(curve, trust=held, privacy=PureDP(1), public=lacking)
    assert ogive.release(curve, trust=held, privacy=PureDP(1), public="ill").provenance.public == ("ill",)


def test_a_plan_of_a_session_needs_the_columns_that_its_release_would():
    session = ogive.Session(TABLE, limit=PureDP(1))
    for lacking in (ogive.Ecdf("ss", bounds=(0, 1)), ogive.Roc("s", "il", bounds=(0, 1))):
        with pytest.raises(ogive.DataError, match=r"has no column '(ss|il)'; did you mean"):
            session.plan(lacking, privacy=PureDP(1))


@pytest.mark.parametrize("name", PUBLISHING)
def test_exact_counts_of_a_column_that_is_not_declared_are_refused_before_anything_is_spent(name):
    statistic, column = PUBLISHING[name]
    with ogive.Ledger.open() as ledger:
        for unit in ((), ("s",)):
            with pytest.raises(ogive.UnsupportedError) as refusal:
                ogive.release(statistic, trust=ogive.Central(TABLE), privacy=PureDP(1), public=unit)
            assert f"how many records there are of each value of column {column}" in str(refusal.value)
            assert f"public={[*unit, column]!r}" in str(refusal.value)
            assert "\n" not in str(refusal.value)
        people = account(ledger)
        with pytest.raises(ogive.UnsupportedError, match="which the guarantee hides"):
            ogive.release(statistic, trust=ogive.Central(TABLE), privacy=PureDP(1), ledger=people)
        assert people.history == ()
        with pytest.raises(ogive.UnsupportedError, match="which the guarantee hides"):
            ogive.plan(statistic, privacy=PureDP(1), records=N, runs=2)
    found = ogive.release(statistic, trust=ogive.Central(TABLE), privacy=PureDP(1), public=column)
    assert found.provenance.public == (column,)
    assert f"column {column} are public" in str(found)
    assert fits(found.to_dict())["provenance"]["public"] == [column]
    assert read_estimate(json.loads(found.to_json())) == found
    page = render_report([found], title="x")
    assert f"Column {column} is public." in page
    assert f"but the same in column {column}" in page
    ogive.plan(statistic, privacy=PureDP(1), records=N, public=column, runs=2)


def test_what_a_unit_declares_decides_where_nothing_was_said():
    asked = {"bounds": (0, 1), "privacy": PureDP(1)}
    for public in ((), ("ill", "g")):
        session = ogive.Session(TABLE, limit=PureDP(9), public=public)
        auc = session.ustatistic(("s", "ill"), "auc", **asked)
        roc = session.roc("s", "ill", bins=16, **asked)
        boxes = session.boxplot("s", by="g", groups=("a", "b"), bins=16, **asked)
        curve = session.ecdf("s", bins=16, **asked)
        known = bool(public)
        assert (auc.classes == (N // 2, N // 2)) is known
        assert roc.public_labels is known
        assert boxes.public_groups is known
        for found in (auc, roc, boxes, curve):
            assert found.provenance.public == tuple(sorted(public))
        assert statement(session.account).splitlines()[0] == f"data: {session.unit.words}"
        # hiding more than the unit does is always possible
        assert not session.roc("s", "ill", bins=16, public_labels=False, **asked).public_labels


def test_a_label_that_changes_is_hidden_by_default_and_was_not(as_before):
    statistic, _ = PUBLISHING["auc"]
    earlier = [as_before(statistic, trust=ogive.Central(data), privacy=PureDP(1)) for data in (TABLE, FLIPPED)]
    assert earlier[0].classes == (N // 2, N // 2)
    assert earlier[1].classes == (N // 2 + 1, N // 2 - 1), "the control: one record's label is seen at once"
    now = [ogive.Session(data, limit=PureDP(1)) for data in (TABLE, FLIPPED)]
    found = [each.ustatistic(("s", "ill"), "auc", bounds=(0, 1), privacy=PureDP(1)) for each in now]
    assert {each.classes for each in found} == {None}


def test_an_account_keeps_its_public_columns_and_refuses_others(tmp_path):
    place = tmp_path / "books.db"
    with ogive.Session(TABLE, limit=PureDP(5), ledger=place, name="people", public="ill") as session:
        session.roc("s", "ill", bounds=(0, 1), bins=16, privacy=PureDP(1))
        part = session.part("north", {name: column[:100] for name, column in TABLE.items()})
        assert part.unit.public == ("ill",)
    with ogive.Session(TABLE, ledger=place, name="people") as session:
        assert session.unit.public == ("ill",)
        assert fits(session.ledger.export())["accounts"][0]["unit"]["public"] == ["ill"]
    for public in ((), ("g",)):
        with pytest.raises(ogive.LedgerError, match="release with the unit of the account"):
            ogive.Session(TABLE, ledger=place, name="people", public=public)


def test_one_call_declares_what_its_caller_says_is_public():
    arrays = {"bounds": (0, 1), "privacy": PureDP(1)}
    for known in (None, False, True):
        roc = ogive.roc(TABLE["s"], TABLE["ill"], bins=16, public_labels=known, **arrays)
        auc = ogive.ustatistic(TABLE["s"], "auc", labels=TABLE["ill"], public_labels=known, **arrays)
        for found in (roc, auc):
            assert found.provenance.public == (("label",) if known else ())
        assert (auc.classes is not None) is bool(known)
    counted = {"labels": TABLE["stage"], "categories": {"label": (0, 1, 2)}}
    with pytest.raises(ogive.ParameterError, match="use public_labels=True if each record's class is public"):
        ogive.ustatistic(TABLE["s"], "vus", **counted, **arrays)
    assert ogive.ustatistic(TABLE["s"], "vus", public_labels=True, **counted, **arrays).provenance.public == ("label",)
    added = ogive.roc(TABLE["s"], TABLE["ill"], bins=16, public_labels=True, adjacency="add_or_remove", **arrays)
    assert added.provenance.public == ()
    assert not added.public_labels


def test_an_account_that_published_exact_counts_says_so_and_what_it_really_hides(tmp_path, as_before):
    place = tmp_path / "books.db"
    statistic, _ = PUBLISHING["auc"]
    with ogive.Ledger.open(place) as ledger:
        people = account(ledger)
        asked = {"trust": ogive.Central(TABLE), "privacy": PureDP(1), "ledger": people}
        first = as_before(statistic, **asked)
        as_before(PUBLISHING["boxplot"][0], **asked)
        # what is published already is free, and a new question of the kind is refused
        again = ogive.release(statistic, **asked)
        assert again.value == first.value
        assert len(people.history) == 2
        with pytest.raises(ogive.UnsupportedError, match="which the guarantee hides"):
            ogive.release(PUBLISHING["roc"][0], **asked)
        line = "releases 1, 2 published .*of columns g and ill, .*protect only .*the same values in columns g and ill"
        assert re.search(line, statement(people).splitlines()[1])
        page = render_report([first], title="x", account=people)
        assert re.search("Protects one record .*with the same values in columns g and ill", page)
    with pytest.warns(ogive.AccountWarning, match="account 'people': releases 1, 2 published the exact counts"):
        session = ogive.Session(TABLE, ledger=place, name="people")
    with session:
        assert re.search(line, str(session))
        assert session.roc("s", "ill", bounds=(0, 1), bins=16, privacy=PureDP(1)).provenance.public == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ogive.Session(TABLE, limit=PureDP(1))


@pytest.mark.parametrize("name", PUBLISHING)
def test_a_file_of_an_earlier_version_is_read_with_what_it_publishes(name, as_before):
    statistic, column = PUBLISHING[name]
    found = as_before(statistic, trust=ogive.Central(TABLE), privacy=PureDP(1))
    assert "public" not in found.to_dict()["provenance"]
    again = read_estimate(found.to_dict())
    assert again.provenance.public == (column,)
    assert f"column {column} are public" in str(again)
    for curve in getattr(again, "curves", ()):
        assert curve.provenance == again.provenance


def test_questions_are_described_as_before():
    """The texts of an earlier version, by the first digits of their digests: an open choice stands for private."""
    labels, groups = {"bounds": (0, 1), "bins": 8}, {"by": "g", "groups": ("a", "b")}
    stages = {"bounds": {"s": (0, 1)}, "categories": {"z": (0, 1, 2)}}
    wanted = {
        "e224d1ed1ef0fe6e": [
            ogive.Roc("s", "y", **labels),
            ogive.Roc("s", "y", public_labels=False, **labels),
        ],
        "1f0f160bf5a1c3dc": [ogive.Roc("s", "y", public_labels=True, **labels)],
        "9ac799990bc488ce": [ogive.Boxplot("x", **labels, **groups)],
        "564a51b56e3d3571": [ogive.Boxplot("x", **labels)],
        "985e5a498d7f9885": [ogive.Boxplot("x", public_groups=True, **labels, **groups)],
        "fb03222ee73d44e1": [
            ogive.Ustatistic(("s", "y"), "auc", bounds=(0, 1), public_labels=True),
            ogive.Ustatistic(("s", "y"), measure_of("auc"), bounds=(0, 1)),
        ],
        "12f1a685624102e0": [
            ogive.Ustatistic(("s", "y"), "auc", bounds=(0, 1)),
            ogive.Ustatistic(("s", "y"), "auc", bounds=(0, 1), public_labels=False),
        ],
        "ceabdb071bb75ad6": [
            ogive.Ustatistic(("s", "y"), "auc", bounds=(0, 1), method="hierarchy"),
            ogive.Ustatistic(("s", "y"), "auc", bounds=(0, 1), method="hierarchy", public_labels=True),
        ],
        "d90ec1db7088a19a": [ogive.Ustatistic(("s", "z"), "vus", **stages)],
        "68d4c7e5a35949dc": [ogive.Ustatistic("x", "gini", bounds=(0, 1))],
    }
    for digest, statistics in wanted.items():
        for statistic in statistics:
            text = json.dumps(describe(statistic), sort_keys=True, separators=(",", ":"))
            assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest


@pytest.mark.parametrize("values", [(0.1, 0.2), (0.3, 0.4), (0.9, 0.05)])
def test_the_row_of_a_person_that_is_kept_is_told_by_no_exact_count(values):
    """Which of two rows of person 7 is kept depends on their private values, and the rows differ in the label."""
    table = {
        "who": np.r_[np.arange(40), 7],
        "ill": np.r_[np.arange(40) % 2, 0],
        "s": np.r_[np.linspace(0.05, 0.9, 40), values[1]],
    }
    table["s"][7] = values[0]
    session = ogive.Session(table, limit=PureDP(9), person="who", public=("ill",))
    assert session.roc("s", "ill", bounds=(0, 1), bins=8, privacy=PureDP(1)).public_labels is False
    assert session.ustatistic(("s", "ill"), "auc", bounds=(0, 1), privacy=PureDP(1)).classes is None
    for ask in (
        lambda: session.roc("s", "ill", bounds=(0, 1), bins=8, privacy=PureDP(2), public_labels=True),
        lambda: session.ustatistic(("s", "ill"), "auc", bounds=(0, 1), privacy=PureDP(2), public_labels=True),
    ):
        with pytest.raises(ogive.UnsupportedError, match="which row of a person is kept depends on"):
            ask()
    assert session.spent == PureDP(2)
