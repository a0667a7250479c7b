import json
import math
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers import absurd

import ogive
from ogive.errors import BudgetError, DataError, ParameterError, ReleaseMismatchError
from ogive.noise import KeyedSource

VALUES = np.random.default_rng(7).normal(50, 12, size=5_000)
STATISTIC = ogive.Ecdf("x", (0, 100), bins=64)
GRANTED = ogive.PureDP(1)


def opened(values=VALUES, **options):
    trust = ogive.Central({"x": values})
    return ogive.PointwiseCurve.open(STATISTIC, trust=trust, privacy=GRANTED, **options)


def test_repeated_and_overlapping_queries_return_identical_numbers():
    curve = opened()
    first = curve.counts([3, 60, 3, 17])
    assert first[0] == first[2]
    assert np.array_equal(curve.counts([17, 3]), first[[3, 0]])
    assert curve.counts([63, 3])[1] == first[0], "also when the last point, whose count is public, is among them"
    assert curve(50.0) == curve(50.0)


def test_points_in_any_order_agree_with_the_whole_curve():
    curve = opened(source=KeyedSource(bytes(32)))
    whole = curve.counts(np.arange(64))
    again = opened(source=KeyedSource(bytes(32)))
    for point in (62, 0, 31, 32, 5):
        assert again.counts([point])[0] == whole[point]


def test_errors_have_the_law_of_the_noise():
    truth = np.cumsum(np.histogram(np.clip(VALUES, 0, 100), bins=64, range=(0, 100))[0])
    errors = np.array([opened().counts([20, 40])[0] - truth[20] for _ in range(400)])
    variance = float(opened().strategy.variance(total_known=False)[20])
    # 400 draws: the mean square is within 40 % of its expectation with overwhelming probability
    assert 0.6 < np.mean(errors**2) / variance < 1.4
    assert not 0.6 < np.mean((1.5 * errors) ** 2) / variance < 1.4, "control: noise half as large again is seen"


def test_inverts_by_bisection_within_few_points(monkeypatch):
    curve = opened()
    asked = []
    counts = curve.counts

    def count(points):
        asked.extend(np.atleast_1d(points).tolist())
        return counts(points)

    monkeypatch.setattr(curve, "counts", count)
    (median,) = curve.quantile([0.5])
    assert abs(median - np.median(VALUES)) < 4
    assert len(set(asked)) <= math.ceil(math.log2(64)) + 1


def test_quantiles_increase_with_their_probabilities():
    curve = opened()
    wanted = [0.9, 0.1, 0.5, 0.11, 0.12]
    found = np.array(curve.quantile(wanted))
    assert np.all(np.diff(found[np.argsort(wanted)]) >= 0)


def test_below_the_first_threshold_nothing_is_asked():
    assert opened()(-5) == 0.0


def test_resumes_with_the_same_numbers(tmp_path):
    state = tmp_path / "curve.state"
    curve = opened(state=state)
    before = curve.counts([1, 2, 40])
    assert state.stat().st_mode & 0o077 == 0
    resumed = ogive.PointwiseCurve.resume(state, trust=ogive.Central({"x": VALUES}))
    assert np.array_equal(resumed.counts([40, 2, 1]), before[::-1])
    assert resumed.privacy == GRANTED
    assert resumed.adjacency is ogive.Adjacency.REPLACE


