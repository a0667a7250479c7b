"""Figures of the projection paper are redone end to end, with the library's own releases where it has them."""

import csv
import dataclasses
import gzip
import json
import math

import numpy as np
import pytest
from helpers.scope import is_everything, size

import ogive
from ogive.errors import DataError, ParameterError
from ogive.noise import KeyedSource
from ogive_papers import projection
from ogive_papers.items import Plan
from ogive_papers.outputs import write_item
from ogive_papers.projection import boxes, central, releases, single, weights
from ogive_papers.projection.baselines import ROUNDS, adaptive_points, counter, scale
from ogive_papers.projection.central import AQ, AQ_NAIVE, SHAPED, delta_of
from ogive_papers.projection.distances import DISTANCES, distances
from ogive_papers.projection.shapes import POINTS, SHAPES
from ogive_papers.summaries import Summary
from ogive_papers.verdicts import INCONCLUSIVE, Outcome, verdict

ITEMS = {str(item.number): item for item in projection.ITEMS}
METHODS = {
    "no privacy", "PP", "HQ, naive", "AQ, naive", "PP, exact", "HQ, joint", "HQ, joint, step", "HQ, joint, cut",
    "HQ, Laplace", "AQ, joint", "LEG K=6", "LEG-E", "LEG-E K=6", "LEG-E K=10", "LEG-E K=20",
    "points, naive", "points", "points, Laplace", "2000 points",
    "deciles, global", "deciles, Cauchy", "deciles, Laplace",
}  # fmt: skip
PANELS = {"1": 6, "2": 3, "3": 6, "4": 2, "D1": 12, "D2": 12, "D3": 15, "D4": 15}


@pytest.fixture
def table(tmp_path):
    """A small table of weights, compressed as the public one."""
    path = tmp_path / "socr_height_weight.csv.gz"
    values = np.random.default_rng(1).normal(127, 12, 400)
    rows = "\n".join(f"{i},68.0,{value:.4f}" for i, value in enumerate(values, start=1))
    path.write_bytes(gzip.compress(f"Index,Height(Inches),Weight(Pounds)\n{rows}\n".encode()))
    return path


# figures of the appendix repeat those of the paper on other data, and what figures 2 to 4 measure has tests of its own
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "1" else pytest.mark.everything) for name in ITEMS]
)
def test_every_figure_is_drawn_and_two_runs_decide_nothing(name, tmp_path, table, monkeypatch):
    # fewer records only make the curves worse; the text of the runs is the same
    monkeypatch.setattr(central, "RECORDS", 500)
    item = ITEMS[name]
    plan = Plan(runs=2, quick=True, data=(table.parent,))
    tasks = item.tasks(plan)
    found = [(task.setting, item.measure(task.setting, task.seed, plan.data)) for task in tasks]
    summary = Summary.of(found)
    checks = item.judge(summary)
    assert verdict(checks) == INCONCLUSIVE
    assert {check.outcome for check in checks} == {Outcome.UNDECIDED}
    assert all(math.isfinite(value) for _, numbers in found for value in numbers.values())
    folder = tmp_path / "out"
    folder.mkdir()
    panels = []

    def draw(summary, figure):
        if not is_everything():  # half of the time goes into places of axes
            figure.set_layout_engine("none")
        item.draw(summary, figure)
        panels.append(len(figure.axes))

    write_item(dataclasses.replace(item, draw=draw), plan, summary, checks, folder)
    assert panels == [PANELS[name]] * 2  # as a picture of points, and of lines
    assert (folder / f"figure-{name}.png").stat().st_size > 10_000
    rows = list(csv.DictReader((folder / f"figure-{name}.csv").read_text().splitlines()))
    assert len({row["quantity"] for row in rows}) > 20
    written = json.loads((folder / f"figure-{name}.json").read_text())
    assert (written["item"], written["runs"]) == (f"figure-{name}", 2)
    again = item.measure(tasks[0].setting, tasks[0].seed, plan.data)
    assert again == found[0][1]


def test_figures_have_the_runs_of_the_paper_unless_others_are_asked_for():
    for item in projection.ITEMS:
        assert (item.runs(Plan()), item.runs(Plan(runs=7)), item.runs(Plan(runs=200))) == (50, 7, 200)


