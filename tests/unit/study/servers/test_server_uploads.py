"""Reports are durable before they are acknowledged, each person has one, and all servers hold them in one order."""

import pytest
from helpers.full_disk import full_disk
from helpers.servers_study import Trial, ages, seeded, token_of
from helpers.waiting import PATIENCE

from ogive.errors import DataError, ParameterError, PeerError, RefusalError
from ogive.study.enrolment import make_token
from ogive.study.servers.uploads import (
    Enrolled,
    credential,
    enrol,
    enrolled,
    make_reports,
    read_report,
    read_tokens,
    report_bytes,
)
from ogive.study.submissions import ClosedError, NotEnrolledError, OtherReportError


@pytest.fixture
def trial(tmp_path):
    with Trial(tmp_path, people=20) as made:
        yield made


@pytest.fixture
def reports(trial):
    return trial.reports({"age": ages(20)})


def shown(trial, person, server=0):
    return credential(token_of(person), study=trial.study.digest, server=server)


def test_reports_are_there_after_the_server_ended(trial, reports):
    trial.take(reports[:7])
    trial.restart(0)
    trial.take(reports[5:12], range(5, 12))  # two of them again
    trial.restart(0)
    assert len(trial.nodes[0].uploads) == 12
    stored = [part for _, some in trial.nodes[0].uploads.parts(1) for part in some]
    assert stored == [read_report(report, trial.study)[1] for report in reports[:12]]


def test_the_same_report_is_acknowledged_again_and_stored_once(trial, reports):
    trial.take(reports[:1])
    size = trial.nodes[0].uploads.size
    trial.take(reports[:1])
    assert (len(trial.nodes[0].uploads), trial.nodes[0].uploads.size) == (1, size)


def test_another_report_of_the_same_person_is_refused(trial, reports):
    other = list(make_reports(trial.study, {"age": [99]}, trial.tokens[:1], random=seeded(9)))
    trial.take(reports[:1])
    with pytest.raises(OtherReportError):
        trial.take(other)
    trial.restart(0)
    with pytest.raises(OtherReportError):
        trial.take(other)


def test_reports_that_come_twice_at_the_same_time_are_stored_once(trial, reports):
    uploads = trial.nodes[0].uploads
    number = uploads.number(shown(trial, 3))
    waiting = [uploads.take(number, reports[3]) for _ in range(20)]
    assert [future.result(PATIENCE) for future in waiting] == [None] * 20
    assert len(uploads) == 1


