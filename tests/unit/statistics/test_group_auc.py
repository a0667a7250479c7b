"""Areas within groups and between them: values as scikit-learn's, intervals that hold as often as they say."""

import copy
import itertools
import json
import math
import re

import numpy as np
import pytest
from helpers.coverage import fewest
from helpers.scope import is_everything, size
from matplotlib.figure import Figure
from sklearn.metrics import roc_auc_score

import ogive
from ogive.errors import DataError, OgiveError, ParameterError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PureDP
from ogive.releasing.release import release
from ogive.statistics.base import describe
from ogive.statistics.group_auc import estimate as module
from ogive.statistics.group_auc.estimate import Classes, GroupAucEstimate
from ogive.statistics.roc import area as interval
from ogive.trust import Central, Clear

GROUPS = ("A", "B", "C")
EVERY_SCORE = ogive.Grid.explicit([(k + 0.5) / 50 for k in range(51)])
"""A bin for each score that `drawn` rounds to."""


def drawn(seed, size=3000, *, rounded=True):
    """Records whose score is shifted in group B and weak in group C."""
    rng = np.random.default_rng(seed)
    group = rng.choice(GROUPS, size, p=[0.5, 0.3, 0.2])
    positive = rng.random(size) < 0.3 + 0.1 * (group == "B")
    scores = 1 / (1 + np.exp(-rng.normal((1.2 - 0.6 * (group == "C")) * positive + 0.5 * (group == "B"))))
    return {"s": np.round(50 * scores) / 50 if rounded else scores, "y": positive.astype(int), "g": group}


def asked(**options):
    return ogive.GroupAuc("s", "y", "g", **{"grid": EVERY_SCORE, "group_values": GROUPS} | options)


ONE = PureDP(1)


def released(records, privacy=ONE, seed=1, adjacency=Adjacency.REPLACE, **options):
    source = KeyedSource.from_seed(seed)
    return release(asked(**options), trust=Central(records), privacy=privacy, adjacency=adjacency, source=source)


def slow(records, positives, negatives):
    """The area by scikit-learn, on the records of these classes alone."""
    of = {1: np.isin(records["g"], positives), 0: np.isin(records["g"], negatives)}
    kept = np.where(records["y"] == 1, of[1], of[0])
    return roc_auc_score(records["y"][kept], records["s"][kept])


def test_areas_are_those_of_scikit_learn():
    records = drawn(1)
    found = release(asked(), trust=Clear(records))
    for (g, one), (h, other) in itertools.product(enumerate(GROUPS), repeat=2):
        expected = slow(records, [one], [other])
        assert found.auc[g, h] == pytest.approx(expected, abs=1e-12)
        assert found.between(one, other).value == found.table()[g][h].value == found.auc[g, h]
    for group in GROUPS:
        others = [each for each in GROUPS if each != group]
        assert found.bpsn(group).value == pytest.approx(slow(records, others, [group]), abs=1e-12)
        assert found.bnsp(group).value == pytest.approx(slow(records, [group], others), abs=1e-12)
    gap = found.difference("A", "C")
    assert gap.value == pytest.approx(slow(records, ["A"], ["A"]) - slow(records, ["C"], ["C"]))
    gap = found.cross_difference("A", "B")
    assert gap.value == pytest.approx(slow(records, ["A"], ["B"]) - slow(records, ["B"], ["A"]))
    assert gap.high < 0  # scores of B are shifted up
    assert found.sizes[1] == tuple(np.sum((records["g"] == "B") & (records["y"] == k)) for k in (0, 1))


def test_low_scores_may_speak_for_the_positive_class():
    records = drawn(2)
    high, low = (release(asked(positive_when=side), trust=Clear(records)).auc for side in ("high", "low"))
    assert high + low == pytest.approx(np.ones((3, 3)))


