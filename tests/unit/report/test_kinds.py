"""The chapters of the estimates that are not curves: their numbers are the estimate's, their words fit the case."""

import dataclasses
import re

import numpy as np
import pytest
from helpers.declared import public_of
from helpers.scope import is_everything

import ogive
from ogive.errors import ParameterError
from ogive.noise import KeyedSource
from ogive.pate import Ballots, ConfidentGNMax, LargestMargins, label
from ogive.report import chart_svg, render_report, summarize
from ogive.report.page import chapter_of
from ogive.statistics.bounds.statistic import Bounds
from ogive.statistics.calibration.statistic import HosmerLemeshow
from ogive.statistics.calibration.view import p_value_words
from ogive.statistics.labels.estimate import LabelsEstimate
from ogive.statistics.roc.statistic import Roc

RNG = np.random.default_rng(8)
N = 6_000
RISK = np.clip(RNG.beta(1, 4, N), 0.001, 0.999)
DATA = {
    "risk": RISK,
    "died": (RNG.random(N) < RISK).astype(int),
    "wrong": (RNG.random(N) < np.sqrt(RISK)).astype(int),
    "none": np.zeros(N, dtype=int),
    "pressure": 90 + 60 * RISK,
}
ROC = Roc("risk", "died", (0, 1), bins=64)
TEST = HosmerLemeshow("risk", "died", groups=5)
BOUNDS = Bounds("pressure")


def released(statistic, privacy="1", trust=ogive.Central, **changes):
    privacy = None if trust is ogive.Clear else ogive.PureDP(privacy)
    public = public_of(statistic, changes.get("adjacency", "replace"))
    source = KeyedSource(bytes(32))
    return ogive.release(statistic, trust=trust(DATA), privacy=privacy, public=public, source=source, **changes)


@pytest.fixture(scope="module")
def roc():
    return released(ROC)


@pytest.fixture(scope="module")
def calibration():
    return released(TEST, "2")


@pytest.fixture(scope="module")
def bounds():
    return released(BOUNDS)


def words_of(*estimates, **arguments):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", render_report(estimates, title="x", **arguments)))


def rows_of(source, caption):
    """Cells of the table of a caption: row name, then the others."""
    table = re.search(rf"<caption>{caption}</caption>(.*?)</table>", source, re.DOTALL)[1]
    rows = re.findall(r'<tr><th scope="row"[^>]*>(.*?)</th>(.*?)</tr>', table, re.DOTALL)
    return [[name, *re.findall(r"<td[^>]*>(.*?)</td>", cells)] for name, cells in rows]


VOTES = np.array([[18, 2, 0], [1, 17, 2], [7, 7, 6], [0, 1, 19]])


def test_a_chapter_of_opened_votes_says_how_far_labels_lead():
    found = label(VOTES, LargestMargins(1, keep=3), target_delta="0.01", source=KeyedSource(bytes(32)))
    text = words_of(found)
    assert "20 teachers answered 3 of 4 queries." in text
    assert f"leads the second class by at least {found.margins[found.taught].min():.1f} noisy votes" in text
    assert "they are easier than the others" in text
    # a difference of two counts with deviation 1 each is below -3.29 = -2.326 * sqrt(2) once in 100 times
    assert re.search(r"4 votes more than another, .*with a probability of 1 %\.", text)
    assert rows_of(render_report([found], title="x"), "Outcome of the queries") == [
        ["Answered by teachers", "3"],
        ["Left without a label", "1"],
    ]
    caption = "Number of labels of each class"
    assert rows_of(render_report([found], title="x"), caption) == [[str(n), "1"] for n in range(3)]


def test_a_chapter_of_labels_alone_says_what_was_not_opened():
    aggregator = ConfidentGNMax(10, sigma_1=1, sigma_2=1)
    found = label(VOTES, aggregator, target_delta="0.01", max_answers=2, source=KeyedSource(bytes(32)))
    text = words_of(found)
    assert "20 teachers answered 2 of 4 queries, of which 2 were asked before" in text
    assert "The votes were not published." in text
    assert "leads the second" not in text
    assert "Aggregator confident" in text
    assert "Sigma 1 1" in text
    assert "A record is the votes of one teacher" in text


