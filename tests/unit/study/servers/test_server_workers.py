"""Workers that evaluate opened uploads in parts find what a server finds alone, to the last bit of its answer."""

import dataclasses
import functools
import logging
import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from helpers.engines import need_spark
from helpers.forked import Forked
from helpers.scope import size
from helpers.server_processes import Processes
from helpers.servers_study import AGE, Trial, ages, in_process
from helpers.waiting import PATIENCE

from ogive.crypto import comparison
from ogive.errors import ParameterError, PeerError
from ogive.study.servers import evaluate_part, evaluating, merge_parts
from ogive.study.servers import evaluating as opened
from ogive.study.servers.uploads import read_report

PEOPLE = 23
BINS = size(121, part=9)
RECORDS = {"age": ages(PEOPLE) % BINS}
ASKED = AGE | {"bounds": f"[0, {BINS - 1}]"}
KEYS, UNVERIFIED = {"upload": '"keys"'}, {"upload": '"keys"', "verified": "false"}
VOTES = {
    "name": "age",
    "statistic": "labels",
    "privacy": "{ epsilon = 8, delta = 1e-5 }",
    "queries": "['q0', 'q1', 'q2']",
    "classes": "3",
    "sigma": "2",
}


def small_groups(patch):
    """Row groups of five people, and two of them in a part, so that there are several."""
    patch.setattr(opened, "_ROWS", 5)
    patch.setattr(evaluating, "_PART_GROUPS", 2)


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch):
    small_groups(monkeypatch)


class Recorded:
    """Workers in this process, which keep the parts that they were given; all that they get comes as bytes."""

    def __init__(self, change=lambda part: part):
        self.given = []
        self.change = change

    def __call__(self, work, parts):
        self.given.append(parts)
        given = pickle.loads(pickle.dumps([self.change(part) for part in parts]))
        return list(map(pickle.loads(pickle.dumps(work)), reversed(given)))


def damaged(reports, study):
    """The reports, of which the third cannot be read by server 0, and the tenth not by server 1."""
    sizes = [len(part) for part in read_report(reports[0], study)]
    front = len(reports[0]) - sum(sizes) - 4 * len(sizes)
    changed = list(reports)
    for number, place in ((2, front + 4 + 20), (9, front + 8 + sizes[0] + 20)):
        report = bytearray(reports[number])
        report[place] ^= 1
        changed[number] = bytes(report)
    return changed


def answers(folder, workers=None, *, records=RECORDS, restart=None, **options):
    """What each server answers, its noise included; two people are not in the set."""
    with Trial(
        folder, people=PEOPLE, workers=workers, **({"records": PEOPLE, "releases": (ASKED,)} | options)
    ) as trial:
        trial.take(damaged(trial.reports(records), trial.study))
        trial.release()
        if restart is not None:
            restart(trial)
        assert trial.nodes[0].closed == PEOPLE
        found = []
        for number in trial.numbers:
            with trial.stores[number].read() as kept:
                found.append(kept.get("answer/age/0"))
        assert all(found)
        return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What each server answers without workers, by how people upload, found once."""

    def found(**options):
        return answers(tmp_path_factory.mktemp("alone") / "trial", **options)

    return functools.cache(found)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Parts of the usual size, made once."""
    with pytest.MonkeyPatch.context() as patch:
        small_groups(patch)
        return few_parts(tmp_path_factory.mktemp("parts"))


def bits_of(part):
    return np.unpackbits(np.frombuffer(part.counted, np.uint8), count=sum(rows for _, rows in part.groups))


def few_parts(folder):
    """The parts of server 0 of a study, which are there while the folder is."""
    workers = Recorded()
    with Trial(folder / "trial", people=PEOPLE, workers=workers, releases=(ASKED,), records=PEOPLE, **KEYS) as trial:
        trial.take(damaged(trial.reports(RECORDS), trial.study))
        trial.release()
        for file in trial.place(0).glob("*.parquet"):
            kept = folder / file.name
            kept.write_bytes(file.read_bytes())
    status = kept.stat()
    (parts,) = (each for each in workers.given if each[0].asked.server == 0)
    stamp = status.st_size, status.st_mtime_ns
    return [dataclasses.replace(part, path=str(kept), stamp=stamp) for part in parts]