def test_the_rest_is_a_group_of_its_own_or_is_left_out():
    records = drawn(3)
    some = {"group_values": ("A",), "other": "count"}
    found = release(asked(**some), trust=Clear(records))
    assert found.names == ("A", "other")
    assert found.between("A", "other").value == pytest.approx(slow(records, ["A"], ["B", "C"]))
    assert found.bpsn("A").value == found.between("other", "A").value
    gone = dict(records, g=[None if group == "C" else group for group in records["g"]])
    found = release(asked(group_values=("A", "B"), missing_group="count"), trust=Clear(gone))
    assert found.names == ("A", "B", "missing")
    assert found.between("missing", "B").value == pytest.approx(slow(records, ["C"], ["B"]))
    with pytest.raises(OgiveError, match="not declared"):
        release(asked(group_values=("A", "B")), trust=Clear(records))
    dropped = release(
        asked(group_values=("A", "B"), other="drop"), trust=Clear(records), adjacency=Adjacency.ADD_OR_REMOVE
    )
    assert dropped.between("A", "B").value == pytest.approx(slow(records, ["A"], ["B"]))


def test_labels_of_a_third_class_are_left_out_by_a_condition():
    records = drawn(4)
    rng = np.random.default_rng(4)
    words = np.where(rng.random(len(records["y"])) < 0.1, "unsure", np.where(records["y"] == 1, "yes", "no"))
    classes = asked(positive="yes", negative="no")
    with pytest.raises(OgiveError):
        release(classes, trust=Clear(dict(records, y=words)))
    found = release(ogive.Subset(classes, "y in ['yes', 'no']"), trust=Clear(dict(records, y=words)))
    kept = words != "unsure"
    expected = slow({name: values[kept] for name, values in records.items()}, ["A"], ["B"])
    assert found.between("A", "B").value == pytest.approx(expected)


def test_noise_is_that_of_the_price_and_areas_are_near_the_truth(monkeypatch):
    if not is_everything():
        monkeypatch.setattr(interval, "_CANDIDATES", 41)
        monkeypatch.setattr(module, "MOST_SIMULATIONS", 499)
    records = drawn(5, 20_000)
    truth = release(asked(), trust=Clear(records))
    for adjacency, privacy, scale in (
        (Adjacency.REPLACE, PureDP(1), 2),
        (Adjacency.ADD_OR_REMOVE, PureDP(1), 1),
        (Adjacency.REPLACE, ApproxDP(1, "1e-6"), None),
    ):
        found = released(records, privacy, adjacency=adjacency)
        assert found.errors(truth)["auc"] < 0.06
        assert scale is None or found.measured.law.scale == scale
        assert 0 < found.noise_share() < 0.02
        assert "AUC within" in str(found)


@pytest.mark.distribution
def test_noise_errors_are_those_of_many_releases():
    """The standard deviation of 300 releases is off by 15 %, of 130 by 23 %, with probability below 0.001."""
    records = drawn(6, 4000)
    truth = release(asked(), trust=Clear(records)).auc[0, 1]
    many = [released(records, PureDP(1), seed=seed) for seed in range(size(300, part=130))]
    errors = np.array([each.classes_of((0,), (1,)).area - truth for each in many])
    predicted = np.mean([each.classes_of((0,), (1,)).noise_error() for each in many[:10]])
    assert predicted == pytest.approx(errors.std(), rel=0.15 * math.sqrt(300 / len(many)))
    assert abs(errors.mean()) < 4 * errors.std() / math.sqrt(len(errors))


def placements(records, positives, negatives):
    """Sampling variance of the area of DeLong, by comparing every positive record with every negative one."""
    group, label = records["g"], records["y"] == 1
    up, down = records["s"][label & np.isin(group, positives)], records["s"][~label & np.isin(group, negatives)]
    wins = (up[:, None] > down) + (up[:, None] == down) / 2
    return wins.mean(axis=1).var(ddof=1) / len(up) + wins.mean(axis=0).var(ddof=1) / len(down)


def noise_variance(records, positives, negatives, bins, variance):
    """Variance of the area by noise of a variance in each count, to first order, from the exact counts of the bins."""
    group, label = records["g"], records["y"] == 1
    up, down = (
        np.histogram(records["s"][side & np.isin(group, groups)], bins, (0, 1))[0]
        for side, groups in ((label, positives), (~label, negatives))
    )
    above, below = (np.cumsum(down) - down / 2) / down.sum(), 1 - (np.cumsum(up) - up / 2) / up.sum()
    area = above @ up / up.sum()
    by_up = len(positives) * np.sum((above - area) ** 2) / up.sum() ** 2
    return variance * (by_up + len(negatives) * np.sum((below - area) ** 2) / down.sum() ** 2)


