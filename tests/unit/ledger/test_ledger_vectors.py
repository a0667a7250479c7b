"""A ledger of November 2026 opens, answers what it answered for free, and finishes what was cut off with its noise."""

import json
import shutil

import pytest
from helpers.alike import alike
from vectors.make_ledger import (
    ACCOUNTS,
    ANSWERS,
    CUT_OFF,
    FILE,
    KEY,
    QUARTER,
    asked,
    books,
    finished,
    opened,
    table,
    unnamed,
)

from ogive import AccountWarning, BudgetError, Ecdf, Ledger, LedgerError, PureDP, Session
from ogive.ledger.entries import plain_text

KEPT = json.loads(ANSWERS.read_text())
PUBLISHED = [["ill"], ["ill"], ["ward"]]
"""Columns whose exact counts the answers of the account "classes" publish, which that version did not call public."""

pytestmark = pytest.mark.filterwarnings("ignore::ogive.AccountWarning")


@pytest.fixture
def ledger(tmp_path):
    for path in (FILE, KEY):
        # git keeps no mode: a ledger and its key are their owner's alone
        shutil.copyfile(path, tmp_path / path.name)
        (tmp_path / path.name).chmod(0o600)
    with Ledger.open(tmp_path / FILE.name) as found:
        yield found


def test_every_account_says_what_it_said(ledger):
    assert books(ledger) == KEPT["accounts"]
    assert len(KEPT["accounts"]) == len(ACCOUNTS) + 2


def test_every_answer_is_the_stored_one_and_free(ledger):
    before = books(ledger)
    answers = {name: [each.to_dict() for each in given] for name, given in asked(ledger)}
    assert answers.keys() == KEPT["answers"].keys()
    assert [each["provenance"].pop("public") for each in answers["classes"]] == PUBLISHED
    for curve in answers["classes"][-1]["curves"]:
        assert curve["provenance"].pop("public") == PUBLISHED[-1]
    for name, given in answers.items():
        assert plain_text(given) == plain_text(KEPT["answers"][name]), name
    assert books(ledger) == before == KEPT["accounts"]


def test_an_account_without_a_fingerprint_answers_its_question(ledger):
    assert plain_text(unnamed(ledger).to_dict()) == plain_text(KEPT["unchecked"])
    assert books(ledger) == KEPT["accounts"]


def measured(estimate):
    """A stored estimate without the words on trust, which are those of the version that finishes the release."""
    provenance = {name: value for name, value in estimate["provenance"].items() if name != "assumption"}
    return {**estimate, "provenance": provenance}


def test_what_was_cut_off_is_finished_with_its_own_noise_and_free(ledger):
    spent = ledger.account("curves").spent
    found = finished(ledger)
    for name, kept in KEPT["finished"].items():
        assert found[name]["integers"] == kept["integers"], name
        assert alike(measured(found[name]["estimate"]), measured(kept["estimate"])), name
    account = ledger.account("curves")
    assert account.spent == spent
    assert {entry.state for entry in account.history} == {"released"}
    again = finished(ledger)
    for name in KEPT["finished"]:
        assert again[name] == {"estimate": found[name]["estimate"], "integers": []}, name


def test_another_attempt_has_other_noise(ledger):
    """The control: the same questions of the same records, paid by another account."""
    session = Session(ACCOUNTS["curves"][1], limit=PureDP(4), adjacency="replace")
    for name, question in CUT_OFF.items():
        assert not alike(session.release(question, privacy=QUARTER).to_dict(), KEPT["finished"][name]["estimate"]), name


def test_a_new_question_is_paid_and_kept_to_the_old_limit(ledger):
    session = opened(ledger, "curves")
    left = session.remaining.epsilon
    question = Ecdf("age", (0, 100), bins=30, method="tree_ls")
    session.release(question, privacy=QUARTER)
    assert session.remaining == PureDP(left - QUARTER.epsilon)
    with pytest.raises(BudgetError, match="left of epsilon = 4"):
        session.release(question, privacy=PureDP(left))


def test_other_records_and_a_second_name_are_still_refused(ledger):
    options, data, _ = ACCOUNTS["curves"]
    with pytest.raises(LedgerError, match="these records already have the account 'curves'"):
        Session(data, ledger=ledger, name="second", **options)
    with pytest.raises(LedgerError, match="was opened for other data before"):
        Session(table(99), ledger=ledger, name="added", **ACCOUNTS["added"][0])


def test_two_accounts_of_the_same_people_are_told_and_not_refused(ledger):
    """They were begun when nobody compared people; a third one is refused."""
    visits, patients = opened(ledger, "visits"), opened(ledger, "patients")
    assert "people  " not in str(visits)
    assert "many have the same ids as in the account 'visits'" in str(patients)
    patients.release(Ecdf("age", (0, 100), bins=30, method="tree_ls"), privacy=QUARTER)
    with pytest.raises(LedgerError, match="100 % of the people in these records have the account"):
        Session(table(98), ledger=ledger, name="third", limit=PureDP(1), person="who")


@pytest.mark.filterwarnings("error::ogive.AccountWarning")
def test_an_account_that_published_exact_counts_says_so_when_it_is_opened(ledger):
    with pytest.warns(AccountWarning, match="releases 1, 2, 3 published the exact counts of columns ill and ward"):
        opened(ledger, "classes")
    opened(ledger, "curves")
