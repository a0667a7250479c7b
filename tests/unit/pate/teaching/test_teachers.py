"""Teachers learn from their own rows, are kept, and vote."""

import os
import runpy
import signal
import subprocess
import sys

import numpy as np
import pytest
from helpers.waiting import PATIENCE

from ogive.errors import DataError, ParameterError
from ogive.pate import Partition, labels_of, partition, read_teachers, train_teachers, votes_of

pytest.importorskip("sklearn")
pytest.importorskip("joblib")

from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier


class Remembering(BaseEstimator):
    """Keeps what it was trained on; calls everything the label that it saw most, the lowest on ties."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, features, labels):
        self.features_, self.labels_ = np.array(features), np.array(labels)
        return self

    def predict(self, features):
        return np.full(len(features), np.bincount(self.labels_).argmax())


class Fussy(Remembering):
    def fit(self, features, labels):
        if (np.asarray(features) > 100).any():
            raise ValueError("a number is too large\nand there is more to say")
        return super().fit(features, labels)


class Wrong(Remembering):
    def predict(self, features):
        return np.full(len(features), 7)


def make_naive():
    return GaussianNB()


@pytest.fixture
def rows():
    draw = np.random.default_rng(11)
    labels = draw.integers(0, 3, 240)
    return draw.normal(size=(240, 4)) + 2 * labels[:, None], labels


def train(rows, learner=None, teachers=6, **changes):
    features, labels = rows
    given = {"partition": partition(len(labels), teachers, seed=3), "classes": 3, "jobs": 1, **changes}
    return train_teachers(Remembering() if learner is None else learner, features, labels, **given)


def test_each_teacher_learns_from_its_own_rows_alone(rows):
    dealt = partition(240, 6, seed=3)
    for teacher, model in enumerate(train(rows).models):
        assert (model.features_ == rows[0][dealt.rows(teacher)]).all()
        assert (model.labels_ == rows[1][dealt.rows(teacher)]).all()


def test_another_row_changes_one_teachers_votes_only(rows):
    features, labels = rows
    before = labels_of(train(rows, LinearDiscriminantAnalysis()), features, jobs=1)
    moved = 0
    for row in (0, 100, 239):
        changed = labels.copy()
        changed[row] = (labels[row] + 1) % 3
        shifted = features.copy()
        shifted[row] = -50.0
        after = labels_of(train((shifted, changed), LinearDiscriminantAnalysis()), features, jobs=1)
        differ = np.flatnonzero((before != after).any(axis=1))
        assert set(differ.tolist()) <= {int(partition(240, 6, seed=3).parts[row])}
        moved += len(differ)
    assert moved  # or nothing was compared


def test_votes_are_counted_from_labels(rows):
    teachers = train(rows, GaussianNB())
    labels = labels_of(teachers, rows[0], jobs=1)
    assert labels.shape == (6, 240)
    for model, given in zip(teachers.models, labels, strict=True):
        assert (model.predict(rows[0]) == given).all()
    counts = votes_of(teachers, rows[0], jobs=1)
    assert (counts == [[(labels[:, query] == c).sum() for c in range(3)] for query in range(240)]).all()
    assert (counts.sum(axis=1) == 6).all()


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_backends_of_joblib_train_the_same_teachers(rows, backend):
    import joblib

    forest = RandomForestClassifier(5)
    alone = votes_of(train(rows, forest), rows[0], jobs=1)
    with joblib.parallel_config(backend=backend):
        found = votes_of(train(rows, forest, jobs=2), rows[0], jobs=2)
    assert (found == alone).all()


def test_random_states_follow_the_seed_and_differ_among_teachers(rows):
    states = [model.random_state for model in train(rows).models]
    assert len(set(states)) == 6
    assert [model.random_state for model in train(rows).models] == states
    assert not set(states) & {model.random_state for model in train(rows, seed=1).models}
    chain = make_pipeline(StandardScaler(), RandomForestClassifier(3))
    assert len({model[-1].random_state for model in train(rows, chain).models}) == 6


def test_the_given_estimator_stays_untrained(rows):
    given = GaussianNB()
    train(rows, given)
    assert not hasattr(given, "classes_")


def test_functions_that_make_learners_are_learners(rows):
    made = votes_of(train(rows, make_naive), rows[0], jobs=1)
    assert (made == votes_of(train(rows, GaussianNB()), rows[0], jobs=1)).all()


def test_data_frames_and_sparse_rows_are_dealt_alike(rows):
    sparse = pytest.importorskip("scipy.sparse")
    pandas = pytest.importorskip("pandas")
    tree = DecisionTreeClassifier()
    wanted = votes_of(train(rows, tree), rows[0], jobs=1)
    frame = pandas.DataFrame(rows[0], columns=list("abcd"), index=np.arange(240)[::-1])
    assert (votes_of(train((frame, rows[1]), tree), frame, jobs=1) == wanted).all()
    thin = sparse.csr_array(rows[0])
    assert (votes_of(train((thin, rows[1]), tree), thin, jobs=1) == wanted).all()


def test_a_teacher_of_one_label_votes_for_it_and_one_without_rows_for_the_first(rows):
    features, _ = rows
    dealt = Partition(3, np.array([0] * 120 + [1] * 120))
    labels = np.array([0, 1] * 60 + [2] * 120)
    teachers = train_teachers(LinearDiscriminantAnalysis(), features, labels, partition=dealt, classes=3, jobs=1)
    found = labels_of(teachers, features, jobs=1)
    assert (found[1] == 2).all()
    assert (found[2] == 0).all()
    assert set(found[0].tolist()) == {0, 1}  # a class that it has not seen gets no vote


def test_progress_counts_to_all_teachers(rows, tmp_path):
    told = []
    train(rows, progress=lambda done, whole: told.append((done, whole)))
    assert told == [(n, 6) for n in range(7)]
    train(rows, folder=tmp_path / "kept")
    told.clear()
    teachers = train(rows, folder=tmp_path / "kept", progress=lambda done, whole: told.append((done, whole)))
    assert told == [(6, 6)]
    told.clear()
    votes_of(teachers, rows[0], jobs=1, progress=lambda done, whole: told.append((done, whole)))
    assert told == [(n, 6) for n in range(7)]


def test_kept_teachers_vote_as_those_in_memory(rows, tmp_path):
    folder = tmp_path / "deep" / "kept"
    kept = train(rows, RandomForestClassifier(4), folder=folder)
    wanted = votes_of(train(rows, RandomForestClassifier(4)), rows[0], jobs=1)
    assert (votes_of(kept, rows[0], jobs=1) == wanted).all()
    assert (votes_of(read_teachers(folder), rows[0], jobs=1) == wanted).all()
    for path in folder.iterdir():
        assert path.stat().st_mode & 0o077 == 0, "private models are for their owner alone"


def test_training_goes_on_where_it_was(rows, tmp_path):
    folder = tmp_path / "kept"
    train(rows, folder=folder)
    gone, rest = folder / "teacher-00002.pickle", folder / "teacher-00003.pickle"
    before = rest.stat().st_mtime_ns
    content = gone.read_bytes()
    gone.unlink()
    (folder / ".teacher-00002.pickle.abcdefgh.half").write_bytes(b"half a model")
    with pytest.raises(DataError, match="keeps 5 of 6 teachers"):
        read_teachers(folder)
    train(rows, folder=folder)
    assert gone.read_bytes() == content
    assert rest.stat().st_mtime_ns == before
    assert not [path for path in folder.iterdir() if path.suffix == ".half"]


@pytest.mark.parametrize("what", ["learner", "features", "labels", "partition", "seed", "classes", "teachers"])
def test_other_terms_are_never_mixed(rows, tmp_path, what):
    features, labels = rows
    train((features.copy(), labels.astype(np.int32)), folder=tmp_path)  # the same terms, elsewhere in memory
    train(rows, folder=tmp_path)
    changed = features.copy()
    changed[17, 2] += 1e-9
    others = np.where(np.arange(240) == 9, (labels + 1) % 3, labels)
    table = {"features": (changed, labels), "labels": (features, others)}.get(what, rows)
    terms = {
        "learner": {"learner": Remembering(random_state=1)},
        "partition": {"partition": partition(240, 6, seed=4)},
        "seed": {"seed": 1},
        "classes": {"classes": 4},
        "teachers": {"teachers": 7},
    }.get(what, {})
    with pytest.raises(DataError, match="trained with other settings") as caught:
        train(table, folder=tmp_path, **terms)
    assert "\n" not in str(caught.value)


def test_folders_of_something_else_are_refused(rows, tmp_path):
    with pytest.raises(DataError, match=r"no teachers\.json"):
        read_teachers(tmp_path)
    (tmp_path / "teacher-00000.pickle").write_bytes(b"")
    with pytest.raises(DataError, match="without a record of the settings"):
        train(rows, folder=tmp_path)
    for content in ("{", "[]", '{"schema": "ogive.teachers/2"}', '{"schema": "ogive.teachers/1", "teachers": 3}'):
        (tmp_path / "teachers.json").write_text(content)
        with pytest.raises(DataError, match="damaged, or of another version"):
            train(rows, folder=tmp_path)
    with pytest.raises(ParameterError, match="cannot keep teachers in"):
        train(rows, folder=tmp_path / "teachers.json")


def test_a_damaged_model_is_named(rows, tmp_path):
    train(rows, folder=tmp_path)
    (tmp_path / "teacher-00004.pickle").write_bytes(b"not a model")
    with pytest.raises(DataError, match=r"00004\.pickle is damaged") as caught:
        votes_of(read_teachers(tmp_path), rows[0], jobs=1)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_pickled_cannot_be_kept(rows, tmp_path):
    with pytest.raises(ParameterError, match="use named functions"):
        train(rows, lambda: GaussianNB(), folder=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
    assert train(rows, lambda: GaussianNB()).number == 6


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"labels": lambda labels: labels[:-1]}, DataError, "240 rows"),
        ({"labels": lambda labels: labels + 0.5}, DataError, "none of the classes"),
        ({"labels": lambda labels: np.where(labels == 2, 3, labels)}, DataError, "none of the classes 0 to 2"),
        ({"labels": lambda labels: np.where(np.arange(240) == 5, np.nan, labels)}, DataError, "row 5 is nan"),
        ({"labels": lambda labels: labels.astype(str)}, DataError, "number the classes first"),
        ({"labels": lambda labels: labels[:, None]}, DataError, r"shape \(240, 1\)"),
        ({"classes": 1}, ParameterError, "from 2"),
        ({"classes": 40_000}, ParameterError, "32768"),
        ({"seed": -3}, ParameterError, "seed"),
        ({"partition": Partition(2, np.zeros(3, dtype=np.int64))}, DataError, "of 3 rows"),
        ({"learner": 5}, ParameterError, "fit and predict"),
        ({"learner": GaussianNB}, None, None),
        ({"learner": StandardScaler()}, ParameterError, "fit and predict"),
    ],
)
def test_what_cannot_be_learned_is_refused_in_one_line(rows, change, kind, message):
    labels = change.get("labels", lambda given: given)(rows[1])
    given = {key: value for key, value in change.items() if key != "labels"}
    if kind is None:  # a class makes a learner
        assert train((rows[0], labels), **given).number == 6
        return
    with pytest.raises(kind, match=message) as caught:
        train((rows[0], labels), **given)
    assert "\n" not in str(caught.value)


def test_rows_that_a_learner_cannot_use_are_refused_in_one_line_with_the_teacher(rows):
    features = rows[0].copy()
    features[33, 1] = np.nan
    teacher = int(partition(240, 6, seed=3).parts[33])
    with pytest.raises(DataError, match=rf"^teacher {teacher} could not be trained: ValueError: .*NaN") as caught:
        train((features, rows[1]), LinearDiscriminantAnalysis())
    assert "\n" not in str(caught.value)
    features[33, 1] = 1000.0
    with pytest.raises(DataError, match=rf"^teacher {teacher} .*: ValueError: a number is too large$"):
        train((features, rows[1]), Fussy())


def test_missing_features_are_for_learners_that_take_them(rows):
    features = rows[0].copy()
    features[::7, 1] = np.nan
    learner = DecisionTreeClassifier(max_depth=3)
    counts = votes_of(train((features, rows[1]), learner), features, jobs=1)
    assert (counts.argmax(axis=1) == rows[1]).mean() > 0.8


def test_queries_that_cannot_be_labelled_are_refused_in_one_line(rows):
    teachers = train(rows, GaussianNB())
    with pytest.raises(DataError, match=r"^teacher 0 could not label the queries: ValueError") as caught:
        votes_of(teachers, rows[0][:, :2], jobs=1)
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match=r"teacher 0 did not return labels: .* 7, none of the classes"):
        votes_of(train(rows, Wrong()), rows[0], jobs=1)
    with pytest.raises(ParameterError, match="no queries"):
        votes_of(teachers, rows[0][:0], jobs=1)


def test_learning_without_its_libraries_is_refused_in_one_line(rows, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ParameterError, match=r"pip install 'ogive\[learn\]'"):
        train(rows)


SLOW = """
import pathlib, sys, time
import numpy as np
from sklearn.dummy import DummyClassifier
from ogive.pate import partition, train_teachers