def test_intervals_are_as_wide_as_noise_and_sampling_make_them(monkeypatch):
    """30 % less of the width must fail; quantiles of 999 simulations are right within some 10 %.

    Noise and sampling contribute about as much.
    """
    monkeypatch.setattr(interval, "_CANDIDATES", 101)
    monkeypatch.setattr(module, "MOST_SIMULATIONS", 999)
    records, bins = drawn(7, 6000, rounded=False), 1024
    found = released(records, PureDP(4), grid="linear", bounds=(0, 1), bins=bins, confidence_level=0.9)
    kinds = [  # the groups of positive and of negative records of each area
        (lambda **more: found.between("A", "A", **more), [("A", "A")]),
        (lambda **more: found.between("B", "C", **more), [("B", "C")]),
        (lambda **more: found.bpsn("B", **more), [("AC", "B")]),
        (lambda **more: found.difference("A", "C", **more), [("A", "A"), ("C", "C")]),
        (lambda **more: found.cross_difference("A", "B", **more), [("A", "B"), ("B", "A")]),
    ]
    for read, classes in kinds:
        noise = sampling = 0.0
        for positives, negatives in classes:
            of = list(positives), list(negatives)
            noise += noise_variance(records, *of, bins, found.measured.law.variance)
            sampling += placements(records, *of)
        for target, variance in (("sample", noise), ("population", noise + sampling)):
            area = read(target=target)
            assert (area.high - area.low) / 2 == pytest.approx(1.645 * math.sqrt(variance), rel=0.2)


@pytest.mark.everything
@pytest.mark.distribution
def test_intervals_hold_as_often_as_they_say():
    """Level 90 %, 150 intervals of each kind: of 150 fewer than 122 have probability 0.001.

    A third of the width must fail.
    """
    options = {"grid": "linear", "bounds": (0, 1), "bins": 64, "confidence_level": 0.9}
    whole = release(asked(grid="linear", bounds=(0, 1), bins=4096), trust=Clear(drawn(0, 400_000, rounded=False)))
    reads = {
        "within": lambda each, **more: each.between("A", "A", **more),
        "between": lambda each, **more: each.between("B", "C", **more),
        "bpsn": lambda each, **more: each.bpsn("B", **more),
        "difference": lambda each, **more: each.difference("A", "C", **more),
        "cross": lambda each, **more: each.cross_difference("A", "B", **more),
    }
    # the same areas without their intervals
    exactly = {
        "within": lambda each: each.auc[0, 0],
        "between": lambda each: each.auc[1, 2],
        "bpsn": lambda each: each.classes_of((0, 2), (1,)).area,
        "difference": lambda each: each.auc[0, 0] - each.auc[2, 2],
        "cross": lambda each: each.auc[0, 1] - each.auc[1, 0],
    }
    truths = {name: read(whole).value for name, read in reads.items()}
    assert truths == pytest.approx({name: area(whole) for name, area in exactly.items()})
    held = dict.fromkeys(itertools.product(reads, ("population", "sample", "control")), 0)
    runs = 150
    wanted = fewest(runs, 0.9, chance=0.0009)
    for run in range(runs):
        records = drawn(1000 + run, 3000, rounded=False)
        found = released(records, PureDP(2), seed=run, **options)
        exact = release(asked(grid="linear", bounds=(0, 1), bins=4096), trust=Clear(records))
        for name, read in reads.items():
            area, true = read(found), truths[name]
            held[name, "population"] += area.low <= true <= area.high
            held[name, "control"] += abs(true - (area.low + area.high) / 2) <= (area.high - area.low) / 6
            area, true = read(found, target="sample"), exactly[name](exact)
            held[name, "sample"] += area.low <= true <= area.high
    for name in reads:
        assert min(held[name, "population"], held[name, "sample"]) >= wanted, held
        assert held[name, "control"] < wanted, held