def test_a_chapter_of_labels_says_what_became_of_every_query():
    ballots = Ballots(tuple("abcde"), 2)
    found = LabelsEstimate(
        aggregator={"name": "interactive", "sigma_2": "not a number"},
        ballots=ballots,
        labels=np.array([0, 1, 1, -1, -1]),
        taught=np.array([True, False, False, False, False]),
        asked=4,
        opened=None,
        bits=0,
        law=None,
        total=20,
        provenance=label(VOTES, ConfidentGNMax(10, 1, 1), target_delta="0.01").provenance,
    )
    assert rows_of(render_report([found], title="x"), "Outcome of the queries") == [
        ["Answered by teachers", "1"],
        ["Answered by the student itself", "2"],
        ["Refused", "1"],
        ["Not asked", "1"],
    ]
    assert "The student labelled 2 more by itself." in words_of(found)
    assert "noise reverses" not in words_of(found)


def test_a_chapter_of_labels_with_the_truth_counts_what_noise_turned():
    cast = np.repeat(np.eye(3, dtype=int).argmax(axis=1), [9, 6, 5])
    teachers = {f"q{n}": np.roll(cast, n) if n else np.zeros(20, dtype=int) for n in range(4)}
    ballots, aggregator = Ballots(tuple(teachers), 3), LargestMargins(6, keep=4)
    found = label(
        ogive.Central(teachers), aggregator, ballots=ballots, target_delta="0.01", source=KeyedSource(bytes(32))
    )
    exact = label(ogive.Clear(teachers), aggregator, ballots=ballots)
    wrong = int((found.labels != exact.labels).sum())
    assert 0 < wrong < 4
    page = render_report([found], title="x", truths=[exact])
    assert f"{25 * wrong}.0 % of the labels differ from those of the exact votes." in words_of(found, truths=[exact])
    columns = rows_of(page, "Number of labels of each class")
    assert [int(row[1]) for row in columns] == np.bincount(found.labels, minlength=3).tolist()
    assert [int(row[2]) for row in columns] == [4, 0, 0]
    assert "do not publish it" in page
    assert "The labels follow the plurality of the teachers, without noise." in words_of(exact)
    other = label(ogive.Clear(teachers), aggregator, ballots=Ballots(tuple(teachers)[:3], 3))
    for strange in (found, other, released(BOUNDS, trust=ogive.Clear)):
        with pytest.raises(ParameterError, match="labels of the exact votes on the same queries"):
            render_report([found], title="x", truths=[strange])


def test_a_roc_chapter_says_auc_interval_and_both_errors(roc):
    text = words_of(roc)
    low, high = roc.auc_interval()
    places = len(re.search(r"AUC is 0\.(\d+) \(95 % CI", text)[1])
    assert f"AUC is {roc.auc:.{places}f} (95 % CI {low:.{places}f} to {high:.{places}f})" in text
    sample = roc.auc_interval(target="sample")
    assert f"AUC {sample.low:.{places}f} to {sample.high:.{places}f} for these records, with 95 % confidence" in text
    assert "the positive one has the higher risk" in text
    assert f"about {round(roc.classes[1]):,} positive" in text
    assert "0.5 for chance" in text
    assert "epsilon = 1" in text
    assert chapter_of(roc).warning is None


def test_operating_points_are_points_of_the_curve(roc):
    rows = rows_of(render_report([roc], title="x"), "Operating points")
    assert len(rows) >= 5
    ratio = roc.precision_recall()
    for name, found, band, specificity, correct in rows:
        at = int(np.argmin(np.abs(roc.thresholds - float(name.removeprefix("above ")))))
        assert float(found.removesuffix(" %")) == pytest.approx(100 * roc.tpr[at], abs=0.051)
        assert float(specificity.removesuffix(" %")) == pytest.approx(100 * (1 - roc.fpr[at]), abs=0.051)
        assert float(correct.removesuffix(" %")) == pytest.approx(100 * ratio.precision[at], abs=0.051)
        low, high = map(float, band.removesuffix(" %").split(" to "))
        assert low <= float(found.removesuffix(" %")) <= high


