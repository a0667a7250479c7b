import datetime
import json
import os
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import ogive
from ogive.errors import BudgetError, LedgerError, ParameterError, ReleaseMismatchError
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP

SECRET = bytes(range(32))
CONTEXT = b"c" * 32
ANSWER = {"schema": "test/1", "value": 0.1, "exact": "1/3"}


def reserve(account, charge, *, what="a", secret=SECRET):
    return account.reserve({"what": what}, statistic="test", charge=charge, secret=secret)


@pytest.fixture
def account(ledger, unit):
    return ledger.account("patients", unit=unit, limit=PureDP(3))


def test_a_new_account_has_everything_left(account):
    assert account.limit == PureDP(3)
    assert account.spent is None
    assert account.remaining == PureDP(3)
    assert account.history == ()
    assert account.answers() == ()


def test_a_spend_is_seen_at_once_and_ends_with_its_answer(account):
    reservation = reserve(account, PureDP("1/3"))
    assert not reservation.resumed
    assert account.spent == PureDP("1/3")
    assert account.remaining == PureDP("8/3")
    assert account.find({"what": "a"}) is None
    assert account.history[0].state == "reserved"
    reservation.bind(0, CONTEXT)
    assert reservation.record(ANSWER) == ANSWER
    (entry,) = account.history
    assert entry.state == "released"
    assert entry.statistic == "test"
    assert entry.question == {"what": "a"}
    assert entry.charge == PureDP("1/3")
    assert entry.release_id == reservation.release_id
    assert entry.part is None
    assert entry.started <= entry.finished <= datetime.datetime.now(datetime.UTC)
    assert account.find({"what": "a"}) == ANSWER
    assert account.find({"what": "b"}) is None
    assert account.answers() == (ANSWER,)


def test_the_same_question_is_charged_once_and_keeps_its_secret(account):
    first = reserve(account, PureDP(2))
    again = reserve(account, PureDP(2), secret=b"x" * 32)
    assert again.resumed
    assert again.secret == SECRET
    assert again.release_id == first.release_id
    assert account.spent == PureDP(2)
    assert len(account.history) == 1


def test_a_finished_question_gives_no_secret_and_keeps_the_first_answer(account):
    first, second = reserve(account, PureDP(1)), reserve(account, PureDP(1))
    assert first.record(ANSWER) == ANSWER
    assert second.record({"other": 1}) == ANSWER
    late = reserve(account, PureDP(1), secret=b"x" * 32)
    assert late.secret == b"x" * 32
    late.bind(0, b"anything")
    assert late.record({"other": 2}) == ANSWER
    assert account.spent == PureDP(1)


def test_a_refused_charge_spends_nothing_and_says_what_is_left(account):
    reserve(account, PureDP("2.5"))
    with pytest.raises(
        BudgetError,
        match=r"^the account 'patients' has epsilon = 0.5 left of epsilon = 3, and this release would cost .* 1$",
    ):
        reserve(account, PureDP(1), what="b")
    assert account.spent == PureDP("2.5")
    reserve(account, PureDP("0.5"), what="b")
    assert account.remaining is None
    with pytest.raises(BudgetError, match="has nothing left of epsilon = 3"):
        reserve(account, PureDP("1/1000000000"), what="c")


def test_a_charge_of_another_type_says_what_fits(account):
    with pytest.raises(BudgetError, match=r"^the account 'patients' cannot pay rho = 0.01 \(zCDP\): .*use PureDP"):
        reserve(account, ZeroConcentratedDP("0.01"))
    assert account.history == ()


def test_a_charge_is_raised_and_never_lowered(account):
    reservation = reserve(account, PureDP(1))
    reservation.charge(PureDP(2))
    assert account.spent == PureDP(2)
    reservation.charge(PureDP(1))
    assert account.spent == PureDP(2)
    with pytest.raises(BudgetError, match="would cost epsilon = 4, part of which is paid"):
        reservation.charge(PureDP(4))
    assert account.spent == PureDP(2)
    reserve(account, PureDP(1))
    assert account.spent == PureDP(2)
    reservation.charge(PureDP(3))
    assert account.remaining is None