def test_refuses_to_resume_on_changed_data(tmp_path):
    state = tmp_path / "curve.state"
    opened(state=state)
    changed = VALUES.copy()
    changed[0] = 99.0
    with pytest.raises(ReleaseMismatchError, match="other records"):
        ogive.PointwiseCurve.resume(state, trust=ogive.Central({"x": changed}))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("grid", ogive.Grid.linear(0, 101, bins=64).to_dict()),
        ("adjacency", "add_or_remove"),
        ("missing", "low"),
        ("strategy", ogive.design_path(64, privacy=ogive.PureDP(2), adjacency=ogive.Adjacency.REPLACE).to_dict()),
        ("secret", "00" * 32),
        ("privacy", ogive.PureDP("0.5").to_dict()),
    ],
)
def test_refuses_to_resume_with_another_grid_scale_or_adjacency(tmp_path, field, value):
    state = tmp_path / "curve.state"
    opened(state=state)
    data = json.loads(state.read_text())
    assert data[field] != value
    state.write_text(json.dumps({**data, field: value}))
    with pytest.raises(ReleaseMismatchError):
        ogive.PointwiseCurve.resume(state, trust=ogive.Central({"x": VALUES}))


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"schema": 1}', '{"schema": "ogive.pointwise/9"}', "\x00"])
def test_refuses_a_state_that_is_none(tmp_path, content):
    state = tmp_path / "curve.state"
    state.write_text(content)
    with pytest.raises(DataError):
        ogive.PointwiseCurve.resume(state, trust=ogive.Central({"x": VALUES}))


def test_a_state_of_another_schema_says_which_one_this_version_reads(tmp_path):
    state = tmp_path / "curve.state"
    opened(state=state)
    data = json.loads(state.read_text())
    state.write_text(json.dumps({**data, "schema": "ogive.pointwise/9"}))
    with pytest.raises(DataError, match=f"has schema 'ogive.pointwise/9'; this version reads '{data['schema']}'"):
        ogive.PointwiseCurve.resume(state, trust=ogive.Central({"x": VALUES}))


@pytest.mark.parametrize("points", [[-1], [64], [0, 64], [-1, 3]])
def test_points_outside_of_the_grid_are_refused_before_they_are_asked_for(points, tmp_path):
    state = tmp_path / "curve.state"
    curve = opened(state=state)
    before = state.read_text()
    with pytest.raises(ParameterError, match="points must be from 0 to 63"):
        curve.counts(points)
    assert state.read_text() == before
    assert curve.counts([0, 63]).shape == (2,)


@pytest.mark.parametrize(
    "asked", ["[[1e999]]", "[[5, 3]]", "[[3, 3]]", "[[-1]]", "[[64]]", "[[1.5]]", "[[true]]", "[3]", "3"]
)
def test_refuses_a_state_whose_points_are_none(tmp_path, asked):
    state = tmp_path / "curve.state"
    opened(state=state)
    whole = state.read_text()
    assert '"asked": []' in whole
    state.write_text(whole.replace('"asked": []', f'"asked": {asked}'))
    with pytest.raises(DataError, match="damaged"):
        ogive.PointwiseCurve.resume(state, trust=ogive.Central({"x": VALUES}))


@pytest.mark.parametrize("which", ["grid", "strategy", "asked", "privacy", "others"])
def test_absurd_fields_of_a_state_are_refused_or_open_right(tmp_path, which):
    state = tmp_path / "curve.state"
    opened(state=state).counts([3, 7])
    content = {**json.loads(state.read_text()), "asked": [[3, 7]]}
    for path in absurd.paths(content):
        if (path[0] if path and path[0] in ("grid", "strategy", "asked", "privacy") else "others") != which:
            continue
        changes = [absurd.replaced(content, path, value) for value in absurd.VALUES]
        for changed in [*changes, *([absurd.without(content, path)] if path else [])]:
            state.write_text(json.dumps(changed))
            try:
                curve = ogive.PointwiseCurve.resume(state, trust=ogive.Central({"x": VALUES}))
            except (DataError, ReleaseMismatchError) as refusal:
                said = str(refusal)
            else:
                said = ""
                assert np.isfinite(curve.counts([3, 7, 63])).all()
            assert len(said.splitlines()) < 2
            assert len(said) < 400


@pytest.mark.parametrize("content", [b"\xff", b"[" * 100_000, b'{"schema": ' * 50_000, b"1" * 5000])
def test_refuses_bytes_that_are_no_plain_data(tmp_path, content):
    state = tmp_path / "curve.state"
    state.write_bytes(content)
    with pytest.raises(DataError, match="damaged"):
        ogive.PointwiseCurve.resume(state, trust=ogive.Central({"x": VALUES}))


