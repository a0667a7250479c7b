"""Boxplots: boxes against a slow oracle, prices of groups, and what is refused before anything is touched."""

import dataclasses

import numpy as np
import pytest
from helpers.declared import public_of
from helpers.scope import is_everything
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.patches import PathPatch

import ogive
from ogive.errors import BudgetError, DataError, ParameterError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP
from ogive.statistics.base import describe
from ogive.statistics.boxplot.estimate import SHOWN_OUTLIERS, box_of, inverse
from ogive.statistics.boxplot.statistic import selection_grants
from ogive.statistics.curve import approximating
from ogive.statistics.curve.estimate import Curve

RNG = np.random.default_rng(5)
N = 6_000
GROUP = RNG.choice(["a", "b", "c"], N, p=[0.5, 0.3, 0.2])
TABLE = {"x": RNG.normal(size=N) + (GROUP == "b"), "g": GROUP, "k": (GROUP == "a").astype(int)}
BY = {"by": "g", "groups": ("a", "b", "c")}
APPROX = ApproxDP(1, "1e-6")
GRANTS = (PureDP(1), ZeroConcentratedDP("0.1"), APPROX)
SOURCE = KeyedSource(bytes(32))

INTERVALS = "95 % CI of Q1, median and Q3, from left to right"


@pytest.fixture(autouse=True)
def few_programs(monkeypatch):
    """Bands of approximate curves solve few programs: how wide they are is looked at in `test_bands_common`."""
    monkeypatch.setattr(approximating, "PROGRAMS", 4)
    if not is_everything():
        monkeypatch.setattr("ogive.statistics.curve.bands.SIMULATED_VALUES", 300_000)


def released(statistic, privacy=APPROX, trust=ogive.Central, table=None, **changes):
    privacy = None if trust is ogive.Clear else privacy
    records = trust(TABLE if table is None else table)
    public = public_of(statistic, changes.get("adjacency", "replace"))
    return ogive.release(
        statistic, trust=records, privacy=privacy, public=public, source=KeyedSource(bytes(32)), **changes
    )


def curve_of(counts, grid=None, total=True):
    counts = np.cumsum(np.asarray(counts, dtype=float))
    grid = ogive.Grid.linear(0, len(counts), bins=len(counts)) if grid is None else grid
    known = int(counts[-1]) if total else None
    return Curve(grid, counts, counts, None, Adjacency.REPLACE, known, "none", "x")


def slow_box(curve):
    """The box of all evenly spread values, made one by one, as matplotlib would draw them."""
    n = round(curve.records)
    shares, ends = curve.probabilities, np.concatenate(([curve.grid.low], curve.thresholds))

    def reached(share):
        for number, level in enumerate(shares):
            if level >= share:
                before = shares[number - 1] if number else 0.0
                return ends[number] + (share - before) / (level - before) * (ends[number + 1] - ends[number])
        raise AssertionError("the last level is 1")

    q1, median, q3 = (reached(share) for share in (0.25, 0.5, 0.75))
    values = np.array([reached((i + 0.5) / n) for i in range(n)])
    inside = values[(values >= q1 - 1.5 * (q3 - q1)) & (values <= q3 + 1.5 * (q3 - q1))]
    low, high = min(inside.min(), q1), max(inside.max(), q3)
    below, above = values[values < q1 - 1.5 * (q3 - q1)], values[values > q3 + 1.5 * (q3 - q1)]
    return (low, q1, median, q3, high), below, above


@given(st.lists(st.integers(0, 9), min_size=2, max_size=14).filter(lambda counts: sum(counts) > 1))
@settings(max_examples=150)
def test_a_box_is_that_of_all_evenly_spread_values(counts):
    curve = curve_of(counts)
    box = box_of(curve, None)
    numbers, below, above = slow_box(curve)
    assert np.allclose(box.numbers, numbers, atol=1e-9)
    assert (box.below, box.above) == (len(below), len(above))
    assert np.allclose(box.outliers, np.concatenate([below, above]), atol=1e-9)
    assert box.records == sum(counts)