def test_a_charge_may_change_its_type_upwards_only(ledger, unit):
    account = ledger.account("patients", unit=unit, limit=ZeroConcentratedDP(1))
    reservation = reserve(account, PureDP(1))
    assert account.spent == ZeroConcentratedDP("1/2")
    with pytest.raises(LedgerError, match="cannot be charged rho = 1/3"):
        reservation.charge(ZeroConcentratedDP("1/3"))
    reservation.charge(ZeroConcentratedDP("2/3"))
    assert account.spent == ZeroConcentratedDP("2/3")
    reserve(account, PureDP(1))
    assert account.spent == ZeroConcentratedDP("2/3")


def test_a_release_is_not_resumed_on_other_records(account):
    reserve(account, PureDP(1)).bind(0, CONTEXT)
    again = reserve(account, PureDP(1), secret=b"x" * 32)
    again.bind(0, CONTEXT)
    again.bind(1, b"other measurement")
    with pytest.raises(ReleaseMismatchError, match="uploads changed since this release was interrupted"):
        again.bind(0, b"other records")


def test_spends_outlive_the_process_that_made_them(tmp_path, unit):
    with ogive.Ledger.open(tmp_path / "budget.db") as ledger:
        reservation = reserve(ledger.account("patients", unit=unit, limit=PureDP(3)), PureDP(1))
        reservation.bind(0, CONTEXT)
    with ogive.Ledger.open(f"sqlite:///{tmp_path}/budget.db") as ledger:
        account = ledger.account("patients")
        assert account.remaining == PureDP(2)
        again = reserve(account, PureDP(1), secret=b"x" * 32)
        assert again.secret == SECRET
        with pytest.raises(ReleaseMismatchError):
            again.bind(0, b"other records")


def test_a_limit_is_changed_but_not_below_what_is_spent(account):
    reserve(account, PureDP(2))
    with pytest.raises(BudgetError, match=r"has spent epsilon = 2; its limit cannot be epsilon = 1"):
        account.set_limit(PureDP(1))
    assert account.limit == PureDP(3)
    account.set_limit(PureDP(2))
    assert account.remaining is None
    account.set_limit(ZeroConcentratedDP(3))
    assert account.remaining == ZeroConcentratedDP(1)
    account.set_limit(None)
    assert account.limit is None
    assert account.remaining is None
    reserve(account, PureDP(100), what="b")
    assert account.spent == PureDP(102)


def test_an_account_is_for_one_unit_and_one_limit(ledger, account, unit):
    other = PrivacyUnit(Adjacency.ADD_OR_REMOVE, "id", 3)
    with pytest.raises(LedgerError, match=r"protects one record replaced .* would protect one person \(column id\)"):
        ledger.account("patients", unit=other)
    with pytest.raises(LedgerError, match="protects one record replaced"):
        account.check_unit(other)
    account.check_unit(unit)
    with pytest.raises(LedgerError, match="has the limit epsilon = 3, not epsilon = 4"):
        ledger.account("patients", limit=PureDP(4))
    assert ledger.account("patients", unit=unit, limit=PureDP(3)).remaining == PureDP(3)


def test_a_first_use_says_whose_data_it_counts(ledger):
    with pytest.raises(LedgerError, match="has no account 'customers'"):
        ledger.account("customers")
    assert ledger.accounts() == ()


def test_a_limit_comes_late_but_not_too_late(ledger, unit):
    account = ledger.account("patients", unit=unit)
    reserve(account, PureDP(2))
    with pytest.raises(BudgetError, match="has spent epsilon = 2; its limit cannot be epsilon = 1"):
        ledger.account("patients", limit=PureDP(1))
    assert ledger.account("patients", limit=PureDP(2)).remaining is None