def test_who_is_not_enrolled_is_not_known(trial):
    uploads = trial.nodes[0].uploads
    for wrong in (shown(trial, 20), shown(trial, 3, server=1), b"", bytes(32)):
        with pytest.raises(NotEnrolledError):
            uploads.number(wrong)
    assert {uploads.number(shown(trial, person)) for person in range(20)} == set(range(20))


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A study to which nothing was uploaded."""
    with Trial(tmp_path_factory.mktemp("empty"), people=20) as made:
        yield made


def test_the_control_the_report_that_is_changed_below_is_stored_unchanged(trial):
    trial.take([*trial.reports({"age": ages(1)})])
    assert len(trial.nodes[0].uploads) == 1


@pytest.mark.parametrize("change", ["short", "long", "study", "part", "empty", "magic"])
def test_what_is_no_report_of_the_study_is_not_stored(empty, change):
    report = bytearray(*empty.reports({"age": ages(1)}))
    match change:
        case "short":
            del report[-1]
        case "long":
            report += b"x"
        case "study":
            report[10] ^= 1
        case "part":
            report[38] ^= 1  # the length of the first part
        case "empty":
            report = bytearray()
        case "magic":
            report[0] ^= 1
    with pytest.raises(PeerError):
        empty.take([bytes(report)])
    assert len(empty.nodes[0].uploads) == 0


def test_after_the_end_only_what_is_stored_is_acknowledged(trial, reports):
    trial.take(reports[:4])
    assert trial.nodes[0].close_uploads() == 4
    trial.take(reports[:4])
    for _ in range(2):
        with pytest.raises(ClosedError):
            trial.take(reports[4:5], [4])
        trial.restart(0)
    assert trial.nodes[0].closed == 4


def test_a_full_disk_refuses_a_report_and_keeps_the_others(trial, reports):
    trial.take(reports[:2])
    with full_disk(most=trial.nodes[0].uploads.size + 10), pytest.raises(RefusalError, match="nothing can be stored"):
        trial.take(reports[2:3], [2])
    trial.take(reports[2:3], [2])
    assert len(trial.nodes[0].uploads) == 3


def test_opened_uploads_are_there_whole_or_not_at_all(trial, reports):
    trial.take(reports)
    trial.nodes[0].close_uploads()
    with full_disk(most=100), pytest.raises(RefusalError, match="opened uploads cannot be stored"):
        trial.nodes[0].names()
    assert not list(trial.place(0).glob("opened*"))
    trial.nodes[0].names()
    assert [path.name for path in trial.place(0).glob("opened*")] == ["opened-0.parquet"]


def test_tokens_are_made_with_their_lists_or_not_at_all(tmp_path, trial):
    folder = tmp_path / "people"
    with full_disk(most=100), pytest.raises((ParameterError, OSError)):
        enrol(folder, trial.study, 20)
    assert not folder.exists()
    enrol(folder, trial.study, 20)
    assert len(read_tokens(folder / "tokens")) == 20


def test_a_list_may_grow_and_not_lose_who_uploaded(trial, reports):
    trial.take(reports)
    trial.stop(0)
    (trial.place(0) / "enrolled").write_bytes(enrolled(trial.tokens[:3], trial.study, 0))
    with pytest.raises(RefusalError, match="are not in the list of who may upload"):
        trial.start(0)
    more = [*trial.tokens, *map(token_of, range(20, 50))]
    (trial.place(0) / "enrolled").write_bytes(enrolled(more, trial.study, 0))
    trial.start(0)
    trial.take(reports)
    assert len(trial.nodes[0].uploads) == 20


def test_a_relay_goes_on_where_the_other_store_ends(trial, reports):
    relayed = trial.nodes[1].uploads
    parts = [read_report(report, trial.study)[1] for report in reports]
    assert relayed.take(0, parts[:5]) == 5
    assert relayed.take(3, parts[3:9]) == 9  # some of it again
    assert relayed.take(0, parts[:2]) == 9
    with pytest.raises(PeerError, match="from number 11 on were relayed, and 9 are stored"):
        relayed.take(11, parts[11:])
    with pytest.raises(PeerError, match="another length"):
        relayed.take(9, [parts[9][:-1]])
    trial.restart(1)
    relayed = trial.nodes[1].uploads
    assert [part for _, some in relayed.parts(1) for part in some] == parts[:9]
    with pytest.raises(PeerError, match="9 parts are stored, and 10 are to be counted"):
        relayed.close_uploads(10)
    relayed.close_uploads(9)
    with pytest.raises(ClosedError):
        relayed.take(9, parts[9:])
    assert relayed.take(0, parts[:9]) == 9


def test_all_that_came_is_relayed_whatever_process_does_it(trial, reports):
    trial.take(reports[:6])
    assert trial.leader.relay()
    assert not trial.leader.relay()
    trial.take(reports[6:9], range(6, 9))
    trial.restart(0)
    assert trial.leader.relay()
    trial.restart(1)
    trial.take(reports[9:], range(9, 20))
    assert trial.leader.relay()
    assert len(trial.nodes[1].uploads) == 20


def test_a_report_is_as_long_as_everybody_s(trial, reports):
    assert {len(report) for report in reports} == {report_bytes(trial.study)}
    assert len(set(reports)) == 20


def test_records_and_tokens_have_to_fit(trial):
    with pytest.raises(ParameterError, match="records: 2, tokens: 1"):
        list(make_reports(trial.study, {"age": [1, 2]}, trial.tokens[:1]))
    with pytest.raises(ParameterError, match="same token"):
        list(make_reports(trial.study, {"age": [1, 2]}, trial.tokens[:1] * 2))
    with pytest.raises(ParameterError, match="64 hexadecimal digits"):
        list(make_reports(trial.study, {"age": [1]}, ["secret"]))
    with pytest.raises(DataError, match="age"):
        list(make_reports(trial.study, {"weight": [1]}, trial.tokens[:1]))


def test_a_list_is_of_one_server_of_one_study(tmp_path, trial):
    path = tmp_path / "list"
    path.write_bytes(enrolled([make_token() for _ in range(3)], trial.study, 1))
    assert len(Enrolled.read([path], trial.study, 1)) == 3
    other = tmp_path / "other"
    other.write_bytes(enrolled(trial.tokens, trial.study, 1))
    both = Enrolled.read([path, other, path], trial.study, 1)
    assert len(both) == 3 + len(trial.tokens)
    assert len({both.number(shown(trial, person, server=1)) for person in range(20)} - {None}) == 20
    with pytest.raises(ParameterError, match="list of another server"):
        Enrolled.read([path], trial.study, 0)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ParameterError, match="no list of who may upload"):
        Enrolled.read([path], trial.study, 1)
    with pytest.raises(ParameterError, match="cannot be read"):
        Enrolled.read([tmp_path / "absent"], trial.study, 1)