def test_a_box_by_hand():
    # 100 records evenly in bins 2 to 5 of 8, three in the first and one in the last
    box = box_of(curve_of([3, 0, 24, 24, 24, 24, 0, 1]), "a")
    assert box.group == "a"
    assert box.median == pytest.approx(3 + 23 / 24)
    assert box.q1 == pytest.approx(2 + 22 / 24)
    assert box.q3 == pytest.approx(5.0)
    reach = 1.5 * (box.q3 - box.q1)
    assert box.q1 - reach < 0  # the three in the first bin are within the whiskers
    assert (box.below, box.above) == (0, 0)
    assert not box.flat


def test_flat_parts_count_at_their_first_point_and_mass_lies_evenly_in_a_bin():
    curve = curve_of([2, 0, 0, 2])
    found = inverse(curve.grid, curve.probabilities, np.array([0.25, 0.5, 0.5 + 1e-9, 0.75, 1.0]))
    assert np.allclose(found, [0.5, 1.0, 3.0, 3.5, 4.0], atol=1e-6)


def test_values_exactly_as_far_as_whiskers_reach_belong_to_them():
    counts = [0, 1, 0, 0, 30, 8, 30, 0, 0, 1, 0]  # quartiles 4 and 6, so whiskers reach to 1 and 9
    box = box_of(curve_of(counts, ogive.Grid.integers(0, 10)), None)
    assert (box.q1, box.q3) == (4, 6)
    assert (box.low, box.high, box.below, box.above) == (1, 9, 0, 0)
    counts[1], counts[0], counts[9], counts[10] = 0, 1, 0, 1
    box = box_of(curve_of(counts, ogive.Grid.integers(0, 10)), None)
    assert (box.low, box.high, box.below, box.above) == (4, 6, 1, 1)
    assert box.outliers == (0, 10)


def test_many_outliers_are_counted_and_some_are_listed():
    box = box_of(curve_of([400, *[0] * 8, 100_000, *[0] * 8, 900]), None)
    assert (box.below, box.above) == (400, 900)
    assert len(box.outliers) == 2 * SHOWN_OUTLIERS
    assert box.outliers == tuple(sorted(box.outliers))
    assert box.outliers[0] < 1 / 400
    assert box.outliers[-1] > 19 - 1 / 450
    # as many records as nobody can list
    huge = box_of(curve_of([1, 2**50, 2**50, 1]), None)
    assert huge.median == pytest.approx(2)


def test_a_picture_has_dots_only_on_sides_where_noise_does_not_account_for_them():
    values = np.concatenate([np.random.default_rng(2).uniform(40, 60, 3000), np.full(400, 95.0)])
    ask = ogive.Boxplot("x", (0, 100), bins=64, method="resample")
    exact = released(ask, trust=ogive.Clear, table={"x": values})
    assert exact.dots(0) == exact.boxes[0].outliers != ()
    clear, noisy = (released(ask, PureDP(each), table={"x": values}) for each in (5, "0.01"))
    assert any(number > clear.boxes[0].q3 for number in clear.dots(0))
    assert noisy.dots(0) == ()
    # the control: as many seem to lie beyond, and a picture without the rule would show them
    box = dataclasses.replace(noisy.boxes[0], below=0, above=60, outliers=(99.0,))
    assert dataclasses.replace(noisy, boxes=(box,)).dots(0) == ()
    box = dataclasses.replace(box, above=10**6)
    assert dataclasses.replace(noisy, boxes=(box,)).dots(0) == (99.0,)


def test_all_records_in_one_bin_give_a_flat_box_that_says_so():
    at_seven = {"x": np.full(500, 7.0)}
    for method in ("resample", "five_numbers"):
        statistic = ogive.Boxplot("x", (0, 10), bins=100, method=method, curve="tree_ls")
        for trust in (ogive.Clear, ogive.Central):
            boxes = released(statistic, PureDP(5), trust, at_seven)
            assert boxes.boxes[0].flat, (method, trust)
            assert boxes.boxes[0].q1 == pytest.approx(7, abs=0.11)
            assert "is flat" in str(boxes)
    assert "is flat" not in str(released(ogive.Boxplot("x", (-5, 5))))


