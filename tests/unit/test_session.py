"""One data set with one budget: what a session spends, shows, refuses and remembers."""

import copy
import inspect
import pickle
import sqlite3
import threading

import numpy as np
import pytest
from helpers.scope import size

import ogive
from ogive import (
    AccountWarning,
    Adjacency,
    ApproxDP,
    BudgetError,
    Clear,
    DataError,
    Ecdf,
    LedgerError,
    ParameterError,
    PureDP,
    Session,
)
from ogive.releasing.verbs import Verbs
from ogive.statistics.methods.base import EVERY, Shapes

RNG = np.random.default_rng(5)
SICK = RNG.random(4_000) < 0.3
RISK = 1 / (1 + np.exp(-RNG.normal(1.5 * SICK - 1)))
PEOPLE = {
    "age": RNG.integers(18, 90, 4_000),
    "risk": RISK,
    "sick": SICK,
    "who": np.arange(4_000) // 2,
}
HALF, ONE, THREE = PureDP("0.5"), PureDP(1), PureDP(3)
AGE = {"bounds": (0, 120), "bins": 120}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "patients.csv"
    path.write_text("age,who\n" + "".join(f"{a},{w}\n" for a, w in zip(PEOPLE["age"], PEOPLE["who"], strict=True)))
    return path


@pytest.fixture
def ledger(tmp_path):
    return f"sqlite:///{tmp_path / 'budget.db'}"


def test_verbs_are_those_of_the_one_call_functions():
    """Arguments and defaults are the same; columns stand for arrays, and the session says the rest."""
    for name in ("ecdf", "quantiles", "roc", "hosmer_lemeshow", "find_bounds"):
        function = inspect.signature(getattr(ogive, name)).parameters
        verb = inspect.signature(getattr(Session, name)).parameters
        named = {key: each for key, each in function.items() if each.kind is each.KEYWORD_ONLY}
        missing, own = {"adjacency", "trust", "na_values"}, {"where"}
        own |= {"by", "by_groups" if name == "hosmer_lemeshow" else "groups"}
        assert {key for key in verb if verb[key].kind is verb[key].KEYWORD_ONLY} == (named.keys() - missing) | own
        for key, parameter in named.items():
            if key == "privacy":
                assert verb[key].default is None, "a forgotten privacy is met by advice, not by a TypeError"
            elif key not in missing:
                assert verb[key].default == parameter.default, key
    assert all(callable(getattr(Session, name)) for name in vars(Verbs) if not name.startswith("_"))


def test_every_release_is_paid_from_one_budget():
    session = Session(PEOPLE, limit=THREE)
    assert (session.limit, session.spent, session.remaining, session.history) == (THREE, None, THREE, ())
    curve = session.ecdf("age", **AGE, privacy=HALF)
    deciles = session.quantiles("age", **AGE, privacy=HALF)
    roc = session.roc("risk", "sick", bounds=(0, 1), privacy=HALF)
    fit = session.hosmer_lemeshow("risk", "sick", privacy=HALF)
    found = session.find_bounds("age", privacy=HALF)
    assert (session.spent, session.remaining) == (PureDP("2.5"), HALF)
    assert [entry.statistic for entry in session.history] == ["ecdf", "quantiles", "roc", "calibration", "bounds"]
    assert [entry.state for entry in session.history] == ["released"] * 5
    assert abs(curve(54) - np.mean(PEOPLE["age"] <= 54)) < 0.05
    assert abs(roc.auc - 0.86) < 0.05
    assert len(deciles.values) == 9
    assert fit.defined
    assert [type(answer) for answer in session.answers] == [type(each) for each in (curve, deciles, roc, fit, found)]
    assert found.low <= 18 <= 89 <= found.high
    assert session.answers[0] == curve


def test_what_does_not_fit_is_refused_and_costs_nothing():
    session = Session(PEOPLE, limit=ONE)
    session.ecdf("age", **AGE, privacy=HALF)
    with pytest.raises(BudgetError, match=r"has epsilon = 0.5 left of epsilon = 1, and this .* would cost epsilon = 1"):
        session.quantiles("age", **AGE, privacy=ONE)
    assert session.remaining == HALF
    session.quantiles("age", **AGE, privacy=HALF)
    assert session.remaining is None
    assert "remaining  nothing" in str(session)