def test_a_group_that_noise_may_have_made_has_no_area():
    records = drawn(7, 4000)
    few = np.flatnonzero((records["g"] == "C") & (records["y"] == 1))[5:]
    kept = np.setdiff1d(np.arange(4000), few)
    found = released({name: values[kept] for name, values in records.items()}, PureDP(1))
    assert math.isnan(found.between("C", "A").value)
    assert found.between("C", "A")[1:] == (0, 1)
    assert not math.isnan(found.between("A", "C").value)
    assert found.difference("A", "C").low <= -0.2
    assert math.isnan(found.cross_difference("C", "A").value)
    nothing = released(drawn(8, 30), PureDP("0.1"))
    assert not nothing.defined
    assert nothing.noise_share() == math.inf
    assert "no area is defined" in str(nothing)
    with pytest.raises(ParameterError, match="no areas to draw"):
        nothing.plot(Figure().add_subplot())


def test_intervals_count_that_records_of_one_person_may_be_alike():
    """Three times each record: intervals of persons are about as wide as those of the single records, not narrower."""
    records = drawn(14, 1500)
    thrice = {name: np.repeat(values, 3) for name, values in records.items()} | {"who": np.repeat(np.arange(1500), 3)}
    single = release(asked(), trust=Clear(records))
    persons = release(
        asked(), trust=Clear(thrice, person="who", max_rows_per_person=3), adjacency=Adjacency.ADD_OR_REMOVE
    )
    unaware = release(asked(), trust=Clear({name: thrice[name] for name in "syg"}))
    for read in (lambda each: each.between("A", "B"), lambda each: each.difference("A", "C")):
        one, many, narrow = (read(each).high - read(each).low for each in (single, persons, unaware))
        assert many >= 0.95 * one > 1.3 * narrow


def test_ties_widen_the_interval_by_what_bins_hide():
    records = drawn(9, 3000, rounded=False)
    exact = release(asked(grid="linear", bounds=(0, 1), bins=4), trust=Clear(records))
    for one, other in itertools.product(GROUPS, repeat=2):
        area = exact.between(one, other, target="sample")
        assert area.low <= slow(records, [one], [other]) <= area.high
        assert area.high - area.low > 0.1
    assert 0.1 < exact.tie_bound < 0.25


def test_a_grid_that_is_too_coarse_is_told():
    records = drawn(5)
    coarse, fine = released(records, grid=ogive.Grid.linear(0, 8, bins=8)), released(records)
    told = "warning: the grid of scores is too coarse: ties within bins move an AUC within a group by at most 0"
    assert coarse.tie_bound > 0.05 >= fine.tie_bound
    assert told in str(coarse)
    assert "too coarse" not in str(fine)


def test_smoothed_counts_stand_in_for_the_noisy_ones():
    counts = np.array([[3.0, -2.0, 5.0], [0.0, 0.0, 4.0]])
    found = Classes(counts, (1, 1), None, 1.0, "high").plausible
    assert np.all(np.diff(found, axis=1, prepend=0) >= 0)
    assert found[:, -1] == pytest.approx(counts.sum(axis=1))
    assert found[1] == pytest.approx([0, 0, 4])


def test_json_keeps_all_and_damage_is_refused():
    found = released(drawn(10), PureDP(1), other="count")
    again = GroupAucEstimate.from_json(found.to_json())
    assert again == found
    assert np.array_equal(again.auc, found.auc, equal_nan=True)
    data = json.loads(found.to_json())
    for change, words in (
        (lambda each: each["measured"]["values"].pop(), "must be"),
        (lambda each: each["measured"].update(noise={"law": "discrete_laplace", "scale": "1/9"}), "price"),
        (lambda each: each["measured"].update(form="reports"), "form"),
        (lambda each: each["group"].update(values=[]), "values"),
        (lambda each: each["score"].update(grid=None), "areas between groups"),
        (lambda each: each.update(score=3), "must have column, grid, missing, outside"),
        (lambda each: each["label"].update(positive=[0]), "both classes"),
        (lambda each: each.update(positive_when="up"), "positive_when"),
    ):
        damaged = copy.deepcopy(data)
        change(damaged)
        with pytest.raises(OgiveError, match=re.escape(words)) as problem:
            GroupAucEstimate.from_dict(damaged)
        assert isinstance(problem.value, DataError | ParameterError)


