"""Verdicts on the ROC and calibration figures come from the numbers, in both directions, and never from stand-ins."""

import math

import pytest

from ogive_papers.ecdf import calibration, calibration_figures, roc, roc_figure, roc_pictures
from ogive_papers.ecdf.data_sets import BANK, DIABETES, SIMULATED
from ogive_papers.summaries import Cell, Row, Summary
from ogive_papers.verdicts import Outcome, verdict

HOLDS, FAILS, UNDECIDED = Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED


def cells(error=0.01, runs=100, **values):
    return {name: Cell(value, error * abs(value), value, runs) for name, value in values.items()}


def figure_5(absolute, squares, ours, data="0123", **options):
    rows = []
    for epsilon in roc_figure.EPSILONS:
        numbers = {roc.ABSOLUTE: absolute(epsilon), roc.SQUARES: squares(epsilon), roc.OURS: ours(epsilon)}
        rows.append(Row({"epsilon": epsilon, "bank data": data}, cells(**numbers, **options)))
    return roc_figure.judge(Summary(tuple(rows)))


def falling(factor):
    return lambda epsilon: factor * 0.03 / epsilon


@pytest.mark.parametrize(
    ("absolute", "squares", "ours", "options", "outcomes", "expected"),
    [
        (falling(1), falling(1.1), falling(0.2), {}, [HOLDS] * 4, "reproduced"),
        (falling(1), falling(1.5), falling(0.2), {}, [HOLDS, HOLDS, FAILS, HOLDS], "reproduced with remark"),
        (falling(1), falling(3), falling(0.2), {}, [HOLDS, FAILS, FAILS, HOLDS], "not reproduced"),
        (falling(1), lambda e: 0.03 * e, falling(9), {}, [FAILS, FAILS, FAILS, FAILS], "not reproduced"),
        (falling(1), falling(1.1), falling(0.2), {"runs": 3}, [UNDECIDED] * 4, "inconclusive"),
        (falling(1), falling(1.1), falling(0.2), {"data": SIMULATED}, [UNDECIDED] * 4, "inconclusive"),
    ],
)
def test_figure_5_is_judged_by_its_distances(absolute, squares, ours, options, outcomes, expected):
    checks = figure_5(absolute, squares, ours, **options)
    assert [check.outcome for check in checks] == outcomes
    assert verdict(checks) == expected


def test_checks_on_a_stand_in_say_what_is_missing():
    (first, *_) = figure_5(falling(1), falling(1.1), falling(0.2), data=SIMULATED)
    assert "no file bank-full.csv.gz was found" in first.evidence
    assert "SIMULATED" in first.evidence


def picture(item, *, distance, few=0.5, smoothing=-0.1, halves=0.1, noise=0.1, data="0123"):
    (setting, *_) = item.settings(False)
    name = setting["data set"]
    points = {f"point error, {which}": 0.1 for which in roc.PRIVATE}
    common = {
        **points, roc.ABSOLUTE: distance, roc.OURS: distance, roc.DIAGONAL: 0.4, roc.HALVES: halves,
        roc.HORIZONTAL: noise, roc.VERTICAL: noise,
        f"{roc.ABSOLUTE} - raw": smoothing, f"{roc.SQUARES} - raw": smoothing,
    }  # fmt: skip
    rows = [
        Row({**other, f"{name} data": data}, cells(**common, **{roc.SQUARES: few if other["records"] else distance}))
        for other in item.settings(False)
    ]
    checks = item.judge(Summary(tuple(rows)))
    return [check.outcome for check in checks], verdict(checks)


@pytest.mark.parametrize("item", [roc_pictures.FIGURE_8, roc_pictures.FIGURE_9], ids=["8", "9"])
def test_figures_8_and_9_are_judged_by_repeated_runs(item):
    assert picture(item, distance=0.05) == ([HOLDS] * 4, "reproduced")
    assert picture(item, distance=0.15) == ([HOLDS, FAILS, HOLDS, HOLDS], "reproduced with remark")
    assert picture(item, distance=0.3, few=0.3) == ([FAILS, FAILS, FAILS, HOLDS], "not reproduced")
    assert picture(item, distance=0.05, smoothing=0.01)[1] == "reproduced with remark"
    assert picture(item, distance=0.05, data=SIMULATED) == ([UNDECIDED] * 4, "inconclusive")


def test_figure_1_is_judged_by_its_noise_and_only_on_real_data():
    item = roc_pictures.FIGURE_1
    assert picture(item, distance=0.1) == ([HOLDS] * 3, "reproduced")
    assert picture(item, distance=0.1, halves=0.002)[0] == [HOLDS, FAILS, HOLDS]
    assert picture(item, distance=0.1, smoothing=0.01)[1] == "not reproduced"
    assert picture(item, distance=0.1, noise=0.001)[0] == [FAILS, HOLDS, HOLDS]
    assert picture(item, distance=0.1, data=SIMULATED) == ([UNDECIDED] * 3, "inconclusive")