def test_a_repeated_question_is_free_and_the_statement_says_so():
    session = Session(PEOPLE, limit=ONE)
    first = session.ecdf("age", **AGE, privacy=HALF)
    again = session.ecdf("age", **AGE, privacy=HALF)
    assert again == first
    assert (session.spent, len(session.history)) == (HALF, 1)
    assert "asked 2 times, paid once" in str(session)
    other = session.ecdf("age", bounds=(0, 120), bins=119, privacy=HALF)
    assert other != first
    assert session.spent == ONE


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        (None, "give a privacy guarantee, for example privacy=PureDP"),
        (0.5, "privacy must be PureDP, ApproxDP"),
    ],
)
def test_forgotten_or_bare_privacy_spends_nothing(privacy, words):
    session = Session(PEOPLE, limit=ONE)
    with pytest.raises(ParameterError, match=words):
        session.ecdf("age", **AGE, privacy=privacy)
    assert session.spent is None


def test_bad_columns_and_statistics_spend_nothing():
    session = Session(PEOPLE, limit=ONE)
    with pytest.raises(ogive.DataError, match="did you mean 'age'"):
        session.ecdf("agee", **AGE, privacy=HALF)
    with pytest.raises(ParameterError, match="statistic must be one such as Ecdf"):
        session.release("age", privacy=HALF)
    with pytest.raises(ParameterError, match="statistic must be one such as Ecdf"):
        session.plan(Ecdf)
    assert session.history == ()


def test_the_budget_outlives_the_session(table, ledger):
    with Session(table, limit=ONE, ledger=ledger) as session:
        curve = session.ecdf("age", **AGE, privacy=HALF)
        assert session.name == "patients"
    with Session(table, ledger=ledger) as session:
        assert (session.limit, session.remaining) == (ONE, HALF)
        assert session.ecdf("age", **AGE, privacy=HALF) == curve
        assert session.remaining == HALF
        with pytest.raises(BudgetError):
            session.ecdf("age", **AGE, privacy=ONE)


def test_a_release_that_was_cut_off_is_finished_with_the_same_noise_for_the_same_price(table, ledger, monkeypatch):
    """An interrupt between noise and record: the spend stays, the answer is not lost, nothing is paid twice."""
    from ogive.ledger import Reservation

    noisy = []

    def interrupt(self, estimate):
        noisy.append(estimate)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, Session(table, limit=ONE, ledger=ledger) as session:
        patch.setattr(Reservation, "record", interrupt)
        with pytest.raises(KeyboardInterrupt):
            session.ecdf("age", **AGE, privacy=HALF)
        assert session.spent == HALF
        assert "not finished: ask again at no further cost" in str(session)
    with Session(table, ledger=ledger) as session:
        curve = session.ecdf("age", **AGE, privacy=HALF)
        assert (session.spent, len(session.history)) == (HALF, 1)
        assert curve.to_dict()["raw"] == noisy[0]["raw"]
        assert "not finished" not in str(session)


def test_colleagues_share_a_budget(table, ledger):
    with Session(table, limit=ONE, ledger=ledger) as mine, Session(table, limit=ONE, ledger=ledger) as theirs:
        mine.ecdf("age", **AGE, privacy=HALF)
        assert theirs.remaining == HALF
        theirs.quantiles("age", **AGE, privacy=HALF)
        with pytest.raises(BudgetError, match="has nothing left"):
            mine.ecdf("age", bounds=(0, 100), privacy=PureDP("0.1"))


def test_two_threads_never_spend_more_than_there_is(table, ledger):
    done, refused = [], []

    def work(number):
        with Session(table, limit=ONE, ledger=ledger) as session:
            try:
                done.append(session.ecdf("age", bounds=(0, 100 + number), bins=20, privacy=HALF))
            except BudgetError:
                refused.append(number)

    with Session(table, limit=ONE, ledger=ledger) as session:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(done), len(refused)) == (2, 3)
        assert session.spent == ONE


def test_other_records_under_one_name_are_refused_unless_they_are_news(table, ledger):
    with Session(table, limit=ONE, ledger=ledger) as session:
        old = session.ecdf("age", **AGE, privacy=HALF)
    table.write_text(table.read_text() + "50,5000\n")
    with pytest.raises(LedgerError, match="updated=True"):
        Session(table, ledger=ledger)
    with Session(table, ledger=ledger, updated=True) as session:
        assert session.spent == HALF
        assert session.ecdf("age", **AGE, privacy=HALF) != old, "other records are another question"
        assert session.remaining is None