def test_pictures_frames_and_functions():
    records = drawn(11)
    found = released(records, PureDP(2))
    axes = found.plot(Figure().add_subplot(), color="red")
    assert len(axes.texts) >= 9
    assert [each.get_text() for each in axes.get_xticklabels()] == list(GROUPS)
    frame = found.to_frame("pandas")
    assert list(frame.columns) == ["positives", "negatives", "auc", "auc_low", "auc_high"]
    assert frame.auc.to_numpy().reshape(3, 3) == pytest.approx(found.auc)
    session = ogive.Session(records, limit=PureDP(3))
    kept = session.group_auc("s", "y", "g", grid=EVERY_SCORE, group_values=GROUPS, privacy=PureDP(1))
    assert kept.names == GROUPS
    plain = ogive.group_auc(
        records["s"], records["y"], records["g"], grid=EVERY_SCORE, group_values=GROUPS, privacy=PureDP(1)
    )
    assert plain.group.column == "group"
    parts = session.group_auc(
        "s", "y", "g", grid=EVERY_SCORE, group_values=GROUPS, privacy=PureDP(1), by="y", groups=(0, 1)
    )
    assert "within groups of g" in str(parts)


def test_equal_questions_have_one_description():
    one = describe(asked(grid="linear", bounds=(0, 1), bins=4, positive=1, negative=0))
    assert one == describe(asked(grid=ogive.Grid.linear(0, 1, bins=4)))
    assert one != describe(asked(grid=ogive.Grid.linear(0, 1, bins=4), other="count"))


def test_a_plan_says_the_noise_of_an_area():
    plan = ogive.plan(asked(), records=20_000, privacy=PureDP(1))
    row = plan.rows[0]
    assert row.errors["noise"] == pytest.approx(math.sqrt(float(released(drawn(12)).measured.law.variance)))
    bins, size = 51, 20_000 / 6
    expected = row.errors["noise"] * math.sqrt(2 * bins / 12) / size  # cells of two classes, weighted by shares below
    assert row.errors["noise_auc"] == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"group_values": None}, "group_values=('A', 'B', 'C')"),
        ({"group_values": ("A",)}, "alone cannot be compared"),
        ({"group_values": tuple(range(31))}, "at most 30 groups"),
        ({"grid": ogive.Grid.linear(0, 1, bins=20_000)}, "more than 65536; use fewer bins"),
        ({"positive": 0, "negative": 0}, "cannot be in both classes"),
        ({"positive_when": "up"}, "`positive_when` must be"),
        ({"other": "ignore"}, "`other` must be"),
        ({"confidence_level": 2}, "`confidence_level` must be"),
        ({"grid": "linear"}, "bounds=(0, 120)"),
    ],
)
def test_bad_questions_are_refused_in_one_line(options, words):
    with pytest.raises(ParameterError) as problem:
        asked(**options)
    assert words in problem.value.marked.replace("`bounds", "bounds").replace("`group_values=", "group_values=")


def test_bad_readings_are_refused_in_one_line():
    found = released(drawn(13))
    for call, words in (
        (lambda: found.between("A", "D"), "has no group 'D'; there are A, B, C"),
        (lambda: found.difference("A", "A"), "name two groups to compare"),
        (lambda: found.bpsn("A", target="all"), "must be"),
        (lambda: found.table(confidence_level=0), "must be above 0"),
        (lambda: found.errors(release(asked(other="count"), trust=Clear(drawn(13)))), "of the same bins"),
    ):
        with pytest.raises(ParameterError) as problem:
            call()
        assert words in problem.value.marked
    with pytest.raises(UnsupportedError, match="group_auc needs somebody who sees records"):
        release(asked(), trust=ogive.Local(drawn(13)), privacy=PureDP(1))