@pytest.mark.parametrize(
    ("servers", "options"),
    [
        (2, KEYS),
        pytest.param(2, UNVERIFIED, marks=pytest.mark.everything),
        (3, {"upload": '"tables"'}),
        pytest.param(2, {"upload": '"tables"', "verified": "false"}, marks=pytest.mark.everything),
        (2, {"releases": (VOTES,), "budget": "{ epsilon = 8, delta = 1e-5 }"}),
    ],
    ids=["keys", "keys not verified", "tables", "tables not verified", "votes"],
)
def test_a_server_answers_the_same_whoever_evaluates(tmp_path, alone, servers, options):
    votes = np.random.default_rng(2).integers(0, 3, (3, PEOPLE))
    records = {f"q{query}": each for query, each in enumerate(votes)} if "releases" in options else RECORDS
    workers = Recorded()
    if options in (KEYS, UNVERIFIED):
        expected = alone(**options)
    else:
        expected = answers(tmp_path / "alone", records=records, servers=servers, **options)
    assert answers(tmp_path / "workers", workers, records=records, servers=servers, **options) == expected
    assert sorted(parts[0].asked.server for parts in workers.given) == list(range(servers)), "each asks once"
    for parts in workers.given:
        last = 2 if parts[0].asked.server < 2 else 3  # the third server can read all uploads
        assert [part.groups for part in parts] == [((0, 5), (1, 5)), ((2, 5), (3, 5)), ((4, last),)]
        assert [part.number for part in parts] == [0, 1, 2]
        assert sum(bits_of(part).sum() for part in parts) == PEOPLE - 2


def test_the_mask_says_who_counts(tmp_path, alone):
    """The control: workers who count somebody else in the same number of people find other sums."""

    def another(part):
        return dataclasses.replace(part, counted=np.packbits(bits_of(part)[::-1]).tobytes())

    assert answers(tmp_path / "others", Recorded(another), **UNVERIFIED) != alone(**UNVERIFIED)


def test_uploads_that_are_false_are_left_out_of_what_workers_found(tmp_path, monkeypatch):
    make = comparison.generate

    def false(alphas, **named):
        payloads = np.ones(len(alphas), np.uint64)
        payloads[4] = 5
        return make(alphas, payloads=payloads, **named)

    left = []
    monkeypatch.setattr(comparison, "generate", false)

    def restart(trial):
        left.append((trial.nodes[0].clients, trial.nodes[0].left_out))

    alone = answers(tmp_path / "alone", restart=restart, **KEYS)
    assert answers(tmp_path / "workers", Recorded(), restart=restart, **KEYS) == alone
    assert left == [(PEOPLE - 3, 3)] * 2


@pytest.mark.parametrize(
    ("work", "sizes"),
    [
        pytest.param(1 << 26, [2, 2, 1], marks=pytest.mark.everything),
        (5 * BINS, [1] * 5),
        pytest.param(1, [1] * 5, marks=pytest.mark.everything),
    ],
)
def test_parts_are_smaller_where_there_are_more_blocks(tmp_path, monkeypatch, work, sizes):
    monkeypatch.setattr(evaluating, "_PART_WORK", work)
    assert [len(part.groups) for part in few_parts(tmp_path)] == sizes


def test_a_part_in_which_nobody_counts_is_not_made(tmp_path, monkeypatch):
    monkeypatch.setattr(opened, "_ROWS", 1)
    monkeypatch.setattr(evaluating, "_PART_GROUPS", 1)
    parts = few_parts(tmp_path)
    assert len(parts) == PEOPLE - 2
    assert [part.groups[0][0] for part in parts] == [group for group in range(PEOPLE - 1) if group != 8]
    assert all(bits_of(part).tolist() == [1] for part in parts)


def test_workers_count_again_after_a_server_was_restarted(tmp_path):
    releases = (ASKED, ASKED | {"name": "again"})
    sums = []

    def restart(trial):
        trial.restart(1)
        trial.release("again")
        sums.append(trial.nodes[1].answers(1)[0].values.tolist())

    workers = Recorded()
    alone = answers(tmp_path / "alone", releases=releases, restart=restart, **KEYS)
    assert answers(tmp_path / "workers", workers, releases=releases, restart=restart, **KEYS) == alone
    assert sums[0] == sums[1]
    # it has no sums any more, and nothing to verify
    assert [(parts[0].asked.server, parts[0].asked.forms) for parts in workers.given][-1] == (1, 0)


def lose_one(work, parts):
    return [work(part) for part in parts[1:]]


def contradict(work, parts):
    return [*map(work, parts), (0, b"")]


def end(work, parts):
    yield work(parts[0])
    raise BrokenPipeError("a worker\nended")


@pytest.mark.parametrize(
    ("workers", "said"),
    [
        (lose_one, "PeerError: 1 of 3 parts have no result, the first is part 0"),
        (contradict, "PeerError: there are two different results of part 0"),
        (end, "BrokenPipeError: a worker ended"),
    ],
)
def test_a_server_does_the_work_of_workers_that_fail(tmp_path, caplog, alone, workers, said):
    with caplog.at_level(logging.WARNING, "ogive.study"):
        assert answers(tmp_path / "workers", workers, **KEYS) == alone(**KEYS)
    warnings = [each.getMessage() for each in caplog.records if "workers failed" in each.getMessage()]
    assert len(warnings) == 2
    assert all(said in each for each in warnings)


