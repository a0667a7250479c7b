"""The estimator: what it learns, what it refuses, what is charged, and scikit-learn's conventions."""

import numpy as np
import pytest

import ogive
from ogive.errors import BudgetError, DataError, LedgerError, ParameterError, ReleaseMismatchError, UnsupportedError
from ogive.ledger.account import Reservation
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, PrivacyUnit, PureDP, ZeroConcentratedDP

GRANT = ApproxDP(1, "1e-6")
RANDOM = np.random.default_rng(7)
X = RANDOM.uniform(0, 10, (3000, 4))
Y = (X - 5) @ [2, -1, 0.5, 0] + RANDOM.logistic(size=3000) > 0
OPTIONS = {"bounds": (0, 10), "privacy": GRANT, "classes": (False, True), "steps": 8}


def ranker(**changes):
    return ogive.PairwiseRanker(**{**OPTIONS, **changes})


@pytest.fixture
def account(tmp_path):
    with ogive.Ledger.open(tmp_path / "budget.db") as books:
        yield books.account("customers", unit=PrivacyUnit(Adjacency.REPLACE), limit=ApproxDP(2, "1e-5"))


def test_it_ranks_nearly_as_well_as_without_noise():
    best = ranker(privacy=None, trust=ogive.Clear).fit(X, Y)
    private = ranker().fit(X, Y, source=KeyedSource.from_seed(1))
    assert best.score(X, Y) > 0.95
    assert private.score(X, Y) > 0.93
    assert np.abs(private.coef_).argmax() == 0
    assert private.coef_[1] < 0 < private.coef_[0]
    # a control: labels that say nothing are not learnt
    shuffled = ranker().fit(X, np.random.default_rng(2).permutation(Y), source=KeyedSource.from_seed(1))
    assert shuffled.score(X, Y) < 0.9
    assert best.price_ is None
    assert best.noise_ == 0 < private.noise_


def test_score_is_the_auc():
    from sklearn.metrics import roc_auc_score

    found = ranker(privacy=None, trust=ogive.Clear).fit(X, Y)
    assert found.score(X, Y) == pytest.approx(roc_auc_score(Y, found.decision_function(X)), abs=1e-12)


def test_scores_are_linear_within_the_bounds_and_clipped_beyond():
    found = ranker().fit(X, Y, source=KeyedSource.from_seed(1))
    assert np.allclose(found.decision_function(X), X @ found.coef_ + found.intercept_)
    assert np.allclose(found.decision_function([[5, 5, 5, 5]]), 0)
    assert found.decision_function([[99, 5, 5, -7]]) == found.decision_function([[10, 5, 5, 0]])


