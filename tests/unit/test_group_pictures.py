"""Legends, titles and small print of pictures, above all of groups: nothing covers data and nothing is cut."""

import functools
import warnings
from itertools import combinations, pairwise

import numpy as np
import pytest
from helpers.scope import is_everything

import ogive
from ogive.report import render_report
from ogive.showing.pictures import is_public, new_axes

RACES = ("White", "Black", "Hispanic", "Asian", "Native American", "Other or unknown")
SERVICES = tuple(f"{name} of the {place} hospital" for name in ("Cardiology", "Neurology") for place in "ABCDEF")


@pytest.fixture(scope="module")
def session():
    rng = np.random.default_rng(3)
    size = 3000
    age = rng.integers(18, 96, size)
    risk = 1 / (1 + np.exp(-(age - 70) / 12))
    table = {
        "age": age,
        "sex": rng.choice(["F", "M"], size),
        "race": rng.choice(RACES, size),
        "service": rng.choice(SERVICES, size),
        "risk": risk,
        "died": (rng.random(size) < risk).astype(int),
    }
    with pytest.MonkeyPatch.context() as patch:
        if not is_everything():  # how wide a band is moves no legend, heading or label
            patch.setattr("ogive.statistics.curve.bands.SIMULATED_VALUES", 300_000)
            patch.setattr("ogive.statistics.roc.area.SIMULATED_VALUES", 300_000)
        yield ogive.Session(table, limit=ogive.PureDP(1000))


@functools.cache
def asked(session, what, by, groups):
    """A release, the same one for all tests that ask for it."""
    terms = {"privacy": ogive.PureDP(2), "by": by, "groups": groups}
    match what:
        case "ecdf":
            return session.ecdf("age", bounds=(0, 120), **terms)
        case "quantiles":
            return session.quantiles("age", bounds=(0, 120), **terms)
        case "roc":
            return session.roc("age", "died", bounds=(0, 120), **terms)
        case "mean":
            return session.mean("age", bounds=(0, 120), **terms)
        case _:
            terms["statistic"] = ogive.HosmerLemeshow("risk", "died")
            of = ogive.Grouped(terms.pop("statistic"), terms["by"], terms["groups"])
            return session.release(of, privacy=terms["privacy"])


def drawn(axes):
    axes.figure.draw_without_rendering()
    return axes


def small_print(axes):
    (found,) = (text for text in axes.texts if "trust model" in " ".join(text.get_text().split()))
    return found


@pytest.mark.each_value
@pytest.mark.parametrize("what", ["ecdf", "quantiles", "roc", "calibration"])
@pytest.mark.parametrize(("by", "groups"), [("sex", ("F", "M")), ("race", RACES)], ids=["two", "six"])
def test_a_legend_covers_no_data_and_the_heading_stands_above_it(session, what, by, groups):
    axes = drawn(asked(session, what, by, groups).plot(new_axes()))
    legend, whole = axes.get_legend().get_window_extent(), axes.figure.bbox
    assert legend.y0 >= axes.get_window_extent().y1 - 0.5
    assert legend.x0 >= 0
    assert legend.x1 <= whole.x1
    assert small_print(axes).get_window_extent().y0 >= legend.y1 - 1
    assert axes.title.get_window_extent().y1 <= whole.y1
    assert axes.get_window_extent().height > 0.4 * whole.height
    assert axes.get_title().endswith(f"by {by}")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("what", ["ecdf", "quantiles", "roc", "calibration"])
def test_many_groups_stand_side_by_side_with_one_scale_and_one_heading(session, what):
    found = asked(session, what, "race", RACES)
    first = drawn(found.plot())
    figure = first.figure
    panels = figure.axes
    assert panels[0] is first
    assert [axes.get_title(loc="left").split(":")[0] or axes.get_title().split(":")[0] for axes in panels] == list(
        RACES
    )
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in panels}) == 1
    assert all(axes.get_legend() is None for axes in panels)
    heading = figure.get_suptitle()
    assert "by race" in heading
    assert found.caption in heading
    boxes = [axes.get_tightbbox() for axes in panels]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(box.y1 <= figure._suptitle.get_window_extent().y0 + 1 for box in boxes)
    assert is_public(figure)


