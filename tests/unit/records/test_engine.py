"""One embedded database for a process: its connections do not meet, and nothing of a file is kept."""

import multiprocessing
import os
import warnings
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.waiting import PATIENCE

from ogive.records import engine


def total(path):
    """The sum of a file of whole numbers, on a connection of its own."""
    if path.suffix == ".csv":
        table = engine.read_csv(path, types={"a": "BIGINT"}, separator=",")
        return table.aggregate("sum(a)").fetchone()[0]
    return engine.read_parquet([path]).aggregate("sum(a)").fetchone()[0]


def write(path, numbers):
    if path.suffix == ".csv":
        path.write_text("a\n" + "".join(f"{number}\n" for number in numbers), encoding="utf-8")
    else:
        pq.write_table(pa.table({"a": numbers}), path, compression="none")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_written_again_at_the_same_time_and_size_is_read_again(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    write(path, [1, 2, 3])
    before = path.stat()
    assert total(path) == 6
    write(path, [4, 5, 6])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert total(path) == 15


def test_threads_read_files_of_their_own(tmp_path):
    paths = []
    for number in range(40):
        paths.append(tmp_path / f"{number}.{'csv' if number % 2 else 'parquet'}")
        write(paths[-1], [number, 1000])
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(total, paths * 3)) == [1000 + number for number in range(40)] * 3


def test_a_stream_goes_on_while_others_read(tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    write(first, range(200_000))
    write(second, [7])
    batches = engine.stream(engine.read_csv(first, types={"a": "BIGINT"}, separator=","), ["a"])
    seen = next(batches)[0].to_pylist()
    assert total(second) == 7
    seen += [value for batch in batches for value in batch[0].to_pylist()]
    assert sorted(seen) == list(range(200_000))


def test_a_process_that_was_forked_has_a_database_of_its_own(tmp_path):
    path = tmp_path / "t.csv"
    write(path, range(1000))
    assert total(path) == 499_500
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads of the parent do not go on in the child
        pool = multiprocessing.get_context("fork").Pool(1)
    with pool:
        assert pool.apply_async(total, (path,)).get(timeout=PATIENCE) == 499_500
    assert total(path) == 499_500
