"""What was appended is there once after any crash, in order; only what was not acknowledged may be cut off."""

import os
import signal
import subprocess
import threading
import time

import pytest
from helpers.forked import python
from helpers.full_disk import full_disk
from helpers.waiting import PATIENCE
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import RefusalError
from ogive.segments import BEGINNING, FRONT, Committer, Segments, is_store, stored

SMALL = 400
"""Bytes of a file in these tests, so that records lie in several."""

APPENDS = [[b"one", b""], [b"x" * 300], [b"three" * 10], [bytes(range(256))], [b"y" * 350], [b"last", b"of", b"all"]]
RECORDS = [record for some in APPENDS for record in some]


def filled(folder, appends=APPENDS):
    """The ends of the last file after each append."""
    with Segments(folder, segment_bytes=SMALL) as store:
        ends = []
        for some in appends:
            store.append(some)
            ends.append(last_file(folder).stat().st_size)
    return ends


def last_file(folder):
    return max(folder.glob("*.segment"))


def read(folder):
    with Segments(folder, segment_bytes=SMALL) as store:
        return list(store)


@settings(max_examples=40, deadline=None)
@given(appends=st.lists(st.lists(st.binary(max_size=90), max_size=4), max_size=12), opened=st.integers(1, 4))
def test_records_are_read_as_they_were_appended(tmp_path_factory, appends, opened):
    folder = tmp_path_factory.mktemp("store")
    for number in range(opened):
        with Segments(folder, segment_bytes=SMALL) as store:
            for some in appends[number::opened]:
                store.append(some)
    expected = [record for number in range(opened) for some in appends[number::opened] for record in some]
    assert read(folder) == expected


def test_a_long_store_has_several_files(tmp_path):
    filled(tmp_path)
    assert len(list(tmp_path.glob("*.segment"))) > 1
    assert read(tmp_path) == RECORDS


def test_wherever_the_last_commit_is_cut_off_those_before_it_stay(tmp_path):
    start, whole = filled(tmp_path, [[b"a" * 30, b"b"], [b"c" * 40], [b"d", b"e" * 50]])[1:]
    path = last_file(tmp_path)
    content = path.read_bytes()
    assert len(content) == whole
    for cut in range(start, whole):
        path.write_bytes(content[:cut])
        assert read(tmp_path) == [b"a" * 30, b"b", b"c" * 40]
        with Segments(tmp_path) as store:
            store.append([b"again"])
        assert read(tmp_path)[3:] == [b"again"]


def test_the_front_of_a_last_file_that_was_cut_off_is_written_again(tmp_path):
    filled(tmp_path)
    new = tmp_path / f"{int(last_file(tmp_path).stem) + 1:08d}.segment"
    for length in range(FRONT + 1):
        new.write_bytes(b"OGSEG001".ljust(FRONT, b"?")[:length])
        assert read(tmp_path) == RECORDS
    new.write_bytes(b"OGSEG001"[:3])
    with Segments(tmp_path, segment_bytes=SMALL) as store:
        store.append([b"y" * 390])
    assert read(tmp_path) == [*RECORDS, b"y" * 390]


def test_lost_pages_of_the_last_commit_are_zeros(tmp_path):
    filled(tmp_path, [[b"first"]])
    path = last_file(tmp_path)
    start = path.stat().st_size
    filled(tmp_path, [[b"second" * 20]])
    content = path.read_bytes()
    path.write_bytes(content[:start] + bytes(40) + content[start + 40 :])
    assert read(tmp_path) == [b"first"]


@pytest.mark.parametrize("file", [0, 1])
def test_damage_to_what_was_acknowledged_is_an_error_and_nothing_is_cut(tmp_path, file):
    filled(tmp_path)
    path = sorted(tmp_path.glob("*.segment"))[file]
    content = path.read_bytes()
    assert path != last_file(tmp_path), "damage to the last commit of all cannot be told from a crash"
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 0x40
        path.write_bytes(damaged)
        with pytest.raises(RefusalError, match=r"damaged at byte|is not a file of a store"):
            read(tmp_path)
        assert path.read_bytes() == damaged
    path.write_bytes(content)
    assert read(tmp_path) == RECORDS


def test_damage_in_the_last_file_before_its_last_commit_is_an_error(tmp_path):
    appends = [[b"a" * 30], [b"b" * 30], [b"c" * 30]]
    ends = filled(tmp_path, appends)
    path = last_file(tmp_path)
    content = path.read_bytes()
    for place in range(FRONT, ends[1]):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(RefusalError, match="damaged at byte"):
            read(tmp_path)


