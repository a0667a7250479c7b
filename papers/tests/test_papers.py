"""Items are redone from seeded runs, and go on after any interruption."""

import csv
import json
import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import small_paper
from helpers.scope import is_everything
from helpers.waiting import until

from ogive.errors import ParameterError
from ogive_papers import papers
from ogive_papers.items import Plan
from ogive_papers.papers import items_of, reproduce, select
from ogive_papers.pool import TaskError


@pytest.fixture
def threads(monkeypatch):
    """Threads in place of worker processes, for a test that is about neither; `make test-all` takes processes."""
    if not is_everything():
        monkeypatch.setattr("ogive_papers.pool._pool", ThreadPoolExecutor)


def redo(folder, item=None, workers=2, **plan):
    progress = small_paper.Silent()
    plan = Plan(**{"runs": 6, **plan})
    (finding,) = reproduce([item or small_paper.item()], plan=plan, folder=folder, progress=progress, workers=workers)
    return finding, progress


def numbers(folder):
    """Lines of the store by setting and run, without what may differ."""
    lines = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    return {(line["setting"]["center"], line["run"]): line["numbers"]["word"] for line in lines}


@pytest.mark.usefixtures("threads")
def test_an_item_leaves_pictures_numbers_and_a_verdict(tmp_path):
    finding, progress = redo(tmp_path)
    assert (progress.known, progress.done) == (0, 12)
    assert finding.verdict == "reproduced"
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"figure-1.{kind}" for kind in ("png", "svg", "csv", "json")} | {"runs.jsonl", "verdicts.json"}
    assert (tmp_path / "figure-1.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert "</svg>" in (tmp_path / "figure-1.svg").read_text()
    rows = list(csv.DictReader((tmp_path / "figure-1.csv").read_text().splitlines()))
    assert {(row["center"], row["quantity"], row["runs"]) for row in rows} >= {("0.0", "value", "6")}
    written = json.loads((tmp_path / "figure-1.json").read_text())
    assert written["verdict"] == "reproduced"
    assert not written["quick"]
    assert "numpy" in written["versions"]
    assert [entry["verdict"] for entry in json.loads((tmp_path / "verdicts.json").read_text())] == ["reproduced"]


def test_the_same_seed_gives_the_same_picture_whatever_the_workers(tmp_path, monkeypatch):
    redo(tmp_path / "one", workers=1)
    redo(tmp_path / "two", workers=2)
    if not is_everything():
        monkeypatch.setattr("ogive_papers.pool._pool", ThreadPoolExecutor)
    redo(tmp_path / "other", seed=2)
    assert numbers(tmp_path / "one") == numbers(tmp_path / "two")
    assert not set(numbers(tmp_path / "one").values()) & set(numbers(tmp_path / "other").values())
    assert (tmp_path / "one/figure-1.svg").read_bytes() == (tmp_path / "two/figure-1.svg").read_bytes()


@pytest.mark.usefixtures("threads")
def test_a_second_call_does_nothing_twice(tmp_path):
    redo(tmp_path, runs=5)
    _, progress = redo(tmp_path, runs=6)
    assert (progress.known, progress.done) == (10, 2)
    _, progress = redo(tmp_path, runs=6)
    assert (progress.known, progress.done) == (12, 0)


@pytest.mark.usefixtures("threads")
def test_values_beyond_the_claim_are_not_reproduced(tmp_path):
    finding, _ = redo(tmp_path, small_paper.item(centers=(0.0, 50.0)))
    assert finding.verdict == "not reproduced"


@pytest.mark.usefixtures("threads")
def test_few_runs_are_inconclusive(tmp_path):
    finding, _ = redo(tmp_path, runs=2)
    assert finding.verdict == "inconclusive"
    assert finding.remark.startswith("2 runs are too few to decide; 100 are the default")
    assert json.loads((tmp_path / "figure-1.json").read_text())["remark"] == finding.remark
    finding, _ = redo(tmp_path)
    assert (finding.verdict, finding.remark) == ("reproduced", None)


@pytest.mark.parametrize(("alone", "processes"), [(True, 1), (False, 2)])
def test_tasks_that_need_the_machine_share_it_with_none(tmp_path, alone, processes):
    redo(tmp_path, small_paper.item("slow", centers=tuple(range(12)), alone=alone), runs=1)
    lines = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert len({line["numbers"]["process"] for line in lines}) == processes


@pytest.mark.usefixtures("threads")
def test_a_failing_task_is_one_line_and_keeps_the_others(tmp_path):
    redo(tmp_path, runs=1)
    with pytest.raises(TaskError, match=r"^figure-1 at .*run [0-5]: ArithmeticError: no solution$"):
        redo(tmp_path, small_paper.item("fails"))
    assert len(numbers(tmp_path)) == 2


def _redo_slowly(folder):
    redo(folder, small_paper.item("slow", centers=tuple(range(10))))


def _alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_killed_reproduction_goes_on_and_leaves_no_process_behind(tmp_path):
    tmp_path = tmp_path / "out"
    # forked, so that this test's functions are known there; it has no threads of its own
    child = multiprocessing.get_context("fork").Process(target=_redo_slowly, args=(tmp_path,))
    child.start()
    store = tmp_path / "runs.jsonl"
    try:
        until(lambda: store.exists() and store.read_bytes().count(b"\n") >= 3)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.join()
    kept = [json.loads(line) for line in store.read_text().splitlines()]
    workers = {int(line["numbers"]["process"]) for line in kept}
    until(lambda: not any(map(_alive, workers)))
    assert 3 <= len(kept) < 60
    with store.open("ab") as file:
        file.write(b'{"key": "torn')
    _, progress = redo(tmp_path, small_paper.item("slow", centers=tuple(range(10))), runs=1)
    assert progress.known == len({line["setting"]["center"] for line in kept if line["run"] == 0})
    assert progress.known + progress.done == 10


@pytest.mark.parametrize(
    ("change", "message"),
    [({"runs": 0}, "runs must be at least 1"), ({"workers": 0}, "workers must be at least 1")],
)
def test_numbers_out_of_range_are_refused(tmp_path, change, message):
    with pytest.raises(ParameterError, match=message):
        redo(tmp_path, **change)


def test_a_missing_data_folder_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"there is no file or folder .*nowhere with data sets"):
        redo(tmp_path, data=(tmp_path / "nowhere",))


