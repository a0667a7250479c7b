"""Studies of people who meet in pairs: their file, whole studies over TLS and WebSockets, ledgers, people killed."""

import contextlib
import json
import sqlite3
import ssl
import types
from pathlib import Path

import httpx
import numpy as np
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from helpers.forked import Forked
from helpers.people_study import RELEASE, Serving, key_of, public_text, study_of, study_text
from helpers.scope import size
from helpers.study_service import free_port
from helpers.waiting import PATIENCE, Beside, until

from ogive import Ledger
from ogive.errors import (
    BudgetError,
    DataError,
    LedgerError,
    OgiveError,
    ParameterError,
    PeerError,
    RefusalError,
    ReleaseMismatchError,
)
from ogive.privacy import PureDP
from ogive.releasing.accounts import statement
from ogive.statistics.kinds import read_recorded
from ogive.study.document import PeopleStudy, read_study
from ogive.study.enrolment import equip
from ogive.study.pairs.joining import NOTES, Notes, OwnRecord, _pay
from ogive.study.pairs.service import PairsService
from ogive.study.pairs.study import Meeting
from ogive.study.store import OfPeople, Store

ECDF = '[[release]]\nname = "a"\nstatistic = "ecdf"\nprivacy = {epsilon = 1}\ncolumn = "a"\nbounds = [0, 1]'
PEOPLE = size(8, part=4)
ALIKE = dict.fromkeys(range(1, PEOPLE + 1), 3)
DIFFERENT = {number: number for number in range(1, PEOPLE + 1)}


def alike(serving):
    """The share of pairs whose people are alike, but for noise that changes hardly any; and the estimate."""
    with serving.store.read() as kept:
        (found,) = OfPeople(serving.study, kept).answers(0)
    meeting = Meeting.of(serving.study)
    return float(meeting.query.read(found.values).mean()), meeting.estimate(found)


# --- the file


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"deadline": None}, "needs a deadline with a time zone"),
        ({"deadline": "2030-01-01T00:00:00"}, "needs a deadline with a time zone"),
        ({"deadline": '"tomorrow"'}, "needs a deadline with a time zone"),
        ({"people": None}, "needs people, a list of at least 4 keys"),
        ({"people": f'["{public_text(1)}"]'}, "needs people, a list of at least 4 keys"),
        ({"people": '["a", "b", "c", "d"]'}, "the key of person 1 must be"),
        ({"people": str([public_text(number) for number in (1, 2, 3, 3)])}, "two people have the same key"),
        ({"people": str([public_text(number) for number in (1, 2, 3, 0)])}, "needs a key of its own"),
        ({"trust": '"secagg"'}, "trust must be pairs here"),
        ({"records": "8"}, "has no field 'records'"),
        ({"budget": None}, "budget must be a table"),
        ({"unit": '{ person = "id" }'}, "leave out person"),
        ({"release": RELEASE + RELEASE.replace('"ward"', '"other"', 1)}, "a study for each"),
    ],
)
def test_a_file_that_is_no_study_of_people_is_refused_in_one_line(fields, said):
    with pytest.raises(ParameterError, match=said) as refused:
        PeopleStudy.parse(study_text(**fields))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("release", "unit", "said"),
    [
        (RELEASE.replace("collision", "nothing"), None, "release ward"),
        (ECDF, None, "pairs"),
        (RELEASE, '{ adjacency = "add_or_remove" }', "REPLACE"),
        (RELEASE + 'method = "kernel"', None, "two people compute"),
    ],
)  # fmt: skip
def test_what_pairs_cannot_compute_is_refused(release, unit, said):
    with pytest.raises(OgiveError, match=said) as refused:
        Meeting.of(study_of(release=release, unit=unit))
    assert "\n" not in str(refused.value)


def test_everybody_draws_the_same_pairs_from_the_file_and_others_from_another_file():
    text = study_text()
    first, again = (Meeting.of(PeopleStudy.parse(text)).protocol for _ in range(2))
    assert first.digest == again.digest
    assert np.array_equal(first.design.pairs, again.design.pairs)
    assert Meeting.of(PeopleStudy.parse(text + b"# more\n")).protocol.digest != first.digest


# --- whole studies