def test_a_record_that_looks_like_a_commit_is_none(tmp_path):
    """Else whoever uploads it could keep a store from opening after a crash."""
    filled(tmp_path / "other", [[b"inner"]])
    forged = last_file(tmp_path / "other").read_bytes()[FRONT:]
    start = filled(tmp_path, [[b"first"]])[-1]
    filled(tmp_path, [[forged, b"more"]])
    path = last_file(tmp_path)
    content = bytearray(path.read_bytes())
    content[start] ^= 1  # the beginning of a commit that was not acknowledged
    path.write_bytes(content)
    assert read(tmp_path) == [b"first"]


def test_reading_goes_on_from_any_place(tmp_path):
    with Segments(tmp_path, segment_bytes=SMALL) as store:
        for some in APPENDS[:4]:
            store.append(some)
        places = [BEGINNING, *(place for place, _ in store.after(BEGINNING))]
        for some in APPENDS[4:]:
            store.append(some)
        for number, place in enumerate(places):
            assert [records for _, records in store.after(place)] == APPENDS[number:]


def test_a_missing_file_is_an_error(tmp_path):
    filled(tmp_path)
    min(tmp_path.glob("*.segment")).unlink()
    with pytest.raises(RefusalError, match="lacks a file"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["00000002 (copy).segment", "x.segment", "2.segment", "٣٣٣٣٣٣٣٣.segment"])
def test_a_file_with_another_name_is_an_error_and_stays(tmp_path, name):
    filled(tmp_path)
    (tmp_path / name).write_bytes(b"notes")
    with pytest.raises(RefusalError, match=r"is not a file of a store; move it elsewhere"):
        read(tmp_path)
    (tmp_path / name).unlink()
    assert read(tmp_path) == RECORDS


def test_one_process_at_a_time(tmp_path):
    with Segments(tmp_path), pytest.raises(RefusalError, match="in use by another process"):
        Segments(tmp_path)
    read(tmp_path)


def test_a_full_disk_refuses_and_keeps_what_was_there(tmp_path):
    with Segments(tmp_path) as store:
        store.append([b"before"])
        with full_disk(most=64), pytest.raises(RefusalError, match="nothing can be stored"):
            store.append([b"x" * 200])
        store.append([b"after"])
        assert list(store) == [b"before", b"after"]
    assert read(tmp_path) == [b"before", b"after"]


def test_what_did_not_fit_leaves_nothing_in_a_file_after_which_another_begins(tmp_path):
    with Segments(tmp_path, segment_bytes=SMALL) as store:
        store.append([b"x" * 150])
        with full_disk(most=200), pytest.raises(RefusalError, match="nothing can be stored"):
            store.append([b"y" * 150])
        store.append([b"z" * 350])  # begins the second file
        assert list(stored(tmp_path)) == [b"x" * 150, b"z" * 350]
    assert [path.name for path in sorted(tmp_path.glob("*.segment"))] == ["00000001.segment", "00000002.segment"]
    assert read(tmp_path) == [b"x" * 150, b"z" * 350]


def test_a_store_of_several_files_is_read_while_it_grows(tmp_path):
    assert not is_store(tmp_path)
    with Segments(tmp_path, segment_bytes=SMALL) as store:
        for number, some in enumerate(APPENDS, 1):
            store.append(some)
            assert is_store(tmp_path)
            assert list(stored(tmp_path)) == [record for each in APPENDS[:number] for record in each]
    assert len(list(tmp_path.glob("*.segment"))) > 2


def test_a_reader_leaves_out_what_is_half_written_in_the_last_file_alone(tmp_path):
    *_, before, after = filled(tmp_path, [*APPENDS, [b"more"]])
    assert before < after
    whole = last_file(tmp_path).read_bytes()
    for length in range(after):
        last_file(tmp_path).write_bytes(whole[:length])
        lost = 1 if length >= before else 1 + len(APPENDS[-1])
        assert list(stored(tmp_path)) == [*RECORDS, b"more"][:-lost]
        assert last_file(tmp_path).read_bytes() == whole[:length]  # a reader changes nothing
    last_file(tmp_path).write_bytes(whole)
    first = tmp_path / "00000001.segment"
    first.write_bytes(first.read_bytes()[:-1])
    with pytest.raises(RefusalError, match=r"00000001.segment is damaged at byte \d+; put it back as it was last"):
        list(stored(tmp_path))