def test_a_curve_that_noise_left_nothing_of_says_nothing():
    empty = dataclasses.replace(curve_of([0, 0, 0, 0], total=False))
    box = box_of(empty, "a")
    assert not box.defined
    boxes = ogive.Boxplots("x", "g", empty.grid, "resample", (box,), (empty,), Adjacency.ADD_OR_REMOVE)
    assert "the box of a is empty" in str(boxes)


@pytest.mark.each_value(groups=str)
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", GRANTS, ids=lambda grant: type(grant).__name__)
@pytest.mark.parametrize("groups", [{}, BY, {**BY, "public_groups": True}], ids=["one", "by", "public"])
@pytest.mark.parametrize("method", ["resample", "five_numbers", "joint"])
def test_every_box_is_near_the_true_one_and_stays_within_its_price(method, groups, privacy, adjacency):
    statistic = ogive.Boxplot("x", (-6, 6), method=method, expected_records=N, **groups)
    truth = released(ogive.Boxplot("x", (-6, 6), **groups), trust=ogive.Clear, adjacency=adjacency)
    boxes = released(statistic, privacy, adjacency=adjacency)
    assert [box.group for box in boxes.boxes] == list(groups.get("groups", [None]))
    errors = boxes.errors(truth)
    assert max(errors[name] for name in ("q1", "median", "q3")) < 0.03
    price = boxes.provenance.price
    from ogive.accounting import covers

    assert covers(privacy, price)
    # and nearly all of what was granted is used, so that no noise is wasted
    if isinstance(price, PureDP):
        assert price.epsilon > 0.99 * privacy.epsilon
    elif isinstance(privacy, ZeroConcentratedDP):
        rho = price.mu_squared / 2 if isinstance(price, GaussianDP) else price.rho
        assert rho > 0.98 * privacy.rho
    known = adjacency is Adjacency.REPLACE and (not groups or "public_groups" in groups)
    if method == "five_numbers":
        assert (boxes.boxes[0].records is not None) == known
    else:
        assert abs(sum(box.records for box in boxes.boxes) - N) < (1 if known else 400)
    assert type(boxes).from_json(boxes.to_json()) == boxes


def test_boxes_of_exact_answers_are_those_of_the_records():
    # whatever curve is asked for: without noise nothing is gained by an approximate one
    truth = released(ogive.Boxplot("x", (-6, 6), curve="projection", **BY), trust=ogive.Clear)
    assert all(np.allclose(curve.cumulative, np.round(curve.cumulative), atol=1e-6) for curve in truth.curves)
    step = 12 / 1024
    for box in truth.boxes:
        values = TABLE["x"][box.group == GROUP]
        assert np.allclose(box.numbers[1:4], np.quantile(values, [0.25, 0.5, 0.75]), atol=2 * step)
        assert box.records == len(values)
    five = released(ogive.Boxplot("x", (-6, 6), method="five_numbers", **BY), trust=ogive.Clear)
    for box in five.boxes:
        values = TABLE["x"][box.group == GROUP]
        assert np.allclose(box.numbers, np.quantile(values, [0, 0.25, 0.5, 0.75, 1]), atol=2 * step)
    assert truth["b"].median > truth["a"].median + 0.5


def test_groups_of_an_array_pay_once_and_their_sizes_are_public():
    data = {name: TABLE["x"][name == GROUP] for name in ("a", "b", "c")}
    asked = {"bounds": (-6, 6), "privacy": APPROX, "curve": "tree_ls", "source": SOURCE}
    boxes = ogive.boxplot(data, public_groups=True, **asked)
    assert [box.records for box in boxes.boxes] == [len(values) for values in data.values()]
    assert boxes["b"].median == pytest.approx(np.median(data["b"]), abs=0.2)
    # replacing a record of a known group costs the same as if there were no groups
    alone = ogive.boxplot(data["a"], **asked)
    assert boxes.provenance.price == alone.provenance.price
    assert boxes.curves[0].strategy == alone.curves[0].strategy
    with pytest.raises(ParameterError, match="no box of 'd'; there are 'a', 'b', 'c'"):
        boxes["d"]
    assert boxes.provenance.public == ("group",)
    hidden = ogive.boxplot(data, **asked)
    assert hidden.provenance.public == ()
    assert [box.records for box in hidden.boxes] != [len(values) for values in data.values()]