def test_limits_are_said_once_and_kept(table, ledger):
    with pytest.raises(ParameterError, match="the limit of the account, for example limit=PureDP"):
        Session(table, ledger=ledger)
    assert not (table.parent / "budget.db").exists(), "a slip of the pen makes no new books"
    for _ in range(2):
        with Session(table, limit=ONE, ledger=ledger) as session:
            session.ecdf("age", **AGE, privacy=HALF)
    for other in (THREE, ApproxDP(1, "1e-9")):
        with pytest.raises(LedgerError, match="has the limit epsilon = 1, not"):
            Session(table, limit=other, ledger=ledger)
    with pytest.raises(LedgerError, match="already have the account 'patients'; use it: name='patients'"):
        Session(table, ledger=ledger, name="others")
    with pytest.raises(ParameterError, match="'others' is new in the ledger"):
        Session(PEOPLE, ledger=ledger, name="others")
    with pytest.raises(ParameterError, match="limit must be PureDP"):
        Session(table, limit=3, ledger=ledger)
    with pytest.raises(ParameterError, match=r"^give the limit of the account"):
        Session(PEOPLE)


def test_data_frames_need_a_name_in_a_lasting_ledger(ledger):
    with pytest.raises(ParameterError, match=r"name the data set .*for example name='patients'"):
        Session(PEOPLE, limit=ONE, ledger=ledger)
    for bad in ("", " ", 5):
        with pytest.raises(ParameterError, match="name must be what the data set is called"):
            Session(PEOPLE, limit=ONE, ledger=ledger, name=bad)
    with Session(PEOPLE, limit=ONE, ledger=ledger, name="people") as session:
        assert session.name == "people"


@pytest.mark.parametrize(
    ("file", "name"),
    [("a.csv", "a"), ("b.c.csv.gz", "b.c"), ("d.PARQUET", "d"), ("e", "e"), ("patients.2024.tsv", "patients.2024")],
)
def test_files_are_called_by_their_names(file, name):
    from ogive.releasing.accounts import name_of

    assert name_of(f"some/where/{file}", None, lasting=True) == name


def test_persons_with_several_records_are_one_unit(table, ledger):
    with Session(table, limit=ONE, ledger=ledger, person="who", max_rows_per_person=2) as session:
        assert session.unit.adjacency is Adjacency.ADD_OR_REMOVE
        curve = session.ecdf("age", **AGE, privacy=HALF)
        assert curve.provenance.unit == session.unit
    with pytest.raises(LedgerError, match="protects one person"):
        Session(table, ledger=ledger)
    with Session(table, ledger=ledger, person="who", max_rows_per_person=2) as session:
        assert session.remaining == HALF
    with pytest.raises(ParameterError, match="several rows per person"):
        Session(table, limit=ONE, person="who", max_rows_per_person=2, adjacency=Adjacency.REPLACE)


def test_the_account_knows_its_adjacency(table, ledger):
    with Session(table, limit=ONE, ledger=ledger, adjacency="add_or_remove") as session:
        assert session.unit.adjacency is Adjacency.ADD_OR_REMOVE
        session.ecdf("age", **AGE, privacy=HALF)
    with Session(table, ledger=ledger) as session:
        assert session.unit.adjacency is Adjacency.ADD_OR_REMOVE
    with pytest.raises(LedgerError, match="release with the unit of the account"):
        Session(table, ledger=ledger, adjacency=Adjacency.REPLACE)


def test_parts_are_paid_in_parallel():
    north, south = ({"age": PEOPLE["age"][half]} for half in (slice(None, 2000), slice(2000, None)))
    session = Session(PEOPLE, limit=ONE, name="all")
    session.part("north", north).ecdf("age", **AGE, privacy=HALF)
    in_south = session.part("south", south)
    in_south.ecdf("age", **AGE, privacy=HALF)
    assert session.spent == HALF
    assert "part north" in str(session)
    assert "part north" not in str(in_south)
    session.ecdf("age", **AGE, privacy=HALF)
    assert (session.remaining, in_south.remaining) == (None, None)
    with pytest.raises(BudgetError):
        in_south.quantiles("age", **AGE, privacy=PureDP("0.1"))
    with pytest.raises(ParameterError, match="belongs to the part 'south'"):
        in_south.part("east", south)
    with pytest.raises(LedgerError, match="updated=True"):
        session.part("north", {"age": PEOPLE["age"][:1000]})
    with pytest.raises(LedgerError, match="already have the account 'all', part 'south'"):
        session.part("north", south, updated=True)