def test_a_reader_refuses_a_damaged_file_in_the_middle_in_one_line(tmp_path):
    filled(tmp_path)
    middle = tmp_path / "00000002.segment"
    good = middle.read_bytes()
    for place in range(len(good)):
        middle.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(RefusalError) as refusal:
            list(stored(tmp_path))
        assert str(refusal.value).startswith(str(middle))
        assert "\n" not in str(refusal.value)
    middle.unlink()
    with pytest.raises(RefusalError, match="lacks a file; put it back as it was last"):
        list(stored(tmp_path))


def test_a_file_that_cannot_be_begun_leaves_the_store_as_it_was(tmp_path):
    with Segments(tmp_path, segment_bytes=SMALL) as store:
        store.append([b"x" * 350])
        with full_disk(most=4), pytest.raises(RefusalError, match="nothing can be stored"):
            store.append([b"y" * 350])
        store.append([b"z"])
    assert read(tmp_path) == [b"x" * 350, b"z"]


def test_after_a_failed_sync_nothing_is_acknowledged(tmp_path, monkeypatch):
    def failing(handle):
        raise OSError(5, "Input/output error")

    with Segments(tmp_path) as store:
        store.append([b"before"])
        with monkeypatch.context() as broken:
            broken.setattr(os, "fdatasync", failing)
            with pytest.raises(RefusalError, match="Input/output error"):
                store.append([b"lost"])
        with pytest.raises(RefusalError, match="failed before"):
            store.append([b"more"])


def test_a_committer_stores_all_that_many_threads_give_it(tmp_path):
    with Segments(tmp_path) as store:
        committer = Committer(store)
        commits = []
        append = store.append

        def slow(records):  # as a disk is: what comes meanwhile waits and is written together
            commits.append(len(records))
            time.sleep(0.002)
            append(records)

        store.append = slow

        def give(front):
            for number in range(50):
                committer.submit(b"%d/%d" % (front, number)).result(PATIENCE)

        threads = [threading.Thread(target=give, args=(front,)) for front in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        committer.close()
        assert sorted(store) == sorted(b"%d/%d" % (front, number) for front in range(8) for number in range(50))
        assert len(commits) < 400, "several records share a commit"
        with pytest.raises(RefusalError, match="closed"):
            committer.submit(b"late")


def test_who_stops_waiting_keeps_nobody_else_from_being_stored(tmp_path):
    with Segments(tmp_path) as store:
        committer = Committer(store)
        waiting = [committer.submit(b"%d" % number) for number in range(50)]
        assert not any(future.cancel() for future in waiting)
        assert [future.result(PATIENCE) for future in waiting] == [None] * 50
        committer.submit(b"later").result(PATIENCE)
        committer.close()
    assert read(tmp_path)[-1] == b"later"


def test_a_committer_tells_each_who_waits_that_nothing_was_kept(tmp_path):
    with Segments(tmp_path) as store:
        committer = Committer(store, most_waiting=300)
        with pytest.raises(RefusalError, match="busy"):
            committer.submit(b"x" * 301)
        with full_disk(most=16), pytest.raises(RefusalError, match="nothing can be stored"):
            committer.submit(b"x" * 100).result(PATIENCE)
        committer.submit(b"kept").result(PATIENCE)
        committer.close()
        assert list(store) == [b"kept"]


WRITER = """
import sys
from pathlib import Path
from ogive.segments import BEGINNING, Segments
from ogive.segments import is_store, stored
store = Segments(Path(sys.argv[1]), segment_bytes=4000)
for number in range(100_000):
    store.append([b"%d" % number] * (number % 3 + 1))
    print(number, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path):
    for _ in range(3):
        folder = tmp_path / str(_)
        with subprocess.Popen([python(), "-c", WRITER, str(folder)], stdout=subprocess.PIPE) as writer:
            for _ in range(40):
                acknowledged = int(writer.stdout.readline())
            writer.send_signal(signal.SIGKILL)
            acknowledged = max([acknowledged, *map(int, writer.stdout.read().split())])
        found = [int(record) for record in read(folder)]
        last = max(found)
        assert last in (acknowledged, acknowledged + 1)
        assert found == [number for number in range(last + 1) for _ in range(number % 3 + 1)]