@pytest.fixture(scope="module")
def met(tmp_path_factory):
    """A study in which everybody met, whose service still runs, and what each person was told."""
    with Serving(tmp_path_factory.mktemp("met"), study_of(count=PEOPLE, seconds=86_400)) as serving:
        yield serving, serving.people(ALIKE)


def test_people_meet_and_what_comes_out_is_right_and_each_ledger_has_the_price(met):
    serving, found = met
    study = serving.study
    share, released = alike(serving)
    context = ssl.create_default_context(cafile=str(serving.authority))
    with httpx.Client(base_url=serving.url, verify=context, timeout=PATIENCE, trust_env=False) as client:
        published = client.get("/v1/releases/ward").json()
        page, absent = client.get("/releases/ward"), client.get("/releases/other")
        status = client.get("/v1/status").json()
    agreed = Meeting.of(study).protocol.agreed
    assert found == {number: (int(agreed[number - 1]), True) for number in ALIKE}
    again = serving.join(1, 3)
    with pytest.raises(ReleaseMismatchError):
        serving.join(2, 4)
    assert share == pytest.approx(1, abs=1e-6)
    assert published == released.to_dict()
    assert page.headers["content-type"].startswith("text/html")
    assert "Collision entropy of ward" in page.text
    assert (absent.status_code, absent.text) == (404, "there is no such release yet\n")
    assert published["provenance"]["trust"] == "pairs"
    assert "were simulated" not in published["provenance"]["assumption"]
    assert [each["state"] for each in status["releases"]] == ["released"]
    assert status["lost"] == 0
    assert again == (0, True), "it is over, and nothing is given twice"
    for number in ALIKE:
        account = Ledger.open(serving.folder / f"ledger-{number}").account("wards", unit=study.unit)
        assert account.spent == PureDP(140)
        assert len(account.history) == 1
        assert "paid to take part in a study; its release is not kept here" in statement(account)


@pytest.mark.everything
def test_who_has_something_else_gives_something_else(tmp_path):
    """The control of the test before."""
    with Serving(tmp_path, study_of(count=PEOPLE)) as serving:
        serving.people(DIFFERENT)
        assert alike(serving)[0] == pytest.approx(0, abs=1e-6)


def test_who_does_not_come_is_replaced_and_who_comes_after_the_deadline_is_refused(tmp_path, monkeypatch):
    study = study_of()
    wards = {number: 3 for number in range(1, 9) if number not in (2, 5)}
    with Serving(tmp_path, study, coming=len(wards)) as serving:
        with Beside(serving.people, wards) as people:
            until(lambda: len(serving.collector.collected.outputs) >= 2 and not serving.collector._open)
            serving.collector.close()
        found, collected = people.result, serving.collector.collected
        later = types.SimpleNamespace(now=lambda _: study.deadline)
        monkeypatch.setattr("ogive.study.pairs.joining.datetime", later)
        with pytest.raises(RefusalError, match="nothing was sent"):
            serving.join(5, 3)
        share, _ = alike(serving)
    assert all(over for _, over in found.values())
    assert not (tmp_path / "ledger-5").exists()
    assert {1, 4} & set(np.flatnonzero(collected.gone).tolist()) == {1, 4}
    assert len(collected.outputs) >= 2
    assert share == pytest.approx(1, abs=1e-6)


def test_a_study_to_which_too_few_come_is_over_and_says_why(tmp_path):
    with Serving(tmp_path, study_of(), coming=2) as serving:
        with Beside(serving.people, {1: 3, 2: 3}) as people:
            until(lambda: serving.collector.here == 2)
            serving.collector.close()
        found = people.result
        with serving.store.read() as kept:
            releases = OfPeople(serving.study, kept)
            assert releases.state(0) == "over"
            assert releases.answers(0) == ()
            assert releases.over(0)
    assert all(over for _, over in found.values())


# --- what a person refuses, before anything is sent


def test_nothing_is_sent_that_the_ledger_does_not_allow(tmp_path):
    with Serving(tmp_path, study_of(budget="{ epsilon = 1 }")) as serving:
        cases = [
            (BudgetError, {"number": 1, "ward": 3}),
            (ParameterError, {"number": 2, "ward": 3, "key": key_of(99)}),
            (DataError, {"number": 2, "ward": 77}),
            (ParameterError, {"number": 2, "ward": 3, "connect": "http://127.0.0.1"}),
            (ParameterError, {"number": 2, "ward": 3, "authority": Path("missing")}),
        ]
        for error, how in cases:
            with pytest.raises(error) as refused:
                serving.join(**how)
            assert "\n" not in str(refused.value)
        assert serving.collector.here == 0
        assert not serving.collector.everybody