def test_a_roc_chapter_draws_three_charts_with_the_truth_where_it_is_given(roc):
    truth = released(ROC, trust=ogive.Clear)
    source = render_report([roc], title="x")
    assert source.count('class="curve" d=') == 5  # the large one for wide and for narrow screens, and the legend
    assert 'class="truth" d=' not in source
    source = render_report([roc], title="x", truths=[truth])
    assert source.count('class="truth" d=') == 5
    assert f"The true AUC of these records is {truth.auc:.3f}" in re.sub(r"\s+", " ", source)
    assert "do not publish" in source
    assert 'class="band"' in chart_svg(roc)


def test_a_low_score_that_speaks_for_the_positive_class_is_said_to():
    statistic = dataclasses.replace(ROC, positive_when="low", public_labels=True)
    text = words_of(released(statistic))
    assert "the positive one has the lower risk" in text
    assert "there is no evidence" not in text  # it is worse than chance, and that is certain
    assert "negative records (public)" in text
    assert "at most 0." in text
    assert f"different values but the same in column {ROC.label}, " in text
    assert "but the same" not in words_of(released(dataclasses.replace(statistic, public_labels=False)))
    added = released(statistic, adjacency=ogive.Adjacency.ADD_OR_REMOVE)
    assert "but the same" not in words_of(added)


def test_a_class_without_records_is_said_and_nothing_is_drawn():
    text = words_of(released(dataclasses.replace(ROC, label="none"), trust=ogive.Clear))
    assert "there is no curve and no AUC" in text
    assert "AUC nan" not in text
    estimate = released(dataclasses.replace(ROC, label="none", public_labels=True))
    assert "Too noisy to use." in words_of(estimate)
    with pytest.raises(ParameterError, match="no curve to draw"):
        chart_svg(estimate)


def test_noise_that_makes_a_release_useless_is_called_that(roc):
    noisy = released(ROC, "0.002")
    assert chapter_of(noisy).warning is not None
    assert "Too noisy to use." in words_of(noisy)
    wide = words_of(released(ROC, "0.05"))
    assert re.search("Noise hides how well risk .*of died: the AUC has a 95 % CI", wide)
    assert "The AUC is" not in wide
    assert "Too noisy to use." not in words_of(roc)
    test = released(TEST, "0.002")
    text = words_of(test)
    assert "Too noisy to use." in text
    assert "perfectly calibrated" not in text
    assert "Too noisy to use." in words_of(released(BOUNDS, "0.0001"))
    method = "auto" if is_everything() else "hat_ls"
    curve = released(ogive.Ecdf("risk", (0, 1), method=method), "0.002")
    assert "Too noisy to use." in words_of(curve)


def test_a_calibration_chapter_gives_the_groups_and_the_test_in_words(calibration):
    source = render_report([calibration], title="x")
    text = re.sub(r"\s+", " ", source)
    assert f"p = {calibration.p_value:.2g}" in text or "p &gt; 0.99" in text
    rows = rows_of(source, "Groups")
    assert len(rows) == len(calibration.groups)
    for row, group in zip(rows, calibration.groups, strict=True):
        assert float(row[2].removesuffix(" %")) == pytest.approx(100 * group.mean_predicted, abs=0.051)
        assert float(row[3].removesuffix(" %")) == pytest.approx(100 * group.observed_share, abs=0.051)
        low, high = map(float, row[4].removesuffix(" %").split(" to "))
        assert (low, high) == pytest.approx([100 * end for end in group.interval], abs=0.051)
    assert source.count('class="dot"') == 2 * 2 * len(rows) + 1  # two charts in two sizes, and a legend
    test = {row[0]: row[1] for row in rows_of(source, "Test")}
    assert float(test["Statistic H"].replace(",", "")) == pytest.approx(calibration.statistic, rel=0.01)
    assert set(test) == {"Statistic H", "H corrected for noise", "p-value"}


def test_headline_caption_and_text_of_a_calibration_tell_groups_from_the_test_of_all(calibration):
    """Which of them stand out is said beside what the test says, in all four cases."""
    assert not any(group.stands_out for group in calibration.groups)
    both = dataclasses.replace(calibration, p_value=0.01)
    wrong = released(dataclasses.replace(TEST, label="wrong"), "2")
    out = sum(group.stands_out for group in wrong.groups)
    assert out > 0
    counted = f"In {out} of {len(wrong.groups)} groups the interval does not hold the predicted probability"
    for estimate, said in (
        (calibration, "The intervals of all groups hold the predicted probability."),
        (both, "no group stands out alone, but the differences of all groups together do."),
        (wrong, f"{counted}."),
        (dataclasses.replace(wrong, p_value=0.3), f"{counted}, though the differences of all groups together are not"),
    ):
        assert said in words_of(estimate)
        assert said[1:].rstrip(".") in str(estimate)
    assert "Each interval is about its group alone" in words_of(both)
    assert "at most 1 of 1,000 such tests (p <= 0.001)" in p_value_words(0.001, bound=True)


