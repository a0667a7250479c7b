"""A file of votes on characters stands in for Glyph, marked as what it is; and a small task is made and learned."""

import shutil
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from ogive.errors import DataError
from ogive.pate import ConfidentGNMax, read_votes
from ogive.pate.votes import read_array
from ogive_papers.items import Plan
from ogive_papers.pate import characters, consensus, ensembles, stand_in
from ogive_papers.pate.consensus_figures import FIGURE_1, FIGURE_5
from ogive_papers.pate.ensembles_figure import FIGURE_4
from ogive_papers.pate.prices_table import TABLE_1
from ogive_papers.pate.students import runs
from ogive_papers.pate.students.discriminants import SharedCovariance
from ogive_papers.pate.students.tasks import TASKS
from ogive_papers.summaries import Summary
from ogive_papers.verdicts import Outcome

FEATURES = 32


@cache
def arrays(ensembles=(5000, 1000)):
    """Simulated votes as a file has them, with features that point to the class by noise of their own."""
    generator = np.random.default_rng(3)
    found = {}
    for number in ensembles:
        votes, truth, _, _ = stand_in.drawn((), np.random.default_rng(5), characters.QUERIES, teachers=number)
        # simulated teachers agree on class 0; here each query has another class in its place
        moves = np.random.default_rng(6).integers(0, characters.CLASSES, len(truth))
        places = (np.arange(characters.CLASSES) - moves[:, None]) % characters.CLASSES
        found[f"votes_{number}"] = np.take_along_axis(votes, places, axis=1).astype(np.int16)
        truth = (truth + moves) % characters.CLASSES
    middles = generator.standard_normal((characters.CLASSES, FEATURES))
    judged_truth = generator.integers(0, characters.CLASSES, 800)
    for name, classes in (("queries", truth), ("judged", judged_truth)):
        noise = generator.standard_normal((len(classes), FEATURES))
        found[name] = (middles[classes] + 0.3 * noise).astype(np.float16)
    return found | {
        "truth": truth.astype(np.int16), "judged_truth": judged_truth.astype(np.int16), "baseline": np.array(0.9)
    }  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("characters")
    np.savez(place / "characters.npz", **arrays())
    return place


def found_of(item, places, settings):
    plan = Plan(runs=5, quick=True, data=places)
    inputs = item.inputs(places)
    tasks = [task for task in item.tasks(plan) if settings(task.setting)]
    assert all(inputs.items() <= task.setting.items() for task in tasks)
    return Summary.of((task.setting, item.measure(task.setting, task.seed, places)) for task in tasks)


def test_a_file_in_a_folder_or_named_is_what_stands_in(folder):
    for places in ((folder,), (folder / "characters.npz",)):
        setting = stand_in.stand_in(places)
        assert setting["Glyph votes"] != "simulated"
        assert stand_in.standing(setting) == "CHARACTERS"
        assert TABLE_1.inputs(places)["Glyph votes"] == setting["Glyph votes"]
    assert stand_in.standing(stand_in.stand_in(())) == "SIMULATED"


def test_queries_are_those_of_the_file_each_once_in_an_order_of_the_seed(folder):
    votes = read_votes(folder / "characters.npz", name="votes_5000")
    first, again, other = (stand_in.drawn((folder,), np.random.default_rng(seed), 12_000) for seed in (1, 1, 2))
    assert len(set(first.rows.tolist())) == 12_000
    assert np.array_equal(first.votes, votes[first.rows])
    assert np.array_equal(first.rows, again.rows)
    assert not np.array_equal(first.rows, other.rows)
    plurality = first.votes.argmax(axis=1)
    assert first.lost(plurality) == 0
    wrong = np.where(np.arange(12_000) % 2, plurality, (first.truth + 1) % characters.CLASSES)
    assert first.lost(wrong) == pytest.approx((plurality == first.truth)[::2].mean() / 2)


@pytest.mark.everything
def test_figures_are_marked_and_their_claims_are_decided(folder):
    found = found_of(FIGURE_1, (folder,), lambda setting: setting["panel"] != "real votes")
    checks = {check.claim: check for check in FIGURE_1.judge(with_real(found, FIGURE_1, folder))}
    (students,) = [check for claim, check in checks.items() if claim.startswith("a student of Confident")]
    assert "on votes of teachers of CHARACTERS" in students.evidence
    assert checks["it costs at most a quarter"].outcome is not Outcome.UNDECIDED
    assert not any(check.essential for check in checks.values() if "CHARACTERS" in check.evidence)
    figure = Figure()
    FIGURE_1.draw(found, figure)
    titles = [axes.get_title("right") for axes in figure.axes]
    assert titles.count("CHARACTERS, not Glyph") == 4  # students too
    assert "SIMULATED, not Glyph" not in titles
    rows = found.where(panel=consensus.PRICE).rows
    assert all(0.3 < row.cells[consensus.STUDENT].mean < 1 for row in rows)


@pytest.mark.everything
def test_budget_of_checks_is_decided_on_characters_only(folder):
    found = found_of(FIGURE_5, (folder,), lambda setting: True)
    (check,) = [each for each in FIGURE_5.judge(found) if "half of the budget" in each.claim]
    assert check.outcome is not Outcome.UNDECIDED
    found = found_of(FIGURE_5, (), lambda setting: True)
    (check,) = [each for each in FIGURE_5.judge(found) if "half of the budget" in each.claim]
    assert check.outcome is Outcome.UNDECIDED