def test_each_part_counts_once_and_none_is_missed(parts):
    results = [evaluate_part(part) for part in parts]
    forms, sums = merge_parts(parts, results)
    assert forms.shape == (2, PEOPLE - 2)
    for again in ([*results, results[0]], results[::-1]):
        found = merge_parts(parts, again)
        assert (found[0] == forms).all()
        assert (found[1] == sums).all()
    number, data = results[1]
    wrong = [
        (results[1:], r"1 of 3 parts have no result, the first is part 0"),
        ([*results, (1, results[0][1])], "two different results of part 1"),
        ([*results, (9, b"")], "there is a result of part 9, and the parts have the numbers 0 to 2"),
        ([results[0], (number, data[:-1]), *results[2:]], "result of part 1"),
        ([results[0], (number, data + bytes(8)), *results[2:]], "result of part 1"),
        ([results[0], (number, b"\xff" * len(data)), *results[2:]], "part 1 has numbers that are not below"),
    ]
    for given, said in wrong:
        with pytest.raises(PeerError, match=said):
            merge_parts(parts, given)


def test_a_file_that_changed_meanwhile_is_refused(tmp_path):
    parts = few_parts(tmp_path)
    path = Path(parts[0].path)
    os.utime(path, ns=(0, parts[0].stamp[1] + 1))
    with pytest.raises(ParameterError, match="has changed since its parts were made"):
        evaluate_part(parts[0])


@pytest.mark.everything
def test_a_pool_of_processes_evaluates(tmp_path, alone):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = answers(tmp_path / "pool", pool.map, **KEYS)
    assert found == alone(**KEYS)


SERVING = """
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from ogive.study.servers import serve

if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        serve("study.toml", store="server-1", key="1.key", enrolled=["server-1/enrolled"], service="tls-1",
              port=int(sys.argv[1]), workers=pool.map)
"""


@pytest.mark.everything
def test_a_server_of_a_program_lets_a_pool_evaluate(tmp_path, monkeypatch):
    monkeypatch.undo()  # other processes have row groups of the usual size
    trial = Trial(tmp_path, people=PEOPLE, records=PEOPLE, **KEYS)
    reports = trial.reports(RECORDS)
    trial.take(reports)
    trial.close()
    (tmp_path / "serving.py").write_text(SERVING)
    asking = ("study", "release", "study.toml", "age", "--state", "server-0/state.db", "-o", "age.json")
    with Processes(trial) as processes:
        processes.start(0)
        processes.run(1, "serving.py", str(processes.ports[1]))
        for number in trial.numbers:
            processes.until(number, lambda found: True)
        release = Forked(asking, tmp_path)
        _, complaint = release.communicate(PATIENCE)
        assert release.returncode == 0, complaint
        processes.until(1, lambda found: found["releases"][0]["state"] == "released")
    assert "workers evaluated all parts, 1 in number" in (tmp_path / "1.log").read_text()
    assert "workers" not in (tmp_path / "0.log").read_text()
    for number in trial.numbers:
        trial.start(number)
    expected = in_process(trial, reports)
    for node in trial.nodes.values():
        assert (node.answers(0)[0].values.ravel() == expected.ravel()).all()
    trial.close()


def same(parts, results):
    found, expected = merge_parts(parts, results), merge_parts(parts, map(evaluate_part, parts))
    return all((first == second).all() for first, second in zip(found, expected, strict=True))


KILLED = """
import os, pickle, signal, sys
from pathlib import Path
from pyspark.sql import SparkSession
from ogive.local import map_on_spark
from ogive.study.servers import evaluate_part

given, mark, out = map(Path, sys.argv[1:])

def once(part):
    if part.number == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return evaluate_part(part)

# Spark begins a lost task again, four times in all; one process tries once unless it is told so
session = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").getOrCreate()
out.write_bytes(pickle.dumps(map_on_spark(session, once, pickle.loads(given.read_bytes()))))
"""


@pytest.mark.everything
@pytest.mark.slow
def test_a_killed_worker_of_spark_counts_once(tmp_path, parts):
    need_spark()
    given, mark, out = (tmp_path / name for name in ("given", "mark", "out"))
    given.write_bytes(pickle.dumps(parts))
    words = [sys.executable, "-c", KILLED, given, mark, out]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr[-3000:]
    assert mark.exists(), "a worker was killed"
    assert "exited unexpectedly" in done.stderr
    results = pickle.loads(out.read_bytes())
    assert sorted(number for number, _ in results) == [part.number for part in parts]
    assert same(parts, results)


@pytest.mark.everything
@pytest.mark.slow
def test_dask_evaluates(parts):
    dask = pytest.importorskip("dask", reason="Dask is not installed")

    def on_dask(work, parts):
        return dask.compute(*[dask.delayed(work)(part) for part in parts], scheduler="processes")

    assert same(parts, on_dask(evaluate_part, parts))


@pytest.mark.everything
@pytest.mark.slow
def test_ray_evaluates(parts):
    ray = pytest.importorskip("ray", reason="Ray is not installed")

    def on_ray(work, parts):
        return ray.get([ray.remote(work).remote(part) for part in parts])

    ray.init(num_cpus=2, include_dashboard=False)
    try:
        assert same(parts, on_ray(evaluate_part, parts))
    finally:
        ray.shutdown()