def test_membership_that_is_hidden_costs_more_noise():
    hidden = released(ogive.Boxplot("x", (-6, 6), curve="tree_ls", **BY), PureDP(1))
    public = released(ogive.Boxplot("x", (-6, 6), curve="tree_ls", public_groups=True, **BY), PureDP(1))
    assert hidden.provenance.price == public.provenance.price == PureDP(1)
    # a record that leaves one group and joins another moves two counts, as one that moves in a group does
    assert 1 < hidden.curves[0].rmse() / public.curves[0].rmse() < 3
    gaussian = [
        released(ogive.Boxplot("x", (-6, 6), curve="projection", public_groups=known, **BY)).curves[0].rmse()
        for known in (False, True)
    ]
    assert gaussian[0] > 1.2 * gaussian[1]


def test_groups_may_be_numbers_or_truth_values_and_are_the_text_that_writes_them():
    for groups, column in (((0, 1), TABLE["k"]), ((False, True), TABLE["k"] == 1), ((0, 1), TABLE["k"].astype(str))):
        found = released(
            ogive.Boxplot("x", (-6, 6), by="k", groups=groups, curve="tree_ls"),
            trust=ogive.Clear,
            table={"x": TABLE["x"], "k": column},
        )
        assert found[groups[1]].records == np.sum(GROUP == "a")


def test_all_curve_methods_serve_groups():
    for curve in ("auto", "histogram", "adaptive", "hat_ls"):
        statistic = ogive.Boxplot("x", (-6, 6), curve=curve, bins=256, **BY)
        boxes = released(statistic)
        assert abs(boxes["b"].median - 1) < 0.3, curve


def test_a_party_that_only_adds_up_can_read_boxes_off_curves_and_refuses_five_numbers():
    half = [{name: values[part] for name, values in TABLE.items()} for part in (slice(0, 2_000), slice(2_000, N))]
    boxes = ogive.release(ogive.Boxplot("x", (-6, 6), **BY), trust=ogive.SecAgg(half), privacy=APPROX, source=SOURCE)
    assert abs(boxes["b"].median - 1) < 0.3
    for groups in ({}, BY):
        five = ogive.Boxplot("x", (-6, 6), method="five_numbers", **groups)
        with pytest.raises(UnsupportedError, match="needs all records in one place"):
            ogive.release(five, trust=ogive.SecAgg(half), privacy=APPROX, source=SOURCE)


def test_shares_of_the_budget_move_noise_between_the_five_numbers():
    shares = ("1/20", "6/20", "6/20", "6/20", "1/20")
    grants, concentrated = selection_grants(PureDP(2), [ogive.privacy.exact(share, "share") for share in shares])
    assert [grant.epsilon for grant in grants] == [2 * ogive.privacy.exact(share, "share") for share in shares]
    assert not concentrated
    boxes = released(ogive.Boxplot("x", (-6, 6), method="five_numbers", shares=shares), PureDP(2))
    assert boxes.provenance.price == PureDP(2)


def test_five_numbers_take_the_better_of_two_ways_to_add_up():
    fifth = [ogive.privacy.exact("1/5", "share")] * 5
    small, in_zcdp = selection_grants(ApproxDP(1, "1e-6"), fifth)
    assert small[0] == PureDP("1/5")
    assert not in_zcdp
    tenth = [ogive.privacy.exact("1/10", "share")] * 10
    many, in_zcdp = selection_grants(ApproxDP("0.1", "0.01"), tenth)
    assert in_zcdp
    assert many[0].epsilon > ogive.privacy.exact("0.1", "epsilon") / 10
    rho = ZeroConcentratedDP("0.1")
    grants, in_zcdp = selection_grants(rho, fifth)
    assert in_zcdp
    assert rho.rho * 999 / 1000 < sum(grant.epsilon**2 / 2 for grant in grants) <= rho.rho