def test_one_ledger_adds_up_what_a_person_spends_in_several_studies_of_one_name(tmp_path):
    budget = "{ epsilon = 300 }"
    releases = [RELEASE.replace('name = "ward"', f'name = "ward-{number}"', 1) for number in range(3)]
    ledger, spent = tmp_path / "ledger", []
    for number, release in enumerate(releases):
        meeting = Meeting.of(study_of(release=release, budget=budget))
        own = OwnRecord(meeting, {"ward": [3]})
        if number == 2:
            with pytest.raises(BudgetError, match=r"costs epsilon = 140, and the account has epsilon = 20 left"):
                _pay(meeting, own, ledger)
            break
        with contextlib.closing(Store(f"{ledger}{NOTES}")) as notes:
            noted = Notes(notes, _pay(meeting, own, ledger))
            assert noted.note(b"pair of study %d" % number, b"half") is None
            assert noted.note(b"pair of study %d" % number, b"another") == b"half"
        spent.append(Ledger.open(ledger).account("wards").spent)
    assert spent == [PureDP(140), PureDP(280)]


def test_a_person_whose_notes_were_lost_takes_part_no_more(met):
    serving, _ = met
    lost = list(serving.folder.glob(f"ledger-{PEOPLE}{NOTES}*"))
    assert lost
    kept = {found: found.read_bytes() for found in lost}
    for found in lost:
        found.unlink()
    try:
        with pytest.raises(PeerError, match="takes part no more"):
            serving.join(PEOPLE, 3)
    finally:
        for found in serving.folder.glob(f"ledger-{PEOPLE}{NOTES}*"):
            found.unlink()
        for found, content in kept.items():
            found.write_bytes(content)


@pytest.mark.parametrize("given", [0, 1, 2])
def test_a_person_with_older_notes_than_it_had_gives_nothing_more(tmp_path, given):
    """Or it would give more halves than its ledger was charged for, or two of one pair."""
    account = Ledger.open(tmp_path / "ledger").account("wards", unit=study_of().unit, limit=PureDP(140))
    paid = account.reserve({"a": 1}, statistic="ustatistic", charge=PureDP(140), secret=bytes(32))
    place = tmp_path / f"ledger{NOTES}"
    copies = []
    store = Store(place)
    notes = Notes(store, paid)
    for token in (b"pair", b"place", b"later"):
        store.close()
        copies.append(place.read_bytes())
        store = Store(place)
        notes = Notes(store, paid)  # it may be started again at any time
        assert notes.note(token, token) is None
        assert notes.note(token, b"") == token
    store.close()
    place.write_bytes(copies[given])
    for end in ("-wal", "-shm"):
        place.with_name(place.name + end).unlink(missing_ok=True)
    store = notes._store = Store(place)
    for _ in range(9):  # nor where it is tried again and again
        with pytest.raises(PeerError, match="takes part no more"):
            notes.note(b"pair" if given == 0 else b"another", b"")
        with pytest.raises(PeerError, match="takes part no more"):
            Notes(store, paid)
    store.close()


def test_a_service_believes_no_other_certificate_and_a_person_no_other_service(tmp_path):
    study = study_of()
    with Serving(tmp_path, study) as serving:
        equip(tmp_path / "other", study, hosts=("127.0.0.1",))
        with pytest.raises(PeerError, match="certificate is not valid"):
            serving.join(1, 3, authority=tmp_path / "other" / "ca.pem")


def test_a_service_refuses_the_state_of_another_study_and_the_key_of_another_coordinator(tmp_path):
    study = study_of()
    store = Store(tmp_path / "state.db")
    PairsService(Meeting.of(study), key=key_of(0), store=store, patience=1.0)
    with pytest.raises(RefusalError, match="of another study"):
        PairsService(Meeting.of(study_of(count=9)), key=key_of(0), store=store, patience=1.0)
    with pytest.raises(ParameterError, match="another key of the coordinator"):
        PairsService(Meeting.of(study), key=key_of(1), store=store, patience=1.0)
    store.close()


