"""Figures of the paper on pairwise statistics are redone end to end, on data like the paper's where there is any."""

import csv
import dataclasses
import gzip
import json
import math

import numpy as np
import pytest
from helpers.scope import is_everything
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score

from ogive.errors import DataError, ParameterError
from ogive_papers import ustatistics
from ogive_papers.items import Plan
from ogive_papers.outputs import write_item
from ogive_papers.summaries import Summary
from ogive_papers.ustatistics import auc, generic, kendall, ratings, scores
from ogive_papers.ustatistics.tables import of_patients, of_ratings
from ogive_papers.verdicts import Outcome

ITEMS = {item.name: item for item in ustatistics.ITEMS}
PANELS = {"figure-3": 2, "figure-4": 2, "figure-5": 6, "figure-6": 3, "figure-7": 2, "table-1": 1}


@pytest.fixture
def generator():
    return np.random.default_rng(1)


LEFT = {"figure-3", "figure-4", "figure-5", "figure-6", "figure-7"}
"""Figures have tests of their measurements and pictures below."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.everything if name in LEFT else ()) for name in ITEMS]
)
def test_every_item_is_drawn_and_two_runs_decide_nothing_about_errors(name, tmp_path):
    item = ITEMS[name]
    plan = Plan(runs=2, quick=True)
    tasks = item.tasks(plan)
    found = [(task.setting, item.measure(task.setting, task.seed, plan.data)) for task in tasks]
    assert all(math.isfinite(value) and value >= 0 for _, numbers in found for value in numbers.values())
    assert item.measure(tasks[0].setting, tasks[0].seed, plan.data) == found[0][1]
    summary = Summary.of(found)
    checks = item.judge(summary)
    assert Outcome.UNDECIDED in {check.outcome for check in checks}
    panels = []

    def draw(summary, figure):
        if not is_everything():  # half of the time goes into places of axes
            figure.set_layout_engine("none")
        item.draw(summary, figure)
        panels.append(len(figure.axes))

    write_item(dataclasses.replace(item, draw=draw), plan, summary, checks, tmp_path)
    assert panels == [PANELS[name]] * 2  # as a picture of points, and of lines
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    rows = list(csv.DictReader((tmp_path / f"{name}.csv").read_text().splitlines()))
    assert len({row["quantity"] for row in rows}) >= 2
    assert json.loads((tmp_path / f"{name}.json").read_text())["runs"] == 2


def test_slow_items_have_the_20_runs_of_the_paper_and_others_more():
    runs = {item.name: item.runs(Plan()) for item in ustatistics.ITEMS}
    assert {name for name, each in runs.items() if each == 20} == {"figure-5", "figure-6", "figure-7"}
    assert set(runs.values()) == {20, 100}


@pytest.mark.parametrize("name", scores.SYNTHETIC)
@pytest.mark.parametrize("bins", [1 << 4, 1 << 13, 1 << 14])
def test_synthetic_scores_are_those_that_the_paper_describes(name, bins, generator):
    people = scores.classes(name, bins, generator, ())
    negatives, positives = people.histogram
    assert negatives.sum() == positives.sum() == scores.PEOPLE
    if name == scores.UNIFORM:
        assert people.half == pytest.approx(0.5, abs=5 * math.sqrt(1 / 6 / scores.PEOPLE))
        assert people.binned == people.half
        return
    assert negatives[0] == scores.PEOPLE
    assert (people.half, people.strict) == (1, 1)
    separated = name == scores.AUC_ONE or bins > 1 << 13
    assert people.binned == (1 if separated else 0.5)


def test_areas_are_those_of_scikit_learn(generator):
    histogram = generator.integers(0, 5, (2, 8))
    values = np.concatenate([np.repeat(np.arange(8), counts) for counts in histogram])
    labels = np.repeat([0, 1], histogram.sum(axis=1))
    half, strict = scores.areas(histogram)
    assert half == pytest.approx(roc_auc_score(labels, values), abs=1e-12)
    low, high = values[labels == 0], values[labels == 1]
    assert strict == pytest.approx((high[:, None] > low[None, :]).mean(), abs=1e-12)


def test_a_table_of_symbols_has_the_class_last(generator):
    people = scores.Classes(np.array([[1, 2], [3, 4]]), 1.0, 1.0)
    assert people.by_symbol.tolist() == [1, 3, 2, 4]


def test_patients_are_simulated_where_there_is_no_data():
    negatives, positives = scores.patients(())
    assert (negatives.size, positives.size) == (10_000, scores.SMALLER)
    people = scores.classes(scores.PATIENTS, 1 << 10, None, ())
    labels = np.repeat([0, 1], [10_000, scores.SMALLER])
    assert people.half == pytest.approx(roc_auc_score(labels, np.concatenate([negatives, positives])), abs=1e-12)
    assert scores.inputs(()) == {scores.INPUT: "simulated"}


@pytest.mark.everything
def test_every_patient_counts_once_and_as_many_came_back_as_in_the_paper(shared_data):
    folder = shared_data("diabetic_data.csv.gz").parent
    negatives, positives = scores.patients((folder,))
    assert positives.size == 693
    assert negatives.size == 7183
    labels = np.repeat([0, 1], [negatives.size, positives.size])
    assert 0.63 < roc_auc_score(labels, np.concatenate([negatives, positives])) < 0.69


def test_protocols_err_little_for_many_people_and_the_library_less(generator):
    found = [auc.errors({"data": scores.AUC_ONE, "exponent": 10, "epsilon": 1.0}, seed << 66, ()) for seed in range(6)]
    printed, haar, bound = (np.mean([numbers[name] for numbers in found]) for name in (auc.PAPER, auc.HAAR, auc.BOUND))
    assert haar < printed / 3
    assert printed < bound < 12 * printed


def test_randomized_response_errs_as_stated():
    found = [
        generic.errors({"data": scores.UNIFORM, "exponent": 4, "epsilon": 1.0}, seed << 66, ()) for seed in range(40)
    ]
    stated = np.mean([numbers[generic.STATED] for numbers in found])
    squares = np.mean([numbers[generic.NOISE] ** 2 for numbers in found])
    assert math.sqrt(squares) == pytest.approx(stated, rel=4 / math.sqrt(2 * 40))


def test_ratings_are_counted_by_level(tmp_path):
    path = tmp_path / "tripadvisor_ratings.csv.gz"
    path.write_bytes(gzip.compress(b"rooms,cleanliness\n-1,5\n5,5\n5,5\n1,-1\n"))
    counts = ratings.histogram((tmp_path,))
    assert counts.sum() == 4
    assert (counts[0, 5], counts[5, 5], counts[1, 0]) == (1, 2, 1)
    assert ratings.inputs((path,)) == ratings.inputs((tmp_path,)) != ratings.inputs(())


def test_files_are_known_by_their_columns(tmp_path):
    patients, hotels, other = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.csv"
    patients.write_text("patient_nbr,readmitted\n1,NO\n")
    hotels.write_text("rooms,cleanliness\n5,5\n")
    other.write_text("x\n1\n")
    places = (patients, hotels, tmp_path)
    assert (of_patients(places), of_ratings(places)) == ((patients, tmp_path), (hotels, tmp_path))
    for inputs in (scores.inputs, ratings.inputs):
        with pytest.raises(ParameterError, match=r"c\.csv is none of the paper.s tables; patients are known by"):
            inputs((other,))


@pytest.mark.parametrize("name", ["figure-3", pytest.param("figure-4", marks=pytest.mark.everything), "figure-7"])
def test_a_stand_in_is_said_over_the_picture(name):
    from matplotlib.figure import Figure

    item = ITEMS[name]
    kind = ratings.INPUT if name == "figure-4" else scores.INPUT
    setting = dict(item.settings(True)[0])
    numbers = item.measure(setting, 1 << 66, ())
    for data, said in (("simulated", True), ("0123", False)):
        figure = Figure()
        item.draw(Summary.of([({**setting, kind: data}, numbers)]), figure)
        words = " ".join(text.get_text() for axes in figure.axes for text in axes.texts)
        assert ("SIMULATED" in words) is said


@pytest.mark.parametrize(
    "content", [b"rooms,cleanliness\n0,5\n", b"rooms,food\n1,5\n", b"\xff\xfe\x00", b"rooms,cleanliness\n1\n"]
)
def test_other_tables_are_refused(content, tmp_path):
    path = tmp_path / "tripadvisor_ratings.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match="is not the table of ratings of Figure 4; that has columns rooms and"):
        ratings.read(path)


def test_coefficients_of_counts_are_those_of_scipy(generator):
    counts = generator.integers(0, 4, (6, 6))
    rooms, clean = (np.repeat(each.reshape(-1), counts.reshape(-1)) for each in np.indices((6, 6)))
    found = ratings.coefficients(counts)
    assert found["tau-b"] == pytest.approx(kendalltau(rooms, clean).statistic, abs=1e-12)
    signs = np.sign(rooms[:, None] - rooms) * np.sign(clean[:, None] - clean)
    upper = np.triu_indices(rooms.size, 1)
    assert found["tau-a"] == pytest.approx(signs[upper].mean(), abs=1e-12)
    assert found["gamma"] == pytest.approx(signs[upper].sum() / np.abs(signs[upper]).sum(), abs=1e-12)
    symbols = 6 * rooms + clean
    assert (ratings.signs()[symbols[:, None], symbols[None, :]] == signs).all()


def test_the_coefficient_that_the_paper_prints_takes_what_was_not_given_for_a_rating(shared_data):
    counts = ratings.histogram((shared_data("tripadvisor_ratings.csv.gz").parent,))
    assert counts.sum() == 243_713
    assert ratings.coefficients(counts)["tau-a"] == pytest.approx(0.5858, abs=5e-5)
    given = np.zeros_like(counts)
    given[1:, 1:] = counts[1:, 1:]
    assert given.sum() == 185_573
    without = ratings.coefficients(given)
    assert without["tau-a"] == pytest.approx(0.435, abs=5e-4)
    assert without["tau-b"] == pytest.approx(0.657, abs=5e-4)


@pytest.mark.everything
def test_intervals_hold_the_exact_coefficient(shared_data):
    folder = (shared_data("tripadvisor_ratings.csv.gz").parent,)
    covered = [kendall.errors({"epsilon": 1.0}, seed << 66, folder)[kendall.COVERED] for seed in range(20)]
    assert sum(covered) >= 15