def test_other_data_under_the_same_name_are_refused_unless_updated(ledger, unit):
    old, new = (ledger.fingerprint(content) for content in (b"old", b"new"))
    account = ledger.account("patients", unit=unit, limit=PureDP(3), fingerprint=old)
    reserve(account, PureDP(1)).record(ANSWER)
    with pytest.raises(LedgerError, match=r"opened for other data before.*updated=True"):
        ledger.account("patients", fingerprint=new)
    assert ledger.account("patients", fingerprint=old).find({"what": "a"}) == ANSWER
    newer = ledger.account("patients", fingerprint=new, updated=True)
    assert newer.spent == PureDP(1)
    assert newer.find({"what": "a"}) is None
    reserve(newer, PureDP(1))
    assert newer.spent == PureDP(2)
    with pytest.raises(LedgerError, match="opened for other data meanwhile"):
        reserve(account, PureDP("1/2"), what="b")


def test_an_update_without_a_fingerprint_forgets_answers_and_keeps_spends(ledger, unit):
    account = ledger.account("patients", unit=unit, limit=PureDP(3))
    reserve(account, PureDP(1)).bind(0, CONTEXT)
    newer = ledger.account("patients", updated=True)
    reservation = reserve(newer, PureDP(1), secret=b"x" * 32)
    reservation.bind(0, b"other records")
    assert reservation.secret == b"x" * 32
    assert newer.spent == PureDP(2)


def test_parts_cost_no_more_than_the_largest(account):
    north, south = account.part("north"), account.part("south")
    reserve(account, PureDP(1))
    reserve(north, PureDP("3/2"))
    reserve(south, PureDP("1/2"))
    assert north.spent == PureDP("5/2")
    assert south.spent == PureDP("3/2")
    assert account.spent == PureDP("5/2")
    assert account.remaining == PureDP("1/2")
    assert north.remaining == PureDP("1/2")
    assert south.remaining == PureDP("3/2")
    assert account.part("west").remaining == PureDP(2)
    with pytest.raises(BudgetError, match=r"^the account 'patients', part 'north', has epsilon = 0.5 left"):
        reserve(north, PureDP(1), what="b")
    with pytest.raises(BudgetError, match=r"^the account 'patients' has epsilon = 0.5 left"):
        reserve(account, PureDP(1), what="b")
    reserve(south, PureDP("3/2"), what="b")
    assert account.spent == PureDP(3)
    assert [entry.part for entry in account.history] == [None, "north", "south", "south"]
    assert [entry.part for entry in north.history] == [None, "north"]


def test_parts_ask_for_themselves_and_have_their_own_data(ledger, account):
    north = account.part("north", fingerprint=ledger.fingerprint(b"n"))
    south = account.part("south", fingerprint=ledger.fingerprint(b"s"))
    reserve(north, PureDP(1)).record(ANSWER)
    assert south.find({"what": "a"}) is None
    assert account.find({"what": "a"}) is None
    assert account.part("north", fingerprint=ledger.fingerprint(b"n")).find({"what": "a"}) == ANSWER
    with pytest.raises(LedgerError, match="part 'north', was opened for other data before"):
        account.part("north", fingerprint=ledger.fingerprint(b"m"))
    moved = account.part("north", fingerprint=ledger.fingerprint(b"m"), updated=True)
    assert moved.find({"what": "a"}) is None
    assert moved.spent == PureDP(1)


def test_parts_have_no_parts_and_all_have_names(account):
    with pytest.raises(ParameterError, match="parts have no parts"):
        account.part("north").part("town")
    with pytest.raises(ParameterError, match="must be a text"):
        account.part("")


def test_mixed_charges_keep_an_approximate_limit(ledger, unit):
    limit = ApproxDP(3, "1e-6")
    account = ledger.account("patients", unit=unit, limit=limit)
    assert account.remaining == limit
    reserve(account, ZeroConcentratedDP("1/20"))
    reserve(account, PureDP("1/5"), what="b")
    left = account.remaining
    assert isinstance(left, ApproxDP)
    assert left.delta == limit.delta
    assert Fraction(1, 3) < left.epsilon < 3
    spent = account.spent
    assert isinstance(spent, ApproxDP)
    assert "left of epsilon = 3, delta = 1e-06" in refusal(account, PureDP(3))


