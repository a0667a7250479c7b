"""Tasks are named by all that decides their numbers, and by nothing else."""

import dataclasses

import pytest
import small_paper

from ogive.errors import ParameterError
from ogive_papers.items import Plan, code_version
from ogive_papers.papers import PAPERS, items_of
from ogive_papers.randomness import streams


def first(item, plan):
    return item.tasks(plan)[0]


def test_every_setting_has_its_first_run_before_any_has_its_second():
    tasks = small_paper.item().tasks(Plan(runs=2))
    assert [(task.run, task.setting["center"]) for task in tasks] == [(0, 0.0), (0, 5.0), (1, 0.0), (1, 5.0)]


def test_runs_are_capped_where_an_item_says_so():
    item = small_paper.item(most_runs=3)
    assert item.runs(Plan(runs=100)) == 3
    assert item.runs(Plan(runs=2)) == 2


def test_runs_are_the_usual_ones_where_none_are_asked_for():
    assert small_paper.item().runs(Plan()) == 100
    item = small_paper.item(usual_runs=50)
    assert (item.runs(Plan()), item.runs(Plan(runs=200))) == (50, 200)
    assert small_paper.item(usual_runs=50, most_runs=10).runs(Plan()) == 10
    assert len(item.tasks(Plan())) == 100


def test_seeds_and_keys_of_tasks_differ():
    tasks = small_paper.item().tasks(Plan(runs=50))
    assert len({task.seed for task in tasks}) == len({task.key for task in tasks}) == 100


def test_another_seed_gives_other_tasks():
    item = small_paper.item()
    assert first(item, Plan(seed=1)).seed != first(item, Plan(seed=2)).seed
    assert first(item, Plan(seed=1)).key != first(item, Plan(seed=2)).key


def test_other_code_renames_tasks_but_keeps_their_randomness():
    item = small_paper.item()
    changed = dataclasses.replace(item, code=("privacy.py",))
    assert first(item, Plan()).key != first(changed, Plan()).key
    assert first(item, Plan()).seed == first(changed, Plan()).seed


def test_quick_runs_are_the_first_of_the_full_ones():
    item = small_paper.item()
    full = {task.key for task in item.tasks(Plan(runs=10))}
    assert {task.key for task in item.tasks(Plan(runs=3, quick=True))} < full


@pytest.mark.parametrize("item", [item for paper in PAPERS for item in items_of(paper)], ids=lambda item: item.name)
def test_the_code_that_decides_an_items_numbers_exists(item):
    assert len(code_version(item.code)) == 64


def test_code_that_does_not_exist_is_refused():
    with pytest.raises(ParameterError, match="no file of ogive matches 'nowhere"):
        code_version(("nowhere/*.py",))


def test_streams_are_replayable_and_differ_between_seeds():
    one, two, other = streams(7), streams(7), streams(8)
    assert one[0].integers(2**60) == two[0].integers(2**60) != other[0].integers(2**60)
    assert (one[1].words(4) == two[1].words(4)).all()
    assert (one[1].words(4) != other[1].words(4)).any()