def test_a_part_may_begin_the_account_of_the_whole(ledger):
    half = {"age": PEOPLE["age"][:2000]}
    with Session(PEOPLE, limit=ONE, ledger=ledger, name="all") as session:
        part = session.part("north", half)
        assert (part.limit, part.remaining, session.remaining) == (ONE, ONE, ONE)
        part.ecdf("age", **AGE, privacy=HALF)
        assert (session.spent, session.remaining, session.limit) == (HALF, HALF, ONE)
        session.ecdf("age", **AGE, privacy=HALF)
        assert part.remaining is None


def test_a_first_release_that_fails_leaves_no_account(table, ledger):
    with Session(table, limit=THREE, ledger=ledger) as session:
        with pytest.raises(ogive.DataError):
            session.ecdf("agee", **AGE, privacy=HALF)
        with pytest.raises(BudgetError):
            session.ecdf("age", **AGE, privacy=PureDP(4))
        assert session.ledger.accounts() == ()
        assert (session.limit, session.remaining, session.history) == (THREE, THREE, ())
    with Session(table, limit=ONE, ledger=ledger, adjacency="add_or_remove") as session:
        session.ecdf("age", **AGE, privacy=HALF)
        assert session.remaining == HALF


def test_a_part_can_be_opened_by_itself(ledger):
    half = {"age": PEOPLE["age"][:2000]}
    with Session(half, limit=ONE, ledger=ledger, name="all", part="north") as session:
        session.ecdf("age", **AGE, privacy=HALF)
        assert session.account.part_name == "north"
    with Session(PEOPLE, ledger=ledger, name="all") as session:
        assert session.spent == HALF


def test_clear_spends_and_records_nothing(table, tmp_path, ledger):
    session = Session(table, trust=Clear, ledger=ledger)
    curve = session.ecdf("age", **AGE)
    assert curve(54) == np.mean(PEOPLE["age"] <= 54)
    assert (session.limit, session.spent, session.remaining, session.account) == (None, None, None, None)
    assert (session.history, session.answers) == ((), ())
    assert not (tmp_path / "budget.db").exists()
    assert "Not private" in str(session)
    with pytest.raises(ParameterError, match="has no budget"):
        session.part("north", PEOPLE)


def test_trust_is_a_kind_of_holder_not_one_with_other_data():
    with pytest.raises(ParameterError, match="trust must be the type of a trust model"):
        Session(PEOPLE, limit=ONE, trust=ogive.Central(PEOPLE))


@pytest.fixture
def fewer_imagined_releases(monkeypatch):
    """Plans imagine one release of each public shape, not four."""
    monkeypatch.setattr("ogive.statistics.ecdf.plan._SHAPES", Shapes(EVERY.names, runs=size(4, part=1)))


@pytest.mark.usefixtures("fewer_imagined_releases")
def test_a_plan_spends_nothing_and_knows_what_is_public():
    session = Session(PEOPLE, limit=ONE)
    plan = session.plan(Ecdf("age", **AGE), privacy=HALF)
    assert plan.records == 4_000
    assert plan.chosen is not None
    assert session.history == ()
    private = Session(PEOPLE, limit=ONE, adjacency=Adjacency.ADD_OR_REMOVE)
    with pytest.raises(ParameterError, match="records is private; give an approximate number"):
        private.plan(Ecdf("age", **AGE), privacy=HALF)
    assert private.plan(Ecdf("age", **AGE), privacy=HALF, records=5_000).records == 5_000


@pytest.mark.usefixtures("fewer_imagined_releases")
def test_the_plan_foretells_the_method_of_the_release():
    session = Session(PEOPLE, limit=ONE)
    statistic = Ecdf("age", **AGE)
    (row,) = [row for row in session.plan(statistic, privacy=HALF).rows if row.chosen]
    assert session.release(statistic, privacy=HALF).provenance.method == row.method