def test_few_groups_and_given_axes_have_one_picture(session):
    assert len(asked(session, "ecdf", "sex", ("F", "M")).plot().figure.axes) == 1
    given = new_axes()
    assert asked(session, "ecdf", "race", RACES).plot(given) is given
    assert len(given.figure.axes) == 1


def test_a_legend_in_the_axes_would_be_noticed(session):
    axes = drawn(session.ecdf("age", bounds=(0, 120), privacy=ogive.PureDP(1)).plot())
    above = axes.get_legend().get_window_extent()
    axes.legend(loc="lower right")
    drawn(axes)
    assert axes.get_legend().get_window_extent().y0 < axes.get_window_extent().y1 <= above.y1 + 5


def test_roc_curves_of_groups_name_their_areas(session):
    found = asked(session, "roc", "sex", ("F", "M"))
    said = [text.get_text() for text in found.plot().get_legend().get_texts()]
    assert f"F: AUC {found['F'].auc:.2f}" in said
    assert f"M: AUC {found['M'].auc:.2f}" in said


def test_names_of_many_groups_stand_one_below_the_other(session):
    axes = drawn(asked(session, "mean", "service", SERVICES).plot())
    assert axes.get_title() == "Mean of age by service"
    labels = axes.get_yticklabels()
    assert [label.get_text() for label in labels] == list(SERVICES)
    boxes = [label.get_window_extent() for label in labels]
    assert all(above.y0 >= below.y1 - 1 for above, below in pairwise(boxes))
    assert min(box.x0 for box in boxes) >= 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize("columns", [1, 3])
def test_a_tight_layout_cuts_no_heading(session, columns):
    from matplotlib.figure import Figure

    found = asked(session, "ecdf", "sex", ("F", "M"))
    figure = Figure(figsize=(3.2 * columns + 2.8, 3.6))
    row = np.atleast_1d(figure.subplots(1, columns))
    for axes in row:
        found.plot(axes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="The figure layout has changed to tight")
        figure.tight_layout()
    figure.draw_without_rendering()
    for axes in row:
        assert axes.title.get_window_extent().y1 <= figure.bbox.y1
        assert axes.xaxis.label.get_window_extent().y0 >= 0


@pytest.mark.everything
def test_narrow_axes_are_laid_out_until_nothing_is_cut(session):
    from matplotlib.figure import Figure

    found = asked(session, "ecdf", "sex", ("F", "M"))
    figure = Figure(figsize=(9, 5))
    grid = figure.subplots(2, 4).ravel()
    for axes in grid:
        found.plot(axes)
    figure.draw_without_rendering()
    for axes in grid:
        assert axes.title.get_window_extent().y1 <= figure.bbox.y1
        assert axes.xaxis.label.get_window_extent().y0 >= 0
        assert axes.get_window_extent().height > 0.1 * figure.bbox.height


def test_a_report_writes_the_heading_of_groups_as_it_is_and_draws_all_groups_alike(session):
    from ogive.report import render_report

    text = render_report([asked(session, "roc", "sex", ("F", "M"))], title="Wards")
    assert "<caption>ROC curve of age for died</caption>" in text
    assert text.count('<div class="pictures alike">') == 1


@pytest.mark.parametrize(("groups", "charts"), [(2, 1), (4, 1), (5, 5)])
def test_curves_of_a_few_groups_share_one_chart_of_a_report(groups, charts):
    random = np.random.default_rng(1)
    table = {"x": random.random(600), "g": random.integers(0, groups, 600)}
    question = ogive.Grouped(ogive.Ecdf("x", bounds=(0, 1), bins=16), "g", tuple(range(groups)))
    released = ogive.release(question, trust=ogive.Central(table), privacy=ogive.PureDP(5))
    pictures = released.view().chapter().pictures
    assert len(pictures) == charts
    chart = pictures[0].chart
    assert len(chart.others) == (groups - 1 if charts == 1 else 0)
    html = render_report([released], title="Groups")
    for place in range(groups if charts == 1 else 0):
        assert f'class="curve g{place}"' in html
        assert f"g = {place}" in html
    assert ('class="curve g0"' in html) == (charts == 1)
    truth = ogive.release(question, trust=ogive.Clear(table))
    assert len(released.view().chapter(truth).pictures) == groups  # each beside what is exact