def with_real(summary, item, folder):
    """A summary with empty rows of the real votes, which are not in this folder."""
    return Summary((*summary.rows, *found_of(item, (folder,), lambda setting: setting["panel"] == "real votes").rows))


def test_ensembles_are_those_of_the_file(folder):
    setting = {"votes": "Glyph", "mechanism": ensembles.GAUSSIAN, "teachers": 1000, "noise": 40, "asked": 500}
    assert FIGURE_4.measure(setting, 1 << 70, (folder,))[ensembles.RIGHT] > 0.5
    with pytest.raises(DataError, match="has no array votes_500; make the file"):
        FIGURE_4.measure(setting | {"teachers": 500}, 1 << 70, (folder,))


@pytest.mark.everything
def test_students_of_characters_learn_from_their_answers_and_ask_in_two_rounds(folder, monkeypatch):
    task = TASKS["Characters"]
    first, again = (task.material((folder,), np.random.default_rng(seed)) for seed in (1, 2))
    assert len(first.votes) == len(first.inputs) == characters.QUERIES
    assert not np.array_equal(first.truth, again.truth)
    found = {}
    for setting in runs.settings(quick=True):
        if setting["task"] == "Characters" and (setting["of"] != runs.STUDENT or "LNMax" in setting["row"]):
            found[setting["of"]] = runs.measure(setting, 1 << 70, (folder,))
            assert not runs.measure(setting, 1 << 70, ())  # nothing without the file
    assert found[runs.BASELINE] == {runs.ACCURACY: 0.9}
    assert found[runs.STUDENT][runs.ACCURACY] > 0.5
    rounds = found[runs.TWO_ROUNDS]
    assert rounds["epsilon, whatever the votes"] == pytest.approx(task.rounds.epsilon)
    assert task.rounds.epsilon < task.rounds.price
    assert rounds[runs.TAUGHT] + rounds[runs.OWN] == rounds["answers"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"votes_5000": None}, "has no array votes_5000"),
        ({"truth": np.zeros(3, dtype=np.int16)}, "different numbers of images"),
        ({"votes_5000": np.full((16_000, 2), 2500, dtype=np.int16)}, "over 150 classes"),
    ],
)
def test_other_files_are_refused_before_anything_is_worked_out(change, message, tmp_path):
    whole = {name: value for name, value in (arrays() | change).items() if value is not None and name != "votes_1000"}
    np.savez(tmp_path / "characters.npz", **whole)
    with pytest.raises(DataError, match=message):
        FIGURE_1.inputs((tmp_path,))


@pytest.fixture
def two_fonts(tmp_path, monkeypatch, pytestconfig):
    """Two fonts that come with matplotlib are all that there are, whatever else this machine has."""
    monkeypatch.syspath_prepend(str(pytestconfig.rootpath / "benchmarks"))
    import character_images

    fonts = Path(matplotlib.get_data_path(), "fonts", "ttf")
    for name in ("DejaVuSans.ttf", "DejaVuSerif.ttf"):
        shutil.copy(fonts / name, tmp_path)
    monkeypatch.setattr(character_images, "PLACES", (tmp_path,))


@pytest.mark.everything
@pytest.mark.usefixtures("two_fonts")
def test_a_small_task_is_made_and_its_consensus_is_better_than_a_teacher(tmp_path):
    loky = pytest.importorskip("joblib").externals.loky
    import characters as task

    loky.get_reusable_executor().shutdown(wait=True)  # processes of other tests do not find the module
    path = tmp_path / "characters.npz"
    task.make(path, images=20_000, ensembles=(40,), queries=1000, judged=500, most_fonts=None)
    votes, truth = read_votes(path, name="votes_40"), read_array(path, "truth")
    single = votes[np.arange(1000), truth].mean() / 40
    plurality = (votes.argmax(axis=1) == truth).mean()
    assert plurality > single + 0.1
    labels = ConfidentGNMax(20, 6, 3).answer(votes)
    answered = labels >= 0
    assert 200 < answered.sum() < 1000
    assert (labels == truth)[answered].mean() > plurality
    queries, judged = read_array(path, "queries"), read_array(path, "judged")
    right = SharedCovariance().fit(queries[answered], labels[answered]).predict(judged) == read_array(
        path, "judged_truth"
    )
    shuffled = np.random.default_rng(1).permutation(labels[answered])
    chance = SharedCovariance().fit(queries[answered], shuffled).predict(judged) == read_array(path, "judged_truth")
    assert right.mean() > 0.5 > 0.1 > chance.mean()
    with pytest.raises(DataError, match="fewer than 16000; make it without --small"):
        characters.read_characters(path)


def test_probabilities_of_discriminants_are_those_of_bayes_rule():
    generator = np.random.default_rng(7)
    classes = generator.integers(0, 3, 4000)
    inputs = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]])[classes] + generator.standard_normal((4000, 2))
    model = SharedCovariance().fit(inputs, classes)
    points = np.array([[1.0, 0.0], [0.0, 1.5], [5.0, 0.0]])
    found = model.predict_proba(points)
    # densities with unit covariance plus its tenth, classes equally frequent
    distances = ((points[:, None] - np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]])) ** 2).sum(axis=2) / 1.1
    expected = np.exp(-distances / 2)
    assert found == pytest.approx(expected / expected.sum(axis=1, keepdims=True), abs=0.03)
    assert model.predict(points).tolist() == found.argmax(axis=1).tolist()