def test_an_output_folder_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ParameterError, match=r"cannot write to the folder .*: not a directory"):
        redo(tmp_path / "file" / "out")


def test_a_missing_drawing_library_is_said_before_any_run(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ParameterError, match=r"matplotlib, which is not installed; pip install 'ogive\[plots\]'"):
        redo(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_items_are_chosen_by_their_numbers():
    assert {item.name for item in items_of("ecdf")} >= {"figure-2", "figure-3", "figure-4", "figure-7", "table-1"}
    assert [item.number for item in select("ecdf", figures=[7, 2, 7])] == [7, 2]
    assert [item.name for item in select("ecdf", tables=[1], figures=[4])] == ["figure-4", "table-1"]
    assert select("ecdf") == items_of("ecdf")


def test_figures_of_an_appendix_have_names():
    assert [item.name for item in select("projection", figures=["D1", 3, "3"])] == ["figure-D1", "figure-3"]
    assert [item.number for item in select("projection", figures=["d.2", "D2", " d4 "])] == ["D2", "D4"]
    assert [item.name for item in items_of("projection")] == [
        f"figure-{number}" for number in ("1", "2", "3", "4", "D1", "D2", "D3", "D4")
    ]
    for wrong in ("D5", "D", "", "1.0", "D12", "1D", "-1"):
        with pytest.raises(ParameterError, match=f"figure {wrong} of projection cannot be redone here; there are"):
            select("projection", figures=[wrong])


def test_unknown_papers_and_figures_are_refused():
    with pytest.raises(ParameterError, match="paper must be one of ecdf"):
        items_of("other")
    with pytest.raises(ParameterError, match=r"figure 99 of ecdf cannot be redone here; there are figure [12], figure"):
        select("ecdf", figures=[99])
    with pytest.raises(ParameterError, match="table 2 of ecdf"):
        select("ecdf", tables=[2])


def test_every_listed_paper_has_items_with_names_of_their_own():
    for paper in papers.PAPERS:
        names = [item.name for item in items_of(paper)]
        assert names
        assert len(set(names)) == len(names)
        assert all(item.paper == paper for item in items_of(paper))