def test_other_noise_gives_other_weights_and_the_same_source_the_same():
    first, again, other = (ranker().fit(X, Y, source=KeyedSource.from_seed(seed)).coef_ for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_all_steps_are_charged_once_before_the_first(account, monkeypatch):
    found = ranker().fit(X, Y, ledger=account)
    (entry,) = account.history
    assert entry.statistic == "pairwise_ranker"
    assert isinstance(entry.charge, GaussianDP)
    assert found.price_.mu_squared <= entry.charge.mu_squared
    spent = account.spent
    again = ranker().fit(X, Y, ledger=account)
    assert np.array_equal(found.coef_, again.coef_)
    assert again.price_ == found.price_
    assert account.spent == spent
    assert len(account.history) == 1
    ranker(steps=9).fit(X, Y, ledger=account)
    assert len(account.history) == 2
    assert account.spent.epsilon > spent.epsilon
    with pytest.raises(BudgetError):
        ranker(steps=10, privacy=ApproxDP(2, "1e-5")).fit(X, Y, ledger=account)
    assert len(account.history) == 2


def test_an_interrupted_fit_goes_on_with_the_same_noise(account, monkeypatch):
    wanted = ranker().fit(X, Y, ledger=account, source=KeyedSource.from_seed(3)).coef_
    record = Reservation.record
    with ogive.Ledger.open() as books:
        other = books.account("customers", unit=PrivacyUnit(Adjacency.REPLACE))
        monkeypatch.setattr(Reservation, "record", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            ranker().fit(X, Y, ledger=other, source=KeyedSource.from_seed(3))
        monkeypatch.setattr(Reservation, "record", record)
        found = ranker().fit(X, Y, ledger=other, source=KeyedSource.from_seed(4)).coef_
        assert len(other.history) == 1
    assert np.array_equal(found, wanted)


def test_other_records_are_refused_or_paid_for(account):
    ranker().fit(X, Y, ledger=account)
    with pytest.raises(ReleaseMismatchError, match="asked of other records before"):
        ranker().fit(X[::-1], Y, ledger=account)
    ranker().fit(X[::-1], Y[::-1], ledger=account, batch="reversed")
    assert len(account.history) == 2


def test_a_ledger_with_models_is_read_by_everyone(account, tmp_path, capsys):
    from ogive.cli import main

    ranker().fit(X, Y, ledger=account)
    ogive.release(
        ogive.Ecdf("age", bounds=(0, 10), bins=4),
        trust=ogive.Central({"age": X[:, 0]}),
        privacy=ogive.PureDP("0.1"),
        ledger=account,
    )
    assert main(["ledger", "show", str(tmp_path / "budget.db")]) == 0
    assert "pairwise_ranker" in capsys.readouterr().out
    page = tmp_path / "report.html"
    assert main(["report", "--ledger", str(tmp_path / "budget.db"), "-o", str(page)]) == 0
    assert "pairwise_ranker" in page.read_text()


def test_a_ledger_that_protects_more_is_refused(tmp_path):
    with ogive.Ledger.open(tmp_path / "budget.db") as books:
        persons = books.account("visits", unit=PrivacyUnit(Adjacency.ADD_OR_REMOVE, "person", 3))
        with pytest.raises(LedgerError):
            ranker().fit(X, Y, ledger=persons)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"bounds": None}, ParameterError, "public bounds of the features"),
        ({"bounds": (1, 0)}, ParameterError, "low below high"),
        ({"bounds": (-1.5e308, 1.5e308)}, ParameterError, "finite distances"),
        ({"bounds": (0, 5e-324)}, ParameterError, "finite distances"),
        ({"bounds": [(0, 1)] * 3}, ParameterError, "each of the 4 features"),
        ({"privacy": None}, ParameterError, "give a guarantee"),
        ({"privacy": PureDP(1)}, ParameterError, "no pure guarantee"),
        ({"classes": (1, 1)}, ParameterError, "the negative and the positive label"),
        ({"classes": ("no", "yes")}, DataError, "the two classes"),
        ({"norm": 0}, ParameterError, "norm must be"),
        ({"steps": 0}, ParameterError, "steps must be"),
        ({"rate": 1e9}, ParameterError, "rate must be at most"),
        ({"adjacency": Adjacency.ADD_OR_REMOVE}, ParameterError, "depends on the number of records"),
        ({"trust": ogive.Pairs}, UnsupportedError, "trust pairs does not learn a ranking"),
        ({"trust": ogive.SecAgg}, UnsupportedError, "trust secagg does not learn a ranking"),
        ({"trust": ogive.Servers}, UnsupportedError, "trust servers does not learn a ranking"),
        ({"trust": "central"}, ParameterError, "the class Central, Local or Clear"),
        ({"trust": ogive.Clear}, ParameterError, "has no privacy"),
    ],
)
def test_bad_parameters_are_refused_in_a_line(changes, error, words):
    with pytest.raises(error, match=words) as refused:
        ranker(**changes).fit(X, Y)
    assert "\n" not in str(refused.value)


def test_bad_records_are_refused():
    for features, labels, words in (
        (X[:, 0], Y, "a row for each record"),
        (np.where(X < 1, np.nan, X), Y, "missing"),
        ([["a"]] * 3, [0, 1, 0], "must be numbers"),
        (X, Y[:5], "one label for each"),
        (X[:1], Y[:1], "needs 2 to"),
    ):
        with pytest.raises(DataError, match=words):
            ranker().fit(features, labels)
    with pytest.raises(DataError, match="not fitted"):
        ranker().decision_function(X)
    found = ranker(privacy=None, trust=ogive.Clear).fit(X, Y)
    with pytest.raises(DataError, match="fitted on 4 features"):
        found.decision_function(X[:, :2])
    with pytest.raises(DataError, match="both classes"):
        found.score(X[Y], Y[Y])


def test_one_class_alone_is_no_error_since_labels_are_private():
    found = ranker(privacy=ZeroConcentratedDP(1)).fit(X, np.ones(len(X), dtype=bool), source=KeyedSource.from_seed(1))
    assert np.isfinite(found.coef_).all()
    clear = ranker(privacy=None, trust=ogive.Clear).fit(X, np.ones(len(X), dtype=bool))
    assert not clear.coef_.any()


def test_scikit_learn_takes_it():
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    made = ranker(steps=4)
    copied = clone(made)
    assert copied.get_params() == made.get_params()
    assert is_classifier(made)
    scores = cross_val_score(make_pipeline(FunctionTransformer(), copied), X, Y, scoring="roc_auc", cv=3)
    assert (scores > 0.8).all()
    assert made.set_params(steps=5).steps == 5
    with pytest.raises(ParameterError, match="there is no parameter"):
        made.set_params(step=5)
    assert repr(made).startswith("PairwiseRanker(bounds=(0, 10), privacy=")
