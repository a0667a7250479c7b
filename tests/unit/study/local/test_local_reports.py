"""Reports are durable before they are acknowledged, each participant has one, and the store is read as a file is."""

import threading

import pytest
from helpers.full_disk import full_disk
from helpers.local_service import LocalTrial, described, reports_of
from helpers.waiting import PATIENCE

import ogive
from ogive.errors import ParameterError, PeerError, RefusalError
from ogive.local import Collection
from ogive.segments import Segments
from ogive.study.local import LIST, LocalReports, Participants, equip
from ogive.study.submissions import NotEnrolledError, OtherReportError


@pytest.fixture
def trial(tmp_path):
    return LocalTrial(tmp_path, people=20)


@pytest.fixture
def kept(trial):
    opened = trial.opened()
    yield opened
    opened.close()


def take(kept, reports, people=None):
    for person, report in zip(range(len(reports)) if people is None else people, reports, strict=True):
        kept.take(person, report).result(PATIENCE)


def added(description, *sources):
    collection = Collection(description)
    for source in sources:
        collection.add(source)
    return collection


def test_the_estimate_is_that_of_a_file_of_the_same_reports(trial, kept):
    take(kept, trial.reports)
    by_file, by_service = added(trial.description, b"".join(trial.reports)), added(trial.description, trial.store)
    assert by_service.counts == by_file.counts
    assert by_service.digest() == by_file.digest()
    curve, other = ogive.estimate_collection(by_service), ogive.estimate_collection(by_file)
    assert curve == other.with_provenance(curve.provenance)


def test_a_store_that_grows_is_read_on_where_it_was_read(trial, kept, tmp_path):
    key = Collection.new_key()
    take(kept, trial.reports[:8])
    collection = added(trial.description, trial.store)
    collection.save(tmp_path / "state", key=key)
    assert collection.add(trial.store) == type(collection.counts)()
    take(kept, trial.reports[8:], range(8, 20))
    again = Collection.load(tmp_path / "state", key=key)
    found = again.add(trial.store)
    assert (found.accepted, found.refused) == (12, 0)
    assert again.digest() == added(trial.description, b"".join(trial.reports)).digest()


def test_nobody_counts_twice_whose_store_or_state_was_put_back_from_a_backup(trial, tmp_path):
    key = Collection.new_key()
    kept = trial.opened()
    take(kept, trial.reports[:8])
    kept.close()
    old = {path.name: path.read_bytes() for path in trial.store.glob("*.segment")}
    added(trial.description, trial.store).save(tmp_path / "state", key=key)
    kept = trial.opened()
    take(kept, trial.reports[8:], range(8, 20))
    kept.close()
    whole = added(trial.description, trial.store)
    older = Collection.load(tmp_path / "state", key=key)  # the state was put back
    assert older.add(trial.store).accepted == 12
    assert older.digest() == whole.digest()
    for name, content in old.items():  # the store was, and those who are not in it any more report something else
        (trial.store / name).write_bytes(content)
    kept = trial.opened()
    take(kept, reports_of(trial.description, trial.values, seed=9)[8:], range(8, 20))
    kept.close()
    assert whole.add(trial.store).accepted == 0
    assert whole.digest() == older.digest()


def test_a_folder_without_a_store_is_no_file_of_reports(trial, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ParameterError, match="it is a folder, and no store of a service"):
        added(trial.description, tmp_path / "empty")


def test_a_damaged_store_is_refused(trial):
    kept = trial.opened()
    for some in (slice(0, 10), slice(10, 20)):
        take(kept, trial.reports[some], range(20)[some])
    kept.close()
    (file,) = trial.store.glob("*.segment")
    data = bytearray(file.read_bytes())
    data[60] ^= 1
    file.write_bytes(data)
    with pytest.raises(RefusalError, match="is damaged"):
        added(trial.description, trial.store)
    with pytest.raises(RefusalError, match="is damaged"):
        trial.opened()


def test_a_commit_that_was_cut_off_is_left_out(trial):
    kept = trial.opened()
    take(kept, trial.reports[:5])
    kept.close()
    (file,) = trial.store.glob("*.segment")
    whole = file.read_bytes()
    for lost in range(1, 10):
        file.write_bytes(whole[:-lost])
        assert added(trial.description, trial.store).accepted == 4
    kept = trial.opened()
    assert len(kept) == 4
    take(kept, trial.reports)
    kept.close()
    assert added(trial.description, trial.store).accepted == 20


def test_reports_are_there_after_the_service_ended(trial):
    for some in (slice(0, 7), slice(5, 12)):
        kept = trial.opened()
        take(kept, trial.reports[some], range(20)[some])
        kept.close()
    kept = trial.opened()
    assert len(kept) == 12
    kept.close()
    with Segments(trial.store) as stored:
        assert list(stored) == trial.reports[:12]