def test_both_accountings_are_measured_at_every_setting():
    numbers = central.errors({"data": "beta", "epsilon": 0.5}, 7, ())
    assert set(numbers) == {f"{method}: {distance}" for method in METHODS for distance in DISTANCES}


def mean_energy(curves, shape):
    width = shape.high - shape.low
    return np.mean([distances(curve, shape.truth, width)["energy"] for curve in curves])


def test_the_librarys_adaptive_quantiles_are_those_of_the_simulation_with_joint_noise():
    shape = SHAPES["beta"]
    privacy = releases.guarantee(0.1, delta_of(10_000))
    joint = math.sqrt(ROUNDS) * scale(0.1, delta_of(10_000))
    naive = scale(0.1, delta_of(10_000), parts=ROUNDS)
    library, simulated, wrong = [], [], []
    seeds = size(16, part=8)
    for seed in range(seeds):
        generator = np.random.default_rng(seed)
        records = shape.records(generator, 10_000)
        source = KeyedSource.from_seed(seed)
        curve = releases.released_curve(records, (0.0, 1.0), privacy, releases.OUR_QUANTILES, source)
        library.append(releases.values_of(curve))
        for found, sigma in ((simulated, joint), (wrong, naive)):
            noise = sigma * generator.standard_normal(ROUNDS)
            points = adaptive_points(counter(records), records.size, 0.0, 1.0, noise)
            found.append(np.interp(shape.axis, *points))
        places, shares = central.asked(curve, shape.axis)
        assert places.size == shares.size == ROUNDS + 2
        assert (np.diff(places) > 0).all()
        assert (np.diff(shares) >= 0).all()
    # both means have a standard error of about 7 %, of 8 seeds of 10 %; naive noise is 7 times larger
    assert mean_energy(library, shape) == pytest.approx(mean_energy(simulated, shape), rel=0.3 * math.sqrt(16 / seeds))
    assert mean_energy(wrong, shape) > 3 * mean_energy(library, shape)


@pytest.mark.parametrize("noise", ["moments", "shaped"])
def test_ten_parts_have_the_square_root_of_ten_times_the_noise(noise):
    privacy = releases.guarantee(0.1, 1e-6)
    strategy = releases.projection(privacy, 10_000, 6, noise)
    counts = releases.histograms(np.array_split(np.random.default_rng(2).random(10_000), 10), 0.0, 1.0)
    source = KeyedSource.from_seed(3)
    answers = {"ten": [], "one": []}
    for _ in range(400):
        for name, several in (("ten", counts), ("one", counts.sum(axis=0, keepdims=True))):
            noisy = sum(strategy.spread(releases._noise(strategy, source)) for _ in several)
            answers[name].append(noisy[0])
    ratio = np.std(answers["ten"]) / np.std(answers["one"])
    assert ratio == pytest.approx(math.sqrt(10), rel=0.15)  # standard error 5 %


def test_parts_are_added_up_and_smoothed_as_merge_does_it():
    shape = SHAPES["normal"]
    several = np.array_split(shape.records(np.random.default_rng(1), 4000), 10)
    privacy = releases.guarantee(0.5, delta_of(4000))
    for strategy in (releases.projection(privacy, 4000, 10), releases.histogram(privacy, releases.OUR_HISTOGRAM)):
        curves = [
            ogive.ecdf(
                part, bounds=(shape.low, shape.high), bins=releases.SIZE, privacy=privacy, method=strategy, batch=name
            )
            for name, part in zip("abcdefghij", several, strict=True)
        ]
        merged = ogive.merge(*curves)
        answer = np.sum([curve.measured for curve in curves], axis=0)
        ours = releases._curve(strategy, answer, 4000)
        assert releases.values_of(merged) == pytest.approx(ours, abs=1e-9)


