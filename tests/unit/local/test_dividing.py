"""Parts of reports that many workers add up come to what one process finds."""

import gzip
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from helpers.engines import need_spark
from helpers.scope import is_everything
from helpers.waiting import PATIENCE

import ogive
from ogive.errors import ParameterError, PeerError
from ogive.local import Collection, Description, Randomizer, add_part, divide, merge_parts

PEOPLE = 2_000


@pytest.fixture(scope="module")
def asked():
    curve = ogive.Ecdf("age", bounds=(0, 64), bins=64)
    return Description.of(ogive.describe_collection(curve, privacy=ogive.PureDP(1), participants=PEOPLE, title="ages"))


@pytest.fixture(scope="module")
def reports(asked):
    ages = np.random.default_rng(1).uniform(0, 64, (PEOPLE, 1))
    return Randomizer(asked).report_rows(ages)


@pytest.fixture(scope="module")
def others(asked):
    """Of the same people, who reported twice."""
    return Randomizer(asked).report_rows(np.full((PEOPLE, 1), 30.0))


@pytest.fixture
def files(asked, reports, others, tmp_path):
    """Three files with reports in common, one that is compressed, one that was cut off, and a partial state."""
    size = asked.report_bytes
    pieces = {
        "a": reports[: 700 * size],
        "b": others[600 * size : 1200 * size] + b"xyz",
        "c": reports[1100 * size : 1500 * size] + reports[: 50 * size],
    }
    for name, data in pieces.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "d.gz").write_bytes(gzip.compress(reports[1400 * size : 1700 * size]))
    state = Collection(asked)
    state.add(reports[1700 * size : 1900 * size])
    state.save(tmp_path / "e")
    return [tmp_path / name for name in ("a", "b", "c", "d.gz", "e")]


def one_process(asked, files):
    found = Collection(asked)
    for file in files:
        found.add(file)
    return found


def same(first, second):
    return (first.digest(), first.counts) == (second.digest(), second.counts)


@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.everything), 37, 500, 10**6])
def test_parts_come_to_what_one_process_finds(asked, files, size):
    files = files if size > 1 else files[1:2]
    parts = divide(asked, files, reports=size)
    results = [add_part(part) for part in reversed(parts)]
    assert same(merge_parts(parts, results), one_process(asked, files))
    if len(files) > 1:  # the control: another order lets other reports count
        other = divide(asked, files[::-1], reports=size)
        assert not same(merge_parts(other, map(add_part, other)), one_process(asked, files))


@pytest.mark.everything
def test_a_pool_of_processes_adds_up(asked, files):
    parts = divide(asked, files, reports=300)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = merge_parts(parts, pool.map(add_part, parts))
    assert same(found, one_process(asked, files))


def test_each_part_counts_once_and_none_is_missed(asked, files):
    parts = divide(asked, files, reports=300)
    results = [add_part(part) for part in parts]
    whole = one_process(asked, files)
    assert same(merge_parts(parts, [*results, results[0]]), whole)
    with pytest.raises(PeerError, match=r"1 of \d+ parts have no result, the first is part 1"):
        merge_parts(parts, [results[0], *results[2:]])
    with pytest.raises(PeerError, match="two different results of part 0"):
        merge_parts(parts, [*results, (0, results[1][1])])
    with pytest.raises(PeerError, match="there is a result of part 99"):
        merge_parts(parts, [*results, (99, results[1][1])])
    with pytest.raises(PeerError, match="damaged"):
        merge_parts(parts, [(0, results[0][1][:-1]), *results[1:]])
    with pytest.raises(ParameterError, match="there are no parts"):
        merge_parts([], [])


def test_a_result_of_another_description_is_refused(asked, files):
    parts = divide(asked, files[:1])
    curve = ogive.Ecdf("age", bounds=(0, 64), bins=64)
    other = Collection(ogive.describe_collection(curve, privacy=ogive.PureDP(2), participants=PEOPLE, title="ages"))
    with pytest.raises(PeerError, match="is of another description"):
        merge_parts(parts, [(0, other.to_bytes())])


def test_a_file_that_changed_meanwhile_is_refused(asked, files, reports):
    parts = divide(asked, files[:1], reports=300)
    with files[0].open("ab") as file:
        file.write(reports[: asked.report_bytes])
    with pytest.raises(ParameterError, match="has changed since its parts were made"):
        add_part(parts[0])
    files[0].unlink()
    with pytest.raises(ParameterError, match=r"cannot read .*: No such file"):
        add_part(parts[0])
    with pytest.raises(ParameterError, match="cannot read"):
        divide(asked, files[:1])


def test_an_empty_file_is_a_part_without_reports(asked, tmp_path):
    (tmp_path / "none").touch()
    parts = divide(asked, [tmp_path / "none"])
    assert merge_parts(parts, map(add_part, parts)).accepted == 0


KILLED = """
import os, signal, sys
from pathlib import Path
from pyspark.sql import SparkSession
from ogive.local import Description, add_part, divide, map_on_spark, merge_parts

study, mark, out, *files = map(Path, sys.argv[1:])

def once(part):
    if part.number == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return add_part(part)

# Spark begins a lost task again, four times in all; one process tries once unless it is told so
session = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").getOrCreate()
parts = divide(Description.from_json(study.read_text()), files, reports=300)
found = merge_parts(parts, map_on_spark(session, once, parts))
found.save(out)
assert map_on_spark(session, add_part, []) == []
"""


@pytest.mark.everything
@pytest.mark.slow
def test_a_killed_worker_of_spark_counts_once(asked, files, tmp_path):
    need_spark()
    study, mark, out = (tmp_path / name for name in ("study", "mark", "out"))
    study.write_text(asked.to_json())
    words = [sys.executable, "-c", KILLED, study, mark, out, *files]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr[-3000:]
    assert mark.exists(), "a worker was killed"
    assert "exited unexpectedly" in done.stderr
    assert same(Collection.load(out), one_process(asked, files))


@pytest.mark.slow
def test_dask_adds_up(asked, files):
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    parts = divide(asked, files, reports=300)
    workers = {} if is_everything() else {"num_workers": 1}
    delayed = [dask.delayed(add_part)(part) for part in parts]
    found = merge_parts(parts, dask.compute(*delayed, scheduler="processes", **workers))
    assert same(found, one_process(asked, files))


@pytest.mark.slow
def test_ray_adds_up(asked, files):
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        parts = divide(asked, files, reports=300)
        found = merge_parts(parts, ray.get([ray.remote(add_part).remote(part) for part in parts]))
    finally:
        ray.shutdown()
    assert same(found, one_process(asked, files))
