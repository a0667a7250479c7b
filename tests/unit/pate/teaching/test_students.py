"""Students learn from answers and public inputs."""

import numpy as np
import pytest

from ogive.errors import DataError, ParameterError
from ogive.pate import GNMax, InteractiveGNMax, label, train_semi_supervised, train_student

pytest.importorskip("sklearn")
pytest.importorskip("joblib")

from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC


@pytest.fixture
def inputs():
    draw = np.random.default_rng(5)
    truth = draw.integers(0, 3, 300)
    return draw.normal(size=(300, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[truth], truth


def test_a_student_learns_from_answered_queries_alone(inputs):
    features, truth = inputs
    answers = np.where(np.arange(300) % 3 == 0, -1, truth)
    found = train_student(KNeighborsClassifier(1), features, answers, classes=3)
    assert found.answered == 200
    kept = answers >= 0
    assert len(found.model.classes_) == 3  # none of them is the label of a refusal
    assert (found.labels(features[kept]) == truth[kept]).all()
    # what was refused is not learned: a refused query gets the label of its nearest answered one
    nearest = [np.argmin(((features[kept] - x) ** 2).sum(axis=1)) for x in features[~kept]]
    assert (found.labels(features[~kept]) == truth[kept][nearest]).all()


def test_accuracy_is_the_share_of_right_labels(inputs):
    features, truth = inputs
    found = train_student(GaussianNB(), features, truth, classes=3)
    right = sum(int(a == b) for a, b in zip(found.labels(features), truth, strict=True))
    assert found.accuracy(features, truth) == right / 300
    with pytest.raises(DataError, match="300 rows"):
        found.accuracy(features, truth[:9])


def test_probabilities_have_a_place_for_every_class(inputs):
    features, truth = inputs
    kept = truth != 1
    found = train_student(GaussianNB(), features[kept], truth[kept], classes=5)
    scores = found.probabilities(features)
    assert scores.shape == (300, 5)
    assert (scores[:, [1, 3, 4]] == 0).all()
    assert scores.sum(axis=1) == pytest.approx(np.ones(300), abs=1e-12)
    assert scores[:, [0, 2]] == pytest.approx(found.model.predict_proba(features))


def test_a_student_of_one_label_gives_it_for_certain(inputs):
    features, _ = inputs
    answers = np.full(300, -1)
    answers[:4] = 2
    for train in (train_student, train_semi_supervised):
        found = train(SVC(), features, answers, classes=3)
        assert found.answered == 4
        assert (found.labels(features) == 2).all()
        assert (found.probabilities(features) == np.eye(3)[2]).all()


def test_a_second_round_takes_the_students_probabilities(inputs):
    features, truth = inputs
    student = train_student(GaussianNB(), features[:100], truth[:100], classes=3)
    votes = 100 * np.eye(3, dtype=int)[truth]
    scores = student.probabilities(features)
    found = InteractiveGNMax(60, 1, 1, "0.9").answer(votes, probabilities=scores)
    sure = scores.max(axis=1) > 0.9
    wrong = 100 - 100 * scores[np.arange(300), truth] > 70
    # the teachers are asked where the student is far off, and otherwise a sure student is told that it is right
    assert (found[wrong] == truth[wrong]).all()
    assert (found[sure & ~wrong] == student.labels(features)[sure & ~wrong]).all()
    assert (found[~sure & (100 - 100 * scores[np.arange(300), truth] < 50)] == -1).all()


def test_semi_supervised_learners_get_all_inputs_and_the_answers_first(inputs):
    class Recording(GaussianNB):
        def fit(self, features, labels):
            self.seen_ = np.array(features), np.array(labels)
            return super().fit(features[labels >= 0], labels[labels >= 0])

    features, truth = inputs
    answers = np.where(np.arange(40) % 4 == 0, -1, truth[:40])
    found = train_semi_supervised(Recording(), features, answers, classes=3)
    assert (found.model.seen_[0] == features).all()
    assert (found.model.seen_[1][:40] == answers).all()
    assert (found.model.seen_[1][40:] == -1).all()
    assert found.answered == 30


def test_unlabelled_inputs_help():
    # two half moons: a line along which labels spread, where the nearest of four labels is often wrong
    from sklearn.datasets import make_moons

    features, truth = make_moons(400, noise=0.06, random_state=2)
    answers = np.full(400, -1)
    for kind in (0, 1):
        answers[np.flatnonzero(truth == kind)[:2]] = kind
    alone = train_student(KNeighborsClassifier(1), features, answers, classes=2)
    spread = train_semi_supervised(
        LabelSpreading(kernel="knn", n_neighbors=8, alpha=0.9, max_iter=300), features, answers, classes=2
    )
    assert spread.accuracy(features, truth) > 0.97
    assert alone.accuracy(features, truth) < 0.95  # the control


def test_students_of_one_seed_are_the_same(inputs):
    from sklearn.ensemble import RandomForestClassifier

    features, truth = inputs
    one, same, other = (
        train_student(RandomForestClassifier(3), features[:40], truth[:40], classes=3, seed=seed).probabilities(
            features
        )
        for seed in (1, 1, 2)
    )
    assert (one == same).all()
    assert (one != other).any()


@pytest.mark.parametrize("train", [train_student, train_semi_supervised])
@pytest.mark.parametrize(
    ("answers", "kind", "message"),
    [
        (np.full(300, -1), DataError, "no query was answered"),
        (np.full(300, 3), DataError, "none of the classes -1 to 2"),
        (np.full(300, -2), DataError, "none of the classes"),
        (np.full(300, 0.5), DataError, "none of the classes"),
        (np.array(["a"] * 300), DataError, "number the classes"),
    ],
)
def test_answers_that_are_no_labels_are_refused_in_one_line(inputs, train, answers, kind, message):
    with pytest.raises(kind, match=message) as caught:
        train(GaussianNB(), inputs[0], answers, classes=3)
    assert "\n" not in str(caught.value)


def test_other_mistakes_are_refused_in_one_line(inputs, monkeypatch):
    features, truth = inputs
    with pytest.raises(DataError, match="for each of 300 rows"):
        train_student(GaussianNB(), features, truth[:7], classes=3)
    with pytest.raises(DataError, match="301 answers for 300 inputs"):
        train_semi_supervised(GaussianNB(), features, [*truth, 0], classes=3)
    with pytest.raises(ParameterError, match="seed"):
        train_student(GaussianNB(), features, truth, classes=3, seed=-1)
    with pytest.raises(DataError, match=r"^the student could not be trained: ValueError: .*NaN"):
        train_student(GaussianNB(), np.full((300, 2), np.nan), truth, classes=3)
    machine = train_student(SVC(), features, truth, classes=3)
    with pytest.raises(ParameterError, match="predict_proba"):
        machine.probabilities(features)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ParameterError, match=r"ogive\[learn\]"):
        train_student(GaussianNB(), features, truth, classes=3)


def test_what_is_no_probability_is_refused(inputs):
    class Odd(GaussianNB):
        def predict_proba(self, features):
            return np.full((len(features), 3), np.nan if len(features) > 5 else 0.5)

    features, truth = inputs
    student = train_student(Odd(), features, truth, classes=3)
    for some in (features, features[:2]):
        with pytest.raises(DataError, match="invalid probabilities") as caught:
            student.probabilities(some)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("train", [train_student, train_semi_supervised])
def test_a_release_in_place_of_its_labels_is_refused_with_what_to_give(train):
    votes = np.tile([9, 1], (4, 1))
    found = label(votes, GNMax(40), target_delta="1e-5")
    with pytest.raises(ParameterError, match=r"answers must be labels, not LabelsEstimate; give its \.labels"):
        train(LabelSpreading(), np.zeros((4, 2)), found, classes=2)