def test_a_state_that_cannot_be_written_is_waited_for_and_nothing_is_said_meanwhile(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("ogive.study.pairs.service.PAUSE", 0.1)
    with Serving(tmp_path, study_of(count=PEOPLE)) as serving:
        write, failing = serving.store.write, [True]

        @contextlib.contextmanager
        def full():
            if failing:
                raise LedgerError("the disk is full")
            with write() as kept:
                yield kept

        serving.store.write = full
        with Beside(serving.people, ALIKE, stop=failing.clear) as people:
            until(lambda: "the state cannot be written" in caplog.text)
            assert not serving.collector.collected.outputs
            failing.clear()
        assert alike(serving)[0] == pytest.approx(1, abs=1e-6)
    assert all(over for _, over in people.result.values())


def test_what_ends_the_pairs_by_mistake_is_told_by_health(tmp_path, monkeypatch):
    async def broken(*_, **__):
        raise ValueError

    monkeypatch.setattr("ogive.study.pairs.service.collect", broken)
    with Serving(tmp_path, study_of()) as serving:
        context = ssl.create_default_context(cafile=str(serving.authority))
        until(lambda: serving.service._failed)
        found = httpx.get(f"{serving.url}/health", verify=context, timeout=PATIENCE, trust_env=False)
    assert (found.status_code, found.text) == (503, "no more pairs compute; start the service again\n")


# --- processes


def pairs_of(path):
    """What the service stored of each pair: 0 at hand, 1 opened, 2 lost."""
    if not path.exists():
        return {}
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as found:
        try:
            rows = found.execute("SELECT name, value FROM ogive_study_state WHERE name LIKE 'pairs/met/%'").fetchall()
        except sqlite3.OperationalError:
            return {}
    return {name: value[1] for name, value in rows}


def test_a_person_and_the_service_are_killed_and_started_again_and_the_study_goes_on(tmp_path):
    """All by the command line: one person is killed when it has paid, and the service when pairs compute."""
    (tmp_path / "study.toml").write_bytes(study_text(count=5))
    study = read_study(tmp_path / "study.toml")
    assert isinstance(study, PeopleStudy)
    equip(tmp_path / "service", study, hosts=("127.0.0.1",))
    for number in range(6):
        written = key_of(number).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (tmp_path / f"{number}.key").write_bytes(written)
    port = free_port()

    started = []

    def start(*words):
        process = Forked(words, tmp_path)
        started.append(process)
        return process

    def person(number):
        return start(
            "pair", "study.toml", "--connect", f"https://127.0.0.1:{port}", "--key", f"{number}.key",
            "--ledger", f"ledger-{number}", "--value", 3, "--authority", "service/ca.pem",
        )  # fmt: skip

    def serve():
        return start(
            "study", "serve", "study.toml", "--key", "0.key", "--state", "state.db", "--service", "service",
            "--port", port, "--patience", PATIENCE,
        )  # fmt: skip

    service = serve()
    try:
        first = person(1)
        until(lambda: list(tmp_path.glob(f"ledger-1{NOTES}")))
        first.kill()
        people = [person(number) for number in range(1, 6)]
        until(lambda: pairs_of(tmp_path / "state.db"), every=0.002)
        service.kill()
        opened = {name for name, state in pairs_of(tmp_path / "state.db").items() if state == 1}
        service = serve()
        said = [each.communicate(PATIENCE)[1] for each in people]
        assert [each.returncode for each in people] == [0] * 5, said
        assert all("the study is over" in each for each in said)
        asked = start("study", "release", "study.toml", "ward", "--state", "state.db", "-o", "out.json")
        printed, problem = asked.communicate(PATIENCE)
        assert asked.returncode == 0, problem
        assert "Collision entropy of ward" in printed
        assert opened <= {name for name, state in pairs_of(tmp_path / "state.db").items() if state == 1}
        published = json.loads((tmp_path / "out.json").read_text())
        assert published["provenance"]["trust"] == "pairs"
        assert read_recorded(published).value == pytest.approx(0, abs=1e-3), "all are alike"
    finally:
        for process in started:
            process.kill()
    spent = [Ledger.open(tmp_path / f"ledger-{number}").account("wards", unit=study.unit).spent for number in (1, 2)]
    assert spent == [PureDP(140)] * 2