def test_a_calibration_is_drawn_beside_a_scale_by_quantile_unless_axes_are_given(calibration):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    first, beside = calibration.plot().figure.axes
    assert len(first.lines[-1].get_xdata()) == len(calibration.groups)
    points = calibration.reliability()
    assert np.allclose(beside.lines[-1].get_ydata(), points.observed_share - points.mean_predicted)
    assert np.allclose(np.diff(beside.lines[-1].get_xdata()), 1 / len(calibration.groups))
    figure, axes = pyplot.subplots()
    calibration.plot(axes)
    assert figure.axes == [axes]
    pyplot.close("all")


def test_a_model_that_is_wrong_is_said_to_be(calibration):
    wrong = released(dataclasses.replace(TEST, label="wrong"), "2")
    assert wrong.p_value < 0.05
    assert "probably miscalibrated" in words_of(wrong)
    exact = released(TEST, trust=ogive.Clear)
    text = words_of(calibration, truths=[exact])
    assert "True groups of these records" in text
    assert "H corrected for noise" not in words_of(exact)


@pytest.mark.parametrize(
    ("p_value", "said"),
    [
        (0.0, "fewer than 1 of 1,000 such tests (p < 0.001)"),
        (0.0042, "about 4 of 1,000 such tests (p = 0.0042)"),
        (0.049, "about 5 of 100 such tests (p = 0.049), so the probabilities are probably mis"),
        (0.37, "about 37 of 100 such tests (p = 0.37), so the test gives no evidence"),
        (0.9999, "almost all such tests (p > 0.99), so the test gives no"),
    ],
)
def test_p_values_are_put_into_words(p_value, said):
    assert said in p_value_words(p_value)


def test_a_bounds_chapter_says_between_what_and_how_sure(bounds):
    text = words_of(bounds)
    assert f"pressure lies from {bounds.low:g} to {bounds.high:g}" in text
    assert f"{bounds.records_outside:,} of the 6,000 records lie outside, with 95 % confidence" in text
    exact = released(BOUNDS, trust=ogive.Clear)
    assert "True" in words_of(bounds, truths=[exact])
    assert "All of the 6,000 records" in words_of(exact)
    with pytest.raises(ParameterError, match="no curve to draw"):
        chart_svg(bounds)


def test_a_truth_of_another_question_is_refused(roc, calibration, bounds):
    with pytest.raises(ParameterError, match="exact ROC curve"):
        render_report([roc], title="x", truths=[roc])
    with pytest.raises(ParameterError, match="exact calibration"):
        render_report([calibration], title="x", truths=[roc])
    with pytest.raises(ParameterError, match="exact bounds"):
        render_report([bounds], title="x", truths=[bounds])


def test_a_summary_is_plain_data_and_says_what_the_page_says_first(roc, bounds):
    both = (roc, bounds)
    for estimate, found in zip(both, summarize(both), strict=True):
        assert found["release_id"] == estimate.provenance.release_id
        assert found["schema"] == estimate.schema
        assert found["privacy"] == {"type": "PureDP", "epsilon": "1"}
        assert found["headline"] in words_of(estimate)
        assert found["warning"] is None


def test_persons_are_named_where_the_guarantee_is_for_persons():
    data = {**DATA, "patient": np.arange(N) // 2}
    trust = ogive.Central(data, person="patient", max_rows_per_person=2)
    estimate = ogive.release(
        ROC,
        trust=trust,
        privacy=ogive.PureDP(1),
        adjacency=ogive.Adjacency.ADD_OR_REMOVE,
        source=KeyedSource(bytes(32)),
    )
    text = words_of(estimate)
    assert "one person been missing with all their rows" in text
    assert estimate.provenance.unit.words in text
    assert "Rows with the same value in patient" in text
    assert "column patient, at most 2 rows" in text
    assert "One record per person." not in text