def test_a_masked_sum_is_as_near_as_one_release_of_all_records_and_single_parts_are_not():
    shape = SHAPES["normal"]
    privacy = releases.guarantee(0.05, delta_of(4000))
    bounds, method = (shape.low, shape.high), ogive.Projection(degree=6)
    statistic = ogive.Ecdf("value", bounds=bounds, bins=releases.SIZE, method=method)
    strategy = releases.projection(privacy, 4000, 6)
    found = {"parts": [], "masked": [], "one": []}
    seeds = size(12, part=6)
    for seed in range(seeds):
        source = KeyedSource.from_seed(seed)
        several = np.array_split(shape.records(np.random.default_rng(seed), 4000), 10)
        counts = releases.histograms(several, shape.low, shape.high)
        sites = ogive.SecAgg([{"value": part} for part in several])
        masked = ogive.release(statistic, trust=sites, privacy=privacy, source=source)
        found["masked"].append(releases.values_of(masked))
        found["parts"].append(releases.released(strategy, counts, source))
        found["one"].append(releases.released(strategy, counts.sum(axis=0, keepdims=True), source))
    means = {name: mean_energy(curves, shape) for name, curves in found.items()}
    assert means["masked"] == pytest.approx(means["one"], rel=0.35 * math.sqrt(12 / seeds))
    assert means["parts"] > 1.8 * means["masked"]


def test_pieces_of_a_curve_are_kept_for_its_picture():
    numbers = single.measure({"data": "normal", "epsilon": 0.1, "show": single.CURVES}, 5, ())
    cells = {name: type("Cell", (), {"mean": value}) for name, value in numbers.items()}
    truth = single.points(cells, single.TRUE)
    assert truth == pytest.approx(SHAPES["normal"].truth[:: single.STRIDE])
    assert single.points(cells, f"{AQ_NAIVE}, places").size == ROUNDS + 2
    for name in (AQ, SHAPED):
        assert single.points(cells, f"{name}, {single.PRIVATE}").size == truth.size
    assert single.points(cells, "nothing").size == 0


def test_the_steep_part_is_where_the_density_is_above_half_of_its_peak():
    steep = single.steep_part(SHAPES["normal"].truth)
    edges = SHAPES["normal"].axis[:-1][steep]
    assert (edges[0], edges[-1]) == pytest.approx((-1.1774, 1.1774), abs=0.01)
    assert single.steep_part(np.linspace(0, 1, POINTS)).all()


@pytest.mark.everything
def test_the_librarys_boxes_count_what_they_show():
    records = np.random.default_rng(8).standard_normal(10_000)
    privacy = releases.guarantee(1.0, delta_of(10_000))
    found = {
        method: boxes.released_box(records, (-4.0, 4.0), privacy, method, KeyedSource.from_seed(9))
        for method in ("resample", "five_numbers")
    }
    curve, five = found["resample"], found["five_numbers"]
    assert 20 < curve.beyond < 150
    assert curve.low < curve.whiskers[0] < curve.q1 < curve.median < curve.q3 < curve.whiskers[1] < curve.high
    assert (five.beyond, five.outliers.size, five.low) == (0, 0, five.whiskers[0])
    for box in found.values():
        assert (box.q1, box.q3) == pytest.approx((-0.6745, 0.6745), abs=0.05)


def test_weights_are_read_from_a_named_file_or_its_folder(table, tmp_path):
    values = weights.weights((table,))
    assert values.size == 400
    assert (values == weights.weights((tmp_path / "nowhere", tmp_path))).all()
    assert weights.inputs((table,)) == weights.inputs((tmp_path,)) != {weights.INPUT: weights.SIMULATED}
    other = tmp_path / "other.csv"
    other.write_text("Weight(Pounds)\n500\n20\n")
    assert weights.weights((other, tmp_path)).tolist() == [185.0, 70.0]
    assert weights.inputs((other,)) != weights.inputs((table,))


def test_weights_are_simulated_where_there_is_no_file(tmp_path):
    assert weights.inputs((tmp_path,)) == weights.inputs(()) == {weights.INPUT: "simulated"}
    values = weights.weights(())
    assert (values.size, (values == weights.weights((tmp_path,))).all()) == (25_000, True)
    # standard errors are 0.074 and 0.052
    assert (values.mean(), values.std()) == pytest.approx((127.08, 11.66), abs=0.3)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"a,b\n1,2\n", ParameterError, "that has a column Weight"),
        (b"", ParameterError, "is not the table of weights"),
        (b"\xff\xfe\x00", ParameterError, "as a table of text"),
        (b"weight\nheavy\n", DataError, "weights that are not numbers"),
        (b"weight\nnan\n", DataError, "weights that are not numbers"),
    ],
)
def test_a_file_without_weights_is_refused_and_not_quoted(tmp_path, content, error, message):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(error, match=message) as refusal:
        weights.inputs((path,))
    assert "heavy" not in str(refusal.value)
    assert "\n" not in str(refusal.value)