def calibrated(names, error, apart, few=10.0, gain=0.1, data="0123"):
    rows = []
    for name in names:
        for epsilon in calibration.EPSILONS:
            typical = error(epsilon)
            logarithms = {
                f"log10 error, {calibration.PAPER}": math.log10(typical),
                f"log10 error, {calibration.OURS}": math.log10(gain * typical),
                f"log10 difference, {calibration.PAPER}": math.log10(apart[name](epsilon)),
            }
            numbers = {name: Cell(value, 0.01, value, 100) for name, value in logarithms.items()}
            numbers |= cells(**{calibration.PAPER: typical**2, calibration.EXPECTED: few})
            rows.append(Row({"data set": name, "epsilon": epsilon, "bank data": data, "diabetes data": data}, numbers))
    return Summary(tuple(rows))


def test_figure_6_is_judged_by_errors_and_their_spread():
    def outcomes(**changes):
        options = {"error": lambda e: 1 / e**2, "apart": {"bank": lambda e: 1 / e**2}} | changes
        return [check.outcome for check in calibration_figures.judge_bank(calibrated(["bank"], **options))]

    assert outcomes() == [HOLDS] * 5
    assert outcomes(error=lambda e: e) == [FAILS, FAILS, HOLDS, HOLDS, HOLDS]
    assert outcomes(error=lambda e: e**-0.3) == [FAILS, HOLDS, HOLDS, HOLDS, HOLDS]
    assert outcomes(error=lambda e: 1 / e**2 + (e == 2)) == [HOLDS, FAILS, HOLDS, HOLDS, HOLDS]
    assert outcomes(apart={"bank": lambda e: 0.1 / e}) == [HOLDS, HOLDS, FAILS, HOLDS, HOLDS]
    assert outcomes(few=1000.0) == [HOLDS, HOLDS, HOLDS, FAILS, HOLDS]
    assert outcomes(gain=2.0) == [HOLDS, HOLDS, HOLDS, HOLDS, FAILS]
    assert outcomes(data=SIMULATED) == [UNDECIDED] * 5


def test_figure_10_is_judged_against_figure_6():
    def outcomes(diabetes, data="0123"):
        apart = {"bank": lambda e: 1 / e, "diabetes": diabetes}
        summary = calibrated(["diabetes", "bank"], lambda e: 1 / e, apart, data=data)
        return [check.outcome for check in calibration_figures.judge_diabetes(summary)]

    assert outcomes(lambda e: 0.1 / e) == [HOLDS] * 4
    assert outcomes(lambda e: 2 / e) == [HOLDS, HOLDS, FAILS, HOLDS]
    assert outcomes(lambda e: 0.1 / e, data=SIMULATED) == [UNDECIDED] * 4


ITEMS = (
    roc_figure.FIGURE_5,
    roc_pictures.FIGURE_1,
    roc_pictures.FIGURE_8,
    calibration_figures.FIGURE_6,
    calibration_figures.FIGURE_10,
)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_pictures_of_stand_ins_say_so(item):
    from matplotlib.figure import Figure

    settings = [{**setting, **item.inputs(())} for setting in item.settings(True)]
    outcomes = [(setting, item.measure(setting, seed, ())) for setting in settings for seed in (7, 8)]
    figure = Figure()
    item.draw(Summary.of(outcomes), figure)
    assert all(any("SIMULATED" in text.get_text() for text in axes.texts) for axes in figure.axes)


def test_the_legend_of_figure_10_tells_data_sets_and_releases_apart_without_color():
    from matplotlib.figure import Figure

    figure = Figure()
    names = [f"log10 difference, {which}" for which in (calibration.PAPER, calibration.OURS)]
    settings = [{"data set": name, "epsilon": epsilon} for name in ("diabetes", "bank") for epsilon in (0.5, 1.0)]
    summary = Summary(tuple(Row(setting, cells(**dict.fromkeys(names, -1.0))) for setting in settings))
    calibration_figures.draw_differences(figure.subplots(), summary, DIABETES, BANK)
    legend = figure.axes[0].get_legend()
    handles = legend.get_lines()
    assert len({handle.get_marker() for handle in handles}) == len(handles) == 4
    lines = {text.get_text(): handle for text, handle in zip(legend.get_texts(), handles, strict=True)}
    for name, line in lines.items():
        assert line.is_dashed() == ("Bank" in name), name
        # in units of the font's size: at least three dashes are seen
        assert (line.get_xdata()[-1] - line.get_xdata()[0]) / legend.get_texts()[0].get_fontsize() >= 4


def test_quick_settings_are_fewer_and_among_the_full_ones():
    for item in (roc_figure.FIGURE_5, calibration_figures.FIGURE_6, calibration_figures.FIGURE_10):
        quick, full = item.settings(True), item.settings(False)
        assert len(quick) < len(full)
        assert all(setting in full for setting in quick)