def test_sizes_that_are_only_declared_take_no_memory(tmp_path):
    state = tmp_path / "curve.state"
    opened(state=state)
    content = json.loads(state.read_text())
    huge = 1 << 40
    sizes = {
        ("grid", "bins"): huge,
        ("strategy", "size"): huge,
        ("strategy", "radices"): [2] * 1000,
        ("strategy", "radices", 0): huge,
        ("strategy", "bits"): huge,
        ("strategy", "law", "scale"): f"1e{10**9}",
        ("privacy", "epsilon"): f"1e{10**9}",
    }
    trust = ogive.Central({"x": VALUES})
    tracemalloc.start()
    started = time.thread_time()
    for path, value in sizes.items():
        state.write_text(json.dumps(absurd.replaced(content, path, value)))
        with pytest.raises((DataError, ReleaseMismatchError)):
            ogive.PointwiseCurve.resume(state, trust=trust)
    assert tracemalloc.get_traced_memory()[1] < 10 << 20
    assert time.thread_time() - started < 5
    tracemalloc.stop()


def test_refuses_to_resume_from_nowhere(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        ogive.PointwiseCurve.resume(tmp_path / "none", trust=ogive.Central({"x": VALUES}))


def test_never_overwrites_the_state_of_another_release(tmp_path):
    state = tmp_path / "curve.state"
    opened(state=state)
    before = state.read_bytes()
    with pytest.raises(ParameterError, match="exists"):
        opened(state=state)
    assert state.read_bytes() == before


def test_the_state_does_not_let_one_check_guesses_at_the_data(tmp_path):
    """The digest of the data is keyed: equal data under two keys leave different marks."""
    marks = []
    for name in ("a", "b"):
        opened(state=tmp_path / name)
        marks.append(json.loads((tmp_path / name).read_text())["mark"])
    assert marks[0] != marks[1]


def test_refuses_methods_that_have_no_single_points_and_prices_above_the_grant():
    trust = ogive.Central({"x": VALUES})
    with pytest.raises(ParameterError, match="single points"):
        ogive.PointwiseCurve.open(ogive.Ecdf("x", (0, 100), bins=64, method="tree_ls"), trust=trust, privacy=GRANTED)
    costly = ogive.design_path(64, privacy=ogive.PureDP(2), adjacency=ogive.Adjacency.REPLACE)
    with pytest.raises(BudgetError, match="epsilon = 2"):
        ogive.PointwiseCurve.open(ogive.Ecdf("x", (0, 100), bins=64, method=costly), trust=trust, privacy=GRANTED)


@pytest.mark.parametrize("points", [[-1], [64], [0.5], ["a"]])
def test_refuses_points_that_are_not_on_the_grid(points):
    with pytest.raises(ParameterError, match="points"):
        opened().counts(points)
    with pytest.raises(ParameterError, match="points"):
        opened().shares(points)


def test_takes_an_adjacency_by_name_and_no_privacy_that_is_none():
    trust = ogive.Central({"x": VALUES})
    curve = ogive.PointwiseCurve.open(STATISTIC, trust=trust, privacy=GRANTED, adjacency="add_or_remove")
    assert curve.adjacency is ogive.Adjacency.ADD_OR_REMOVE
    with pytest.raises(ParameterError, match="privacy must be"):
        ogive.PointwiseCurve.open(STATISTIC, trust=trust, privacy=None)


def test_of_many_that_open_one_state_at_once_one_wins(tmp_path):
    def attempt(_):
        try:
            return opened(state=tmp_path / "state")
        except ParameterError:
            return None

    with ThreadPoolExecutor(8) as pool:
        won = [curve for curve in pool.map(attempt, range(8)) if curve is not None]
    assert len(won) == 1
    resumed = ogive.PointwiseCurve.resume(tmp_path / "state", trust=ogive.Central({"x": VALUES}))
    assert resumed.counts([5]) == won[0].counts([5])