def test_dates_give_boxes_of_days():
    days = {"d": np.datetime64("2024-01-01") + RNG.integers(0, 366, 5_000)}
    for method in ("resample", "five_numbers", "joint"):
        boxes = released(ogive.Boxplot("d", ("2024-01-01", "2024-12-31"), grid="integers", method=method), table=days)
        assert "2024-0" in str(boxes)
        assert abs(boxes.boxes[0].median - (19723 + 182)) < 12
        assert type(boxes).from_json(boxes.to_json()) == boxes
        assert boxes.plot().get_ylabel() == "d"


def test_pictures_show_every_box_beside_the_true_one():
    boxes = released(ogive.Boxplot("x", (-6, 6), **BY))
    truth = released(ogive.Boxplot("x", (-6, 6), **BY), trust=ogive.Clear)
    axes = boxes.plot(truth=truth)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    assert len(axes.patches) == 6
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"exact", "private", INTERVALS}
    assert len(boxes.plot(kind="violin").collections) == 3
    with pytest.raises(ParameterError, match="kind must be box or violin, got 'pie'"):
        boxes.plot(kind="pie")
    five = released(ogive.Boxplot("x", (-6, 6), method="five_numbers", **BY))
    with pytest.raises(ParameterError, match="violins need a whole curve"):
        five.plot(kind="violin")
    with pytest.raises(ParameterError, match="different grids or groups"):
        boxes.plot(truth=released(ogive.Boxplot("x", (-5, 5), **BY), trust=ogive.Clear))
    assert "<table " in boxes._repr_html_()
    # whiskers' ends of five numbers are those of the records, so they do not compare
    assert set(five.errors(truth)) == {"q1", "median", "q3"}


def test_a_session_pays_once_and_answers_again_for_nothing(tmp_path):
    with ogive.Session(TABLE, limit=PureDP(1), ledger=f"sqlite:///{tmp_path}/b.db", name="t") as session:
        first = session.boxplot("x", by="g", groups=["a", "b", "c"], bounds=(-6, 6), privacy=PureDP("0.7"))
        again = session.boxplot("x", by="g", groups=("a", "b", "c"), bounds=(-6.0, 6), privacy=PureDP("0.7"))
        assert first == again
        assert session.remaining == PureDP("0.3")
        with pytest.raises(DataError, match="not declared"):
            session.boxplot("x", by="g", groups=["a", "b"], bounds=(-6, 6), privacy=PureDP("0.2"))
        assert session.remaining == PureDP("0.3")
        session.boxplot("x", method="five_numbers", bounds=(-6, 6), privacy=PureDP("0.3"))
        with pytest.raises(BudgetError):
            session.boxplot("x", bounds=(-6, 6), privacy=PureDP("0.1"))


