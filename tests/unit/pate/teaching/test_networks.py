"""Torch networks as learners, and virtual adversarial training against what it approximates."""

from functools import partial

import numpy as np
import pytest

from ogive.errors import DataError, ParameterError
from ogive.pate import (
    NetworkLearner,
    VirtualAdversarialStudent,
    convolutional,
    partition,
    perceptron,
    train_semi_supervised,
    train_teachers,
    votes_of,
)
from ogive.pate.adversarial import adversarial_divergence, entropy
from ogive.pate.networks import trained

torch = pytest.importorskip("torch", reason="torch is not installed (pip install 'ogive[students]')")
base = pytest.importorskip("sklearn.base")
datasets = pytest.importorskip("sklearn.datasets")
pytest.importorskip("joblib")

SMALL = partial(perceptron, 2, 2, hidden=(32, 32))


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def moons():
    features, truth = datasets.make_moons(600, noise=0.08, random_state=1)
    answers = np.full(600, -1)
    for label in (0, 1):
        answers[np.flatnonzero(truth == label)[:4]] = label
    return features, truth, answers


def divergence(p, q):
    return float((p * (np.log(p) - np.log(q))).sum())


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def test_the_adversarial_direction_is_one_step_of_the_power_method():
    # a linear network of two inputs: the Hessian of the divergence is known, and every first direction can be tried
    torch.manual_seed(3)
    weights = np.array([[2.0, -1.0], [0.5, 1.5], [-1.0, 0.3]])
    network = torch.nn.Linear(2, 3, bias=False)
    network.weight.data = torch.tensor(weights, dtype=torch.float32)
    inputs = np.random.default_rng(1).normal(size=(20, 2)) / 2
    radius, turns = 0.3, np.linspace(0, 2 * np.pi, 361)[:-1]
    worst, random, stepped = [], [], []
    for x in inputs:
        p = softmax(weights @ x)
        hessian = weights.T @ (np.diag(p) - np.outer(p, p)) @ weights
        first = np.stack([np.cos(turns), np.sin(turns)], axis=1)
        after = first @ hessian
        after /= np.linalg.norm(after, axis=1, keepdims=True)
        moved = [divergence(p, softmax(weights @ (x + radius * each))) for each in first]
        worst.append(max(moved))
        random.append(np.mean(moved))
        stepped.append(np.mean([divergence(p, softmax(weights @ (x + radius * each))) for each in after]))
    batch = torch.tensor(inputs, dtype=torch.float32)
    found = [adversarial_divergence(network, batch, network(batch), radius=radius).item() for _ in range(100)]
    assert max(found) <= np.mean(worst) + 1e-5
    # 2,000 first directions whose divergences are 0.01 to 0.1: a standard error of 1 %; a random direction is 25 % off
    assert np.mean(found) == pytest.approx(np.mean(stepped), rel=0.05)
    assert np.mean(random) < 0.9 * np.mean(stepped)


def test_the_divergence_grows_with_the_radius_and_teaches_the_network():
    torch.manual_seed(1)
    network = perceptron(2, 3)
    batch = torch.randn(50, 2)
    small, large = (adversarial_divergence(network, batch, network(batch), radius=r) for r in (0.1, 1.0))
    assert 0 <= small.item() < large.item()
    large.backward()
    assert all(each.grad is not None and each.grad.abs().sum() > 0 for each in list(network.parameters())[:-1])


def test_a_constant_network_has_nothing_to_smooth():
    network = torch.nn.Linear(2, 3)
    network.weight.data.zero_()
    batch = torch.randn(5, 2)
    assert adversarial_divergence(network, batch, network(batch), radius=2.0).item() == pytest.approx(0, abs=1e-6)


def test_entropy_is_that_of_the_probabilities():
    scores = np.random.default_rng(1).normal(size=(7, 4))
    p = softmax(scores)
    assert entropy(torch.tensor(scores)).item() == pytest.approx(-(p * np.log(p)).sum() / 7, rel=1e-9)
    assert entropy(torch.zeros(3, 8)).item() == pytest.approx(np.log(8), rel=1e-6)


def test_virtual_adversaries_help_where_labels_are_few(moons):
    features, truth, answers = moons
    learner = VirtualAdversarialStudent(
        SMALL, radius=0.3, sureness=0, steps=400, batch=8, unlabelled_batch=64, rate=5e-3
    )
    found = train_semi_supervised(learner, features, answers, classes=2, seed=1)
    assert found.answered == 8
    assert found.accuracy(features, truth) > 0.97
    kept = answers >= 0
    alone = NetworkLearner(SMALL, steps=400, batch=8, rate=5e-3, random_state=1).fit(features[kept], answers[kept])
    assert (alone.predict(features) == truth).mean() < 0.9  # the control
    scores = found.probabilities(features)
    assert scores.sum(axis=1) == pytest.approx(np.ones(600), abs=1e-12)
    assert (scores.argmax(axis=1) == found.labels(features)).all()