def refusal(account, charge):
    with pytest.raises(BudgetError) as caught:
        reserve(account, charge, what="refused")
    return str(caught.value)


def test_names_are_texts(ledger, unit):
    for name in ("", None, 3):
        with pytest.raises(ParameterError, match="must be a text"):
            ledger.account(name, unit=unit)


def test_questions_and_estimates_are_plain_data(account):
    with pytest.raises(ParameterError, match="plain data"):
        account.reserve({"what": object()}, statistic="test", charge=PureDP(1), secret=SECRET)
    with pytest.raises(ParameterError, match="plain data"):
        reserve(account, PureDP(1)).record({"value": np.zeros(2)})
    assert account.history[0].state == "reserved"


def test_an_export_has_everything_but_secrets(ledger, account):
    reserve(account, PureDP("1/3")).record(ANSWER)
    open_one = reserve(account.part("north"), PureDP(1), what="b")
    open_one.bind(0, CONTEXT)
    data = ledger.export()
    assert json.loads(json.dumps(data)) == data
    assert data["schema"] == "ogive.ledger/1"
    schema = json.loads((Path(ogive.__file__).parent / "schemas" / "ledger-1.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(data)
    (exported,) = data["accounts"]
    assert exported["name"] == "patients"
    assert exported["limit"] == {"type": "PureDP", "epsilon": "3"}
    assert exported["spent"] == {"type": "PureDP", "epsilon": "4/3"}
    assert exported["remaining"] == {"type": "PureDP", "epsilon": "5/3"}
    assert [entry["state"] for entry in exported["entries"]] == ["released", "reserved"]
    assert [entry["estimate"] for entry in exported["entries"]] == [ANSWER, None]
    text = json.dumps(data)
    assert SECRET.hex() not in text
    assert "secret" not in text
    assert "bound" not in text


def test_a_release_pays_once_and_its_answer_is_kept(account, ledger):
    statistic = ogive.Ecdf("age", bounds=(0, 100), bins=16)
    trust = ogive.Central({"age": np.arange(100.0)})
    first = ogive.release(statistic, trust=trust, privacy=PureDP(1), ledger=account)
    again = ogive.release(statistic, trust=trust, privacy=PureDP(1), ledger=account)
    assert first.to_dict() == again.to_dict()
    assert account.spent == PureDP(1)
    assert account.answers() == (first.to_dict(),)
    assert account.history[0].release_id == first.provenance.release_id
    ogive.release(statistic, trust=trust, privacy=PureDP("1/2"), ledger=account)
    assert account.spent == PureDP("3/2")


def test_a_memory_ledger_stays_with_its_process(unit):
    with ogive.Ledger.open() as ledger:
        account = ledger.account("patients", unit=unit, limit=PureDP(3))
        child = os.fork()
        if child == 0:
            try:
                reserve(account, PureDP(1))
            except LedgerError as problem:
                os._exit(7 if "belongs to the process" in str(problem) else 8)
            os._exit(9)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert account.spent is None


def test_threads_share_one_budget(account):
    def spend(number):
        try:
            reserve(account, PureDP("1/2"), what=number)
        except BudgetError:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        granted = sum(pool.map(spend, range(16)))
    assert granted == 6
    assert account.remaining is None


def test_a_link_and_its_file_are_one_ledger(tmp_path, unit):
    (tmp_path / "kept").mkdir()
    with ogive.Ledger.open(tmp_path / "kept" / "budget.db") as ledger:
        reserve(ledger.account("patients", unit=unit, limit=PureDP(3)), PureDP(1))
        (tmp_path / "link.db").symlink_to(tmp_path / "kept" / "budget.db")
        with ogive.Ledger.open(tmp_path / "link.db") as linked:
            assert linked.account("patients").remaining == PureDP(2)
            assert linked.fingerprint(b"data") == ledger.fingerprint(b"data")


def test_an_account_shows_its_name_without_asking_the_ledger(account):
    assert repr(account) == "Account('patients')"
    assert repr(account.part("north")) == "Account('patients').part('north')"