class Slow(DummyClassifier):
    def fit(self, features, labels):
        folder = pathlib.Path(sys.argv[1])
        while len(list(folder.glob("teacher-*.pickle"))) >= 3 and not folder.with_name("go").exists():
            time.sleep(0.01)  # an interrupt finds teachers left, also on a busy machine
        return super().fit(features, labels)

if __name__ == "__main__":
    labels = np.arange(48) % 2
    train_teachers(
        Slow(), np.ones((48, 1)), labels, partition=partition(48, 12, seed=0), classes=2, folder=sys.argv[1],
        jobs=int(sys.argv[2]), progress=lambda done, whole: print(done, flush=True),
    )
"""


@pytest.mark.everything
def test_an_interrupted_training_keeps_what_was_done_and_goes_on(tmp_path, monkeypatch, capsys):
    script, folder = tmp_path / "slow.py", tmp_path / "kept"
    script.write_text(SLOW)
    arguments = [sys.executable, str(script), str(folder), "2"]
    environment = {**os.environ, "LOKY_MAX_CPU_COUNT": "2"}
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment, start_new_session=True
    ) as child:
        for line in child.stdout:
            if int(line) >= 3:
                os.killpg(child.pid, signal.SIGINT)  # as a terminal does
                break
        assert child.wait(timeout=PATIENCE) != 0
    kept = {path.name: path.read_bytes() for path in folder.glob("teacher-*.pickle")}
    assert 3 <= len(kept) < 12
    (tmp_path / "go").touch()
    # the number of workers may be another; this process knows nothing of what the other one did
    monkeypatch.setattr(sys, "argv", [str(script), str(folder), "1"])
    runpy.run_path(str(script), run_name="__main__")
    assert int(capsys.readouterr().out.split()[0]) == len(kept)
    assert len(list(folder.glob("teacher-*.pickle"))) == 12
    assert all((folder / name).read_bytes() == content for name, content in kept.items())


@pytest.mark.parametrize("jobs", [0, -2, 1.5, True, None])
def test_a_number_of_workers_that_is_none_is_refused_before_training_and_before_votes(rows, jobs):
    with pytest.raises(ParameterError, match="jobs must be -1 or at least 1"):
        train(rows, jobs=jobs)
    with pytest.raises(ParameterError, match="jobs must be -1 or at least 1"):
        votes_of(train(rows), rows[0], jobs=jobs)


def needs_two(first, second):
    return GaussianNB()


def test_a_function_that_cannot_be_called_without_arguments_is_refused_with_its_reason(rows):
    with pytest.raises(ParameterError, match="needs_two is called without arguments and failed: TypeError") as why:
        train(rows, needs_two)
    assert "\n" not in str(why.value)