def test_the_same_report_is_acknowledged_again_and_another_one_refused(trial, kept):
    other = reports_of(trial.description, trial.values, seed=8)
    person = next(person for person in range(20) if other[person] != trial.reports[person])
    waiting = [kept.take(person, trial.reports[person]) for _ in range(20)]
    with pytest.raises(OtherReportError):
        kept.take(person, other[person]).result(PATIENCE)
    assert [future.result(PATIENCE) for future in waiting] == [None] * 20
    size = kept.size
    take(kept, [trial.reports[person]], [person])
    assert (len(kept), kept.size) == (1, size)
    with pytest.raises(OtherReportError):
        kept.take(person, other[person])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("short", "has 10 bytes"),
        ("long", "has 10 bytes"),
        ("empty", "has 10 bytes"),
        ("version", "to another description"),
        ("tag", "to another description"),
        ("person", "number of another participant"),
        ("beyond", "numbers 0 to 19"),
        ("payload", "no device sends such a report"),
    ],
)
def test_what_no_device_sends_is_not_stored(trial, kept, change, words):
    report = bytearray(trial.reports[3])
    match change:
        case "short":
            del report[-1]
        case "long":
            report += b"x"
        case "empty":
            report = bytearray()
        case "version":
            report[0] = 2
        case "tag":
            report[1] ^= 1
        case "person":
            report[5] = 4
        case "beyond":
            report[5] = 20
        case "payload":
            report[9] = 255
    with pytest.raises(PeerError, match=words):
        kept.take(3, bytes(report))
    take(kept, [trial.reports[3]], [3])  # who was refused may still report
    assert len(kept) == 1


def test_a_full_disk_refuses_a_report_and_keeps_the_others(trial, kept):
    take(kept, trial.reports[:2])
    with full_disk(most=kept.size + 5), pytest.raises(RefusalError, match="nothing can be stored"):
        kept.take(2, trial.reports[2]).result(PATIENCE)
    take(kept, trial.reports[2:3], [2])
    assert len(kept) == 3


def test_nobody_is_told_that_another_report_is_stored_which_is_not(trial, kept, monkeypatch):
    other = reports_of(trial.description, trial.values, seed=8)
    person = next(person for person in range(20) if other[person] != trial.reports[person])
    append, go_on = Segments.append, threading.Event()

    def slow(self, records):
        assert go_on.wait(PATIENCE)
        append(self, records)

    monkeypatch.setattr(Segments, "append", slow)
    with full_disk(most=kept.size):
        first, second = kept.take(person, trial.reports[person]), kept.take(person, other[person])
        go_on.set()
        for each in (first, second):
            with pytest.raises(RefusalError):
                each.result(PATIENCE)
    take(kept, [other[person]], [person])
    with pytest.raises(OtherReportError):
        kept.take(person, trial.reports[person])


def test_a_store_is_of_one_collection(trial):
    kept = trial.opened()
    take(kept, trial.reports)
    kept.close()
    with pytest.raises(RefusalError, match="reports to another description"):
        LocalReports(described(20), trial.store, 20)
    with pytest.raises(RefusalError, match="not in the list of who may report"):
        LocalReports(trial.description, trial.store, 19)


def test_a_token_is_of_one_participant(trial):
    participants = trial.participants()
    assert [participants.person(token) for token in trial.tokens] == list(range(20))
    number, _, secret = trial.tokens[3].partition("-")
    wrong = (
        "",
        "3",
        "3-",
        f"4-{secret}",
        f"-3-{secret}",
        f"03-{secret[:-1]}",
        f"99-{secret}",
        f"{'9' * 5000}-{secret}",
    )
    for token in (*wrong, f"{number}-{secret.upper()}", f"²-{secret}", trial.tokens[3] + "0"):
        with pytest.raises(NotEnrolledError):
            participants.person(token)


def test_a_list_is_of_one_collection(trial, tmp_path):
    listed = trial.folder / "tls" / LIST
    with pytest.raises(ParameterError, match="list of another collection"):
        Participants.read(listed, described(20))
    listed.write_bytes(listed.read_bytes()[:-1])
    with pytest.raises(ParameterError, match="no list of who may report"):
        Participants.read(listed, trial.description)
    with pytest.raises(ParameterError, match="cannot be read"):
        Participants.read(tmp_path / "absent", trial.description)


@pytest.mark.parametrize("count", [0, 21])
def test_not_more_than_are_asked_get_a_token(trial, tmp_path, count):
    with pytest.raises(ParameterError, match="count must be 1 to 20"):
        equip(tmp_path / "new", trial.description, count=count, hosts=("localhost",))
    assert not (tmp_path / "new").exists()