@pytest.mark.parametrize("learner", [NetworkLearner(SMALL, steps=20), VirtualAdversarialStudent(SMALL, steps=20)])
def test_a_random_state_fixes_all_and_the_callers_own_stays(moons, learner):
    features, truth, _ = moons
    torch.manual_seed(77)
    wanted = torch.rand(3)
    torch.manual_seed(77)
    one, same, other = (
        base.clone(learner).set_params(random_state=state).fit(features, truth).predict_proba(features)
        for state in (5, 5, 6)
    )
    assert (torch.rand(3) == wanted).all()
    assert (one == same).all()
    assert (one != other).any()


def test_refused_labels_are_not_read(moons):
    features, _, answers = moons
    learner = VirtualAdversarialStudent(SMALL, steps=10)
    one = base.clone(learner).fit(features, answers).predict_proba(features)
    assert (base.clone(learner).fit(features, np.where(answers < 0, -7, answers)).predict_proba(features) == one).all()
    changed = answers.copy()
    changed[np.flatnonzero(answers >= 0)[0]] ^= 1
    assert (base.clone(learner).fit(features, changed).predict_proba(features) != one).any()


def test_networks_teach_and_are_kept(moons, tmp_path):
    features, truth, _ = moons
    learner = NetworkLearner(SMALL, steps=100, rate=1e-2)
    dealt = partition(600, 3, seed=1)
    teachers = train_teachers(learner, features, truth, partition=dealt, classes=2, jobs=1, folder=tmp_path)
    counts = votes_of(teachers, features, jobs=1)
    assert (counts.argmax(axis=1) == truth).mean() > 0.93
    again = train_teachers(learner, features, truth, partition=dealt, classes=2, jobs=1)
    assert (votes_of(again, features, jobs=1) == counts).all()


def test_images_are_learned_with_changes_at_random():
    draw = np.random.default_rng(3)
    truth = draw.integers(0, 2, 60)
    images = draw.normal(size=(60, 1, 12, 12)) / 4
    images[truth == 0, :, 5:7, :] += 1  # a bar across, or a bar down
    images[truth == 1, :, :, 5:7] += 1
    learner = NetworkLearner(partial(convolutional, 2), steps=60, rate=3e-3, augment=flipped)
    learner.fit(images[:30], truth[:30])
    assert (learner.predict(images[30:]) == truth[30:]).mean() > 0.95
    assert learner.classes_.tolist() == [0, 1]


def flipped(images):
    return images.flip(-1) if torch.rand(()) < 0.5 else images


def test_one_inputs_scores_do_not_depend_on_the_others():
    torch.manual_seed(1)
    network = convolutional(3)
    images = torch.randn(6, 1, 12, 12)
    assert torch.allclose(network(images)[2], network(images[2:3])[0], atol=1e-5)


def test_the_average_over_steps_is_returned():
    weights = []

    class Spy(torch.nn.Linear):
        def forward(self, x):
            weights.append(self.weight.detach().clone())
            return super().forward(x)

    learner = NetworkLearner(partial(Spy, 1, 2), steps=40, rate=0.1)
    network = trained(learner, lambda net, reached: ((net(torch.ones(4, 1)) - 3) ** 2).mean())
    seen = torch.stack(weights[1:])  # after each step but the last
    assert seen.min() - 1e-6 <= network.weight.min()
    assert network.weight.max() <= seen.max() + 0.1
    assert not torch.allclose(network.weight, seen[-1], atol=1e-4)


def test_progress_counts_to_all_steps(moons):
    told = []
    learner = NetworkLearner(SMALL, steps=3, progress=lambda done, whole: told.append((done, whole)))
    learner.fit(moons[0], moons[1])
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"batch": 0}, "batch must be at least 1"),
        ({"rate": 0.0}, "rate must be above 0"),
        ({"rate": float("nan")}, "rate must be above 0"),
        ({"radius": 0.0}, "radius must be above 0"),
        ({"unlabelled_batch": 0}, "unlabelled_batch at least 1"),
    ],
)
def test_parameters_out_of_range_are_refused_in_one_line(moons, change, message):
    features, _, answers = moons
    with pytest.raises(ParameterError, match=message) as caught:
        train_semi_supervised(VirtualAdversarialStudent(SMALL, **change), features, answers, classes=2)
    assert "\n" not in str(caught.value)


def test_inputs_that_are_not_finite_are_refused_in_one_line(moons):
    features, truth, _ = moons
    with pytest.raises(DataError, match=r"^teacher 0 could not be trained: the loss is not a number: the"):
        train_teachers(
            NetworkLearner(SMALL, steps=5),
            features * np.nan,
            truth,
            partition=partition(600, 2, seed=0),
            classes=2,
            jobs=1,
        )
    with pytest.raises(DataError, match="no input has a label"):
        VirtualAdversarialStudent(SMALL).fit(features, np.full(600, -1))


def test_networks_without_torch_are_refused_in_one_line(monkeypatch, moons):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ParameterError, match=r"pip install 'ogive\[students\]'"):
        perceptron(2, 2)
    with pytest.raises(ParameterError, match=r"pip install 'ogive\[students\]'"):
        NetworkLearner(SMALL).fit(moons[0], moons[1])