def test_one_question_has_one_description():
    spelled = ogive.Boxplot("x", (-6.0, 6), groups=["a", "b"], by="g", beyond=0, shares=(0.2,) * 5)
    assert describe(spelled) == describe(ogive.Boxplot("x", (-6, 6), groups=("a", "b"), by="g", curve="auto"))
    assert describe(spelled) == describe(dataclasses.replace(spelled, shares=(0.1, 0.2, 0.2, 0.2, 0.3)))
    five = dataclasses.replace(spelled, method="five_numbers")
    assert describe(five) == describe(dataclasses.replace(five, curve="tree_ls"))
    assert describe(five) != describe(dataclasses.replace(five, shares=(0.1, 0.2, 0.2, 0.2, 0.3)))
    assert describe(five) != describe(dataclasses.replace(five, public_groups=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bounds": (5, 5)}, "the lower bound must be below the upper bound"),
        ({"method": "smith"}, "method must be one of resample, five_numbers, joint, got 'smith'"),
        ({"curve": "smith"}, "method must be one of auto, "),
        ({"public_groups": True}, "public_groups needs by, the column that says which group"),
        ({"by": "g"}, "say which groups column 'g' has"),
        ({"by": "g", "groups": "abc"}, "say which groups column 'g' has"),
        ({"by": "g", "groups": ()}, "there must be 1 to 1000 groups, got 0"),
        ({"by": "g", "groups": ("a", "a")}, "each group must be named once, but 'a' is named twice"),
        ({"by": "g", "groups": (1, True)}, "named once, but True is named twice"),
        ({"by": "g", "groups": (None,)}, "groups must be the values of column 'g'"),
        ({"by": 3, "groups": ("a",)}, "by must be a column's name"),
        ({"groups": ("a", "b")}, "groups needs by"),
        ({"shares": (0.2,) * 4}, "shares must be five numbers above 0 that add up to 1"),
        ({"shares": (0.1, 0.2, 0.2, 0.2, 0.2)}, "add up to 1, got 0.1, 0.2, 0.2, 0.2, 0.2"),
        ({"shares": (0, 0.25, 0.25, 0.25, 0.25)}, "above 0"),
        ({"shares": 5}, "shares must be five numbers"),
        ({"beyond": -1}, "beyond must be a whole number from 0 to "),
        ({"public_groups": "yes"}, "public_groups must be True or False"),
        ({"missing": "guess"}, "missing must be refuse, low, high, drop, or a public value"),
        ({"expected_records": 0}, "expected_records must be"),
    ],
)
def test_refuses_what_no_release_could_use(arguments, message):
    with pytest.raises(ParameterError, match=message) as refused:
        ogive.Boxplot("x", **{"bounds": (-6, 6), **arguments})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("by", "groups", "column", "message"),
    [
        ("g", ("a", "b"), GROUP, "holds groups that were not declared"),
        ("g", (1, 2), GROUP, "holds groups that were not declared"),
        ("g", ("a", "b"), TABLE["k"], "holds numbers, but its groups are texts"),
        ("g", ("a", "b", "c"), np.array([None, *GROUP[1:]], dtype=object), "has missing values; every record needs a"),
        ("h", ("a",), GROUP, "no column 'h'"),
    ],
)
def test_refuses_records_of_other_groups_in_one_line_without_quoting_them(by, groups, column, message):
    statistic = ogive.Boxplot("x", (-6, 6), by=by, groups=groups)
    with pytest.raises(DataError, match=message) as refused:
        released(statistic, table={"x": TABLE["x"], "g": column})
    assert "\n" not in str(refused.value)


def test_a_group_without_records_has_a_box_that_says_little():
    for method in ("resample", "five_numbers"):
        statistic = ogive.Boxplot("x", (-6, 6), method=method, by="g", groups=("a", "b", "c", "nobody"))
        boxes = released(statistic, adjacency=Adjacency.ADD_OR_REMOVE)
        assert len(boxes.boxes) == 4
        assert abs(boxes["b"].median - 1) < 0.4


def test_dropping_missing_values_needs_a_private_number_of_records():
    table = {"x": np.array([1.0, np.nan, *np.linspace(0, 5, 200)]), "g": ["a"] * 101 + ["b"] * 101}
    for groups in ({}, {"by": "g", "groups": ("a", "b")}):
        for method in ("resample", "five_numbers"):
            statistic = ogive.Boxplot("x", (0, 6), missing="drop", method=method, **groups)
            with pytest.raises(ParameterError, match="missing='drop' would publish"):
                released(statistic, table=table)
            released(statistic, table=table, adjacency=Adjacency.ADD_OR_REMOVE)


def test_boxes_are_counted_and_gone_through_in_their_order():
    boxes = released(ogive.Boxplot("x", (-4, 4), **BY))
    assert len(boxes) == 3
    assert [box.group for box in boxes] == ["a", "b", "c"]
    assert list(boxes) == list(boxes.boxes)


def test_boxes_compare_with_boxes_only_and_are_drawn_into_axes():
    boxes = released(ogive.Boxplot("x", (-4, 4), **BY))
    for other in (boxes.curves[0], 3, None):
        with pytest.raises(ParameterError, match="boxes compare with other boxes, such as exact ones, got"):
            boxes.errors(other)
    with pytest.raises(ParameterError, match="boxes compare with other boxes"):
        boxes.plot(truth=boxes.curves[0])
    with pytest.raises(ParameterError, match="ax must be matplotlib axes"):
        boxes.plot(3)