def test_a_closed_session_releases_nothing(table, ledger):
    with Session(table, limit=ONE, ledger=ledger) as session:
        pass
    with pytest.raises(LedgerError, match="this session is closed"):
        session.ecdf("age", **AGE, privacy=HALF)
    assert (str(session), repr(session)) == ("patients: this session is closed", "<Session 'patients', closed>")
    shared = ogive.Ledger.open()
    with Session(PEOPLE, limit=ONE, ledger=shared, name="people") as session:
        session.ecdf("age", **AGE, privacy=HALF)
    assert shared.account("people").spent == HALF, "a ledger that was handed in stays open"
    with pytest.raises(LedgerError, match="this session is closed"):
        session.pointwise(Ecdf("age", **AGE), privacy=HALF)


def test_an_unusable_ledger_is_one_line_before_anything_is_spent(tmp_path, table):
    (tmp_path / "garbage.db").write_bytes(b"no database" * 200)
    with pytest.raises(LedgerError) as refusal:
        Session(table, limit=ONE, ledger=tmp_path / "garbage.db")
    assert "\n" not in str(refusal.value)
    with pytest.raises(LedgerError, match="cannot be opened"):
        Session(table, limit=ONE, ledger=tmp_path / "none" / "budget.db")
    with pytest.raises(ParameterError, match="must be a path"):
        Session(table, limit=ONE, ledger="mysql://somewhere/db")


def test_a_statement_reads_like_a_bank_s(table, ledger):
    with Session(table, limit=THREE, ledger=ledger) as session:
        session.ecdf("age", **AGE, privacy=HALF)
        session.quantiles("age", **AGE, privacy=PureDP("0.25"))
        lines = str(session).splitlines()
        assert lines[0] == f"patients: {session.unit.words}"
        assert [line.split()[0] for line in lines[1:3]] == ["1", "2"]
        assert lines[1].endswith("ecdf age       epsilon = 0.5")
        assert lines[2].endswith("quantiles age  epsilon = 0.25")
        assert [line.split()[0] for line in lines[3:]] == ["limit", "spent", "remaining"]
        assert lines[-1].endswith("epsilon = 2.25")
        assert repr(session) == "<Session 'patients', remaining: epsilon = 2.25>"
        html = session._repr_html_()
        for said in ("patients", session.unit.words, "ecdf age", "epsilon = 0.25", "epsilon = 2.25", "remaining"):
            assert said in html
        assert html.count("<thead>") == 1
    assert "this session is closed" in session._repr_html_()
    exact = Session(PEOPLE, trust="clear", name="<people>")
    assert "&lt;people&gt;" in exact._repr_html_()
    assert "no releases yet" in Session(PEOPLE, limit=ONE)._repr_html_()


def test_the_ledger_holds_no_value_of_a_record(tmp_path, ledger):
    secret = 61.987654321
    data = {"age": np.append(PEOPLE["age"].astype(float), secret), "job": ["a rare job"] * 4_001}
    with Session(data, limit=ONE, ledger=ledger, name="people") as session:
        session.ecdf("age", **AGE, privacy=HALF)
    connection = sqlite3.connect(tmp_path / "budget.db")
    text = "\n".join(connection.iterdump())
    connection.close()
    assert "ogive" in text
    assert str(secret) not in text
    assert "a rare job" not in text


def test_records_that_change_while_a_session_is_open_are_refused(tmp_path):
    values = np.arange(1000.0) % 100
    session = Session({"v": values}, limit=PureDP(3))
    session.ecdf("v", bounds=(0, 200), bins=200, privacy=PureDP(1))
    values += 100
    with pytest.raises(LedgerError, match="the records changed since this session was opened"):
        session.ecdf("v", bounds=(0, 200), bins=200, privacy=PureDP("1/2"))
    assert session.remaining == PureDP(2)
    path = tmp_path / "people.csv"
    path.write_text("v\n" + "1\n" * 50)
    with Session(path, limit=PureDP(3), ledger=tmp_path / "l.db") as session:
        path.write_text("v\n" + "2\n" * 50)
        with pytest.raises(LedgerError, match="updated=True"):
            session.ecdf("v", bounds=(0, 4), bins=4, privacy=PureDP(1))
        assert session.remaining == PureDP(3)


def test_a_session_is_neither_copied_nor_pickled():
    session = Session({"v": np.arange(5.0)}, limit=PureDP(1))
    for copier in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be copied or pickled; open another"):
            copier(session)


