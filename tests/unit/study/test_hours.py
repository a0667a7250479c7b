"""Counts by hour outlive the process, whatever becomes of their file."""

import pytest

from ogive.study import submissions as module
from ogive.study.submissions import FILE, Hours


@pytest.fixture
def clock(monkeypatch):
    """Seconds since 1970 and since the process began, which tests set."""
    now = {"time": 7_200.0, "monotonic": 0.0}
    monkeypatch.setattr(module.time, "time", lambda: now["time"])
    monkeypatch.setattr(module.time, "monotonic", lambda: now["monotonic"])
    return now


def test_the_next_process_goes_on_counting(tmp_path, clock):
    first = Hours(tmp_path)
    for seconds in (7_200, 7_300, 10_800):
        clock["time"] = seconds
        first.add()
    first.write()
    second = Hours(tmp_path)
    second.add()
    assert second.last == [[7_200, 2], [10_800, 2]]


def test_what_a_killed_process_did_not_write_counts_in_the_hour_of_the_last_report(tmp_path, clock):
    hours = Hours(tmp_path)
    for seconds in range(0, 180, 10):
        clock["monotonic"] = seconds
        hours.add()
    written = sum(count for _, count in Hours(tmp_path).last)
    assert 18 - 6 <= written < 18
    again = Hours(tmp_path, stored=18, until=10_900.0)
    assert again.last == [[7_200, written], [10_800, 18 - written]]
    again.write()
    assert Hours(tmp_path, stored=18, until=99_999.0).last == again.last


def test_a_lost_file_counts_all_reports_in_the_hour_of_the_last_one(tmp_path, clock):
    assert Hours(tmp_path, stored=7, until=10_900.0).last == [[10_800, 7]]


def test_a_file_of_an_earlier_version_is_taken_as_it_is(tmp_path, clock):
    (tmp_path / FILE).write_text("[[7200, 3]]")
    hours = Hours(tmp_path, stored=500, until=10_900.0)
    assert hours.last == [[7_200, 3]]
    hours.add()
    hours.write()
    assert Hours(tmp_path, stored=502, until=10_900.0).last == [[7_200, 4], [10_800, 1]]


@pytest.mark.parametrize(
    "content", ["", "[1]", '{"a": 1}', '[["x", 1]]', "[[null, 2]]", "\xff", '{"all": 1}', '{"all": null, "hours": []}']
)
def test_a_damaged_file_is_begun_again(tmp_path, clock, content):
    (tmp_path / FILE).write_text(content, encoding="latin-1")
    hours = Hours(tmp_path)
    assert hours.last == []
    hours.add()
    hours.write()
    assert Hours(tmp_path).last == [[7_200, 1]]


def test_a_folder_that_cannot_be_written_loses_no_count(tmp_path, clock):
    hours = Hours(tmp_path / "absent")
    hours.add()
    assert hours.last == [[7_200, 1]]


def test_the_last_two_days_are_kept(tmp_path, clock):
    hours = Hours(tmp_path)
    for hour in range(60):
        clock["time"] = 3_600.0 * hour
        hours.add()
    assert [first for first, _ in hours.last] == [3_600 * hour for hour in range(12, 60)]