@pytest.mark.parametrize("method", ["resample", "five_numbers"])
def test_boxes_of_public_groups_say_that_the_group_is_not_hidden(method):
    plain = ogive.Boxplot("x", (-6, 6), method=method, curve="tree_ls", **BY)
    public = dataclasses.replace(plain, public_groups=True)
    known = released(public, PureDP(1))
    assert known.public_groups
    assert known.to_dict()["public_groups"] is True
    words = "the size of each group, is public; only values are hidden"
    assert words in str(known)
    assert "groups are public" in str(known).splitlines()[0]
    assert "groups are public" in known.caption
    assert known.provenance.assumption.endswith(f"{words}.")
    assert all(curve.provenance == known.provenance for curve in known.curves)
    assert ogive.Boxplots.from_json(known.to_json()) == known
    assert known.with_provenance(known.provenance) == known
    # where records come and go, noise hides their groups, too; and of exact boxes nothing is claimed
    hidden = (
        released(plain, PureDP(1)),
        released(public, PureDP(1), adjacency=Adjacency.ADD_OR_REMOVE),
    )
    for boxes in hidden:
        assert not boxes.public_groups
        assert "groups are public" not in str(boxes) + boxes.caption
        assert words.capitalize() not in boxes.provenance.assumption
    assert words not in str(released(public, trust=ogive.Clear))


def test_sizes_of_groups_are_shown_as_the_estimates_they_are():
    statistic = ogive.Boxplot("x", (-6, 6), curve="tree_ls", **BY)
    hidden, public = (
        str(released(dataclasses.replace(statistic, public_groups=known), PureDP(1))) for known in (False, True)
    )
    assert hidden.count("  about ") == 3
    assert "about" not in public
    assert "about" not in str(released(ogive.Boxplot("x", (-6, 6), curve="tree_ls"), PureDP(1)))


def test_a_box_of_nobody_is_told_from_one_that_noise_took():
    asked = {"bounds": (-6, 6), "privacy": PureDP(1), "curve": "tree_ls", "public_groups": True, "source": SOURCE}
    known = ogive.boxplot({"a": TABLE["x"], "b": []}, **asked)
    assert "the box of b is empty: there are no records" in str(known)
    empty = released(ogive.Boxplot("x", (-6, 6), by="g", groups=("a", "b", "c", "d")), trust=ogive.Clear)
    assert "the box of d is empty: there are no records" in str(empty)


def test_a_box_of_noise_says_so():
    loud = released(ogive.Boxplot("x", (-6, 6), curve="tree_ls"), PureDP("0.0001"))
    assert "the box is imprecise: noise changes its curve by" in str(loud)
    for fine in (released(ogive.Boxplot("x", (-6, 6))), released(ogive.Boxplot("x", (-6, 6)), trust=ogive.Clear)):
        assert "is imprecise" not in str(fine)