COLUMNS_LEFT_OUT = {
    "ecdf": (lambda s: s.ecdf(bounds=(0, 1)), "name the column with column="),
    "quantiles": (lambda s: s.quantiles(bounds=(0, 1)), "name the column with column="),
    "boxplot": (lambda s: s.boxplot(bounds=(0, 1)), "name the column with column="),
    "find_bounds": (lambda s: s.find_bounds(), "name the column with column="),
    "roc": (lambda s: s.roc(), "name the columns with score= and label="),
    "roc_label": (lambda s: s.roc("risk"), "name the column with label="),
    "hosmer_lemeshow": (lambda s: s.hosmer_lemeshow(), "name the columns with probability= and label="),
    "ustatistic": (lambda s: s.ustatistic(), "name the column with columns="),
    "none": (lambda s: s.ecdf(None, bounds=(0, 1)), "name the column with column="),
    "number": (lambda s: s.ecdf(3, bounds=(0, 1)), "column must be a column's name, got 3"),
    "list": (lambda s: s.quantiles([0.5], bounds=(0, 1)), "column must be a column's name, got [0.5]"),
}


@pytest.mark.parametrize("case", COLUMNS_LEFT_OUT)
def test_a_verb_without_its_column_lists_the_columns_there_are(case):
    ask, said = COLUMNS_LEFT_OUT[case]
    session = ogive.Session({"age": [1, 2], "risk": [0.1, 0.2], "ill": [0, 1]}, limit=PureDP(1))
    with pytest.raises(ParameterError) as refused:
        ask(session)
    assert str(refused.value) == f"{said}; the data has 'age', 'risk', 'ill'"


@pytest.mark.parametrize(
    "call",
    [
        lambda table: ogive.ecdf(table, bounds=(0, 1), privacy=PureDP(1)),
        lambda table: ogive.quantiles(table, bounds=(0, 1), privacy=PureDP(1)),
        lambda table: ogive.find_bounds(table, privacy=PureDP(1)),
        lambda table: ogive.roc(table, [0, 1], bounds=(0, 1), privacy=PureDP(1)),
    ],
)
@pytest.mark.parametrize("kind", ["dict", "frame"])
def test_a_table_in_place_of_an_array_says_which_columns_it_has(call, kind):
    import pandas as pd

    table = {"age": [1, 2], "risk": [0.1, 0.2]}
    with pytest.raises(DataError, match="got a table; give one of its columns 'age', 'risk'"):
        call(table if kind == "dict" else pd.DataFrame(table))


@pytest.mark.parametrize(
    ("name", "method"), [("calibration", "hosmer_lemeshow"), ("ustat", "ustatistic"), ("bounds", "find_bounds")]
)
def test_the_name_of_a_command_leads_to_its_method(name, method):
    session = ogive.Session({"x": [1, 2, 3]}, limit=PureDP(1))
    assert getattr(session, name) == getattr(session, method)
    with pytest.raises(AttributeError, match=r"has no attribute 'median'; quantiles releases quantiles with sim"):
        _ = session.median
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
        _ = session.nothing
    assert not hasattr(session, "__wrapped__")


def test_a_new_account_beside_others_is_warned_of_where_persons_cannot_be_compared(tmp_path, recwarn):
    """The same rows in another order, or one column of them, would have a fresh budget."""
    table = {"x": np.arange(100.0), "pid": np.arange(100)}

    def opened(name, data, ledger="budget.db", **more):
        recwarn.clear()
        with Session(data, ledger=tmp_path / ledger, name=name, limit=PureDP(1), **more) as session:
            told = [str(each.message) for each in recwarn if each.category is AccountWarning]
            session.count("x", among=[1], privacy=PureDP("1/10"))
        return told

    assert opened("first", table) == []
    for name, data in (
        ("reversed", {each: column[::-1] for each, column in table.items()}),
        ("one", {"x": table["x"]}),
    ):
        (told,) = opened(name, data)
        assert told.startswith(f"account '{name}': the ledger cannot tell")
        assert "'first'" in told or "2 other accounts" in told
        assert opened(name, data) == []
    # the others name no persons to compare these with
    (told,) = opened("persons", table | {"x": table["x"][::-1]}, person="pid")
    assert "one of 3 other accounts" in told
    people = {"ledger": "persons.db", "person": "pid"}
    assert opened("persons", table, **people) == []
    assert opened("other persons", {"x": table["x"], "pid": table["pid"] + 1000}, **people) == []