def test_ends_between_which_nobody_would_be_are_refused_before_anything_is_paid():
    half = ogive.Boxplot("x", (-6, 6), method="five_numbers", beyond=N // 2)
    with pytest.raises(ParameterError, match="beyond must be less than half of the 6000 records, got 3000"):
        released(half, PureDP(1))
    ends = released(dataclasses.replace(half, beyond=N // 2 - 1), PureDP(5)).boxes[0]
    assert ends.high - ends.low < 3
    assert "as many records as were allowed" in str(released(dataclasses.replace(half, beyond=5), PureDP(1)))


def test_a_picture_calls_exact_only_what_is():
    boxes, exact = (released(ogive.Boxplot("x", (-6, 6)), trust=trust) for trust in (ogive.Central, ogive.Clear))
    names = [[text.get_text() for text in boxes.plot(truth=other).get_legend().texts] for other in (exact, boxes)]
    assert names == [["exact", "private", INTERVALS], ["compared", "private", INTERVALS]]


def test_boxes_of_curves_that_approximate_say_so():
    words = "the boxes come from approximate curves"
    assert words in str(released(ogive.Boxplot("x", (-6, 6), curve="projection", **BY)))
    assert words not in str(released(ogive.Boxplot("x", (-6, 6), curve="tree_ls", **BY)))
    assert words not in str(released(ogive.Boxplot("x", (-6, 6), method="five_numbers")))


def quartiles_off(adjacency, trials=30, **asked):
    """Mean distance of the quartiles' ranks from the wanted ones; a bin has all ranks of its records."""
    values, wanted, off = np.sort(np.random.default_rng(8).normal(0, 1, 1_000)), np.array([250, 500, 750]), []
    for seed in range(trials):
        found = ogive.release(
            ogive.Boxplot("x", (-6, 6), **asked),
            trust=ogive.Central({"x": values}), privacy=PureDP(1), adjacency=adjacency,
            source=KeyedSource.from_seed(seed),
        )  # fmt: skip
        (box,) = found.boxes
        middles = np.array([box.q1, box.median, box.q3])
        below, upto = (np.searchsorted(values, middles + side * 6 / 1024) for side in (-1, 1))
        off.append(np.maximum(0, np.maximum(below - wanted, wanted - upto)).mean())
    return np.mean(off)


@pytest.mark.parametrize("adjacency", ogive.Adjacency)
def test_quartiles_that_are_found_together_are_nearer_than_single_ones(adjacency):
    """At the same price; in long simulations 0.39 and 0.25 times as far off."""
    together, single = (
        quartiles_off(adjacency, method="five_numbers", quartiles=quartiles) for quartiles in ("together", "single")
    )
    assert together < 0.6 * single


@pytest.mark.parametrize("adjacency", ogive.Adjacency)
def test_quartiles_that_are_selected_beside_a_curve_are_nearer_than_those_of_a_whole_curve(adjacency):
    """At the same price, for wider intervals; their file is not that of boxes of a whole curve."""
    joint, whole = (quartiles_off(adjacency, method=method) for method in ("joint", "resample"))
    assert joint < 0.75 * whole
    boxes = released(ogive.Boxplot("x", (-6, 6), method="joint", **BY), adjacency=adjacency)
    assert all(
        low <= at <= high for box in boxes for (low, high), at in zip(box.intervals, box.numbers[1:4], strict=True)
    )
    assert "quartiles that were selected" in str(boxes.view().details)
    data = boxes.to_dict()
    with pytest.raises(DataError, match="contradicts its curve"):
        type(boxes).from_dict(data | {"method": "resample"})
    with pytest.raises(UnsupportedError):
        released(ogive.Boxplot("x", (-6, 6), method="joint"), trust=ogive.Simulation(ogive.SecAgg, parties=3).over)


def test_only_five_numbers_whose_quartiles_are_found_together_are_a_new_question():
    five = ogive.Boxplot("x", (-6, 6), method="five_numbers")
    assert describe(five)["quartiles"] == "together"
    for same in ({"quartiles": "single"}, {"method": "resample"}, {"bins": (1 << 16) + 1}):
        assert "quartiles" not in describe(dataclasses.replace(five, **same))
    with pytest.raises(ParameterError, match="quartiles must be"):
        ogive.Boxplot("x", (-6, 6), quartiles="none")


@pytest.mark.parametrize("privacy", [PureDP(1), ZeroConcentratedDP("0.1"), APPROX])
def test_quartiles_that_are_found_together_keep_the_guarantee(privacy):
    boxes = released(ogive.Boxplot("x", (-6, 6), method="five_numbers", **BY), privacy)
    assert ogive.accounting.covers(privacy, boxes.provenance.price)


def test_no_groups_at_all_are_refused():
    with pytest.raises(ParameterError, match="must be 1 to 1000 groups, got 0"):
        ogive.boxplot({}, bounds=(0, 1), privacy=PureDP(1))


def test_a_box_of_a_part_of_one_record_is_not_shown():
    """As of means, from a number of records of less than 1 on; its numbers are in files as they were."""
    boxes = released(ogive.Boxplot("x", (-6, 6), curve="tree_ls", **BY), PureDP(1))
    first, *others = boxes.boxes
    part, one = (
        dataclasses.replace(boxes, boxes=(dataclasses.replace(first, records=number), *others)) for number in (0.6, 1.0)
    )
    for found, shown in ((part, False), (one, True)):
        assert ("the box of a is empty: noise leaves no records" in str(found)) is not shown
        assert (str(found).splitlines()[2].split()[1:] == ["-"] * 6 + ["0"]) is not shown
        assert (found.to_frame("pandas")[["median", "median_low"]].iloc[0].notna().all()) == shown
        assert found.to_dict()["boxes"][0]["values"]["median"] is not None
        assert len(found.plot().findobj(PathPatch)) == len(others) + shown
