"""The chapter of boxplots: numbers of the boxes, true ones beside them, words for those who do not see the chart."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from helpers.declared import public_of

import ogive
from ogive.errors import ParameterError
from ogive.noise import KeyedSource
from ogive.report import chart_svg, render_report
from ogive.report.page import chapter_of
from ogive.showing.chart import MOST_BOXES

RNG = np.random.default_rng(6)
N = 4_000
WARD = RNG.choice(["A", "<B>"], N)
TABLE = {"stay": RNG.gamma(2, 3, N) + 2 * (WARD == "A"), "ward": WARD}
BY = {"by": "ward", "groups": ("A", "<B>"), "curve": "tree_ls"}


def alone(found, box, name):
    """A number of a box as it is shown, without its interval."""
    return number(found, box, name).split(" (")[0]


def number(found, box, name):
    return found.view().cell(box, name)


def released(trust=ogive.Central, table=TABLE, privacy="2", **arguments):
    grant = None if trust is ogive.Clear else ogive.PureDP(privacy)
    statistic = ogive.Boxplot("stay", (0, 40), bins=128, **arguments)
    public = public_of(statistic)
    return ogive.release(statistic, trust=trust(table), privacy=grant, public=public, source=KeyedSource(bytes(32)))


@pytest.fixture(scope="module")
def boxes():
    return released(**BY)


@pytest.fixture(scope="module")
def truth():
    return released(ogive.Clear, **BY)


def test_the_page_shows_every_number_and_the_true_ones_where_they_are_given(boxes, truth):
    page = render_report([boxes], title="x", truths=[truth])
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "Boxplot of stay by ward" in text
    assert "The median stay is lowest where ward is &lt;B&gt;" in text
    for found in (boxes, truth):
        for box in found.boxes:
            assert number(found, box, "median") in text
    assert "<caption>Boxes</caption>" in page
    assert "<caption>True boxes</caption>" in page
    assert "<B>" not in page
    assert "true-box" not in render_report([boxes], title="x").split("</style>")[1]


def test_the_chart_has_words_a_box_for_each_group_and_its_outliers(boxes, truth):
    chart = chapter_of(boxes, truth).pictures[0].chart
    for box in boxes.boxes:
        assert f"{box.group}: whiskers from {alone(boxes, box, 'low')} to " in chart.summary
    drawn = ET.fromstring(chart_svg(boxes))
    name = "{http://www.w3.org/2000/svg}"
    assert sum(e.get("class") == "box" for e in drawn.iter(f"{name}rect")) == 2
    assert drawn.find(f"{name}desc").text == chapter_of(boxes).pictures[0].chart.summary
    for size in chart.sizes:
        for box in boxes.boxes:
            places = [chart.x(size, number) for number in box.numbers]
            assert places == sorted(places)
            assert 0 < places[0] < places[-1] < size.width


def test_one_box_of_five_numbers_is_put_into_words():
    found = released(method="five_numbers")
    chapter = chapter_of(found)
    box = found.boxes[0]
    assert chapter.headline == (
        f"The median stay is {alone(found, box, 'median')} (interquartile range {alone(found, box, 'q1')} to "
        f"{alone(found, box, 'q3')})."
    )
    assert "five numbers, found one by one" in dict(chapter.details).values()
    assert "not shown" in "".join(str(each) for each in chapter.tables)


def test_the_page_shows_the_digits_that_an_interval_tells_and_an_order_only_where_it_is_known(boxes):
    assert chapter_of(boxes).headline.endswith(f"{alone(boxes, boxes.boxes[0], 'median')}.")
    same = {"stay": RNG.gamma(2, 3, 400) - 10, "ward": np.arange(400) % 2}
    statistic = ogive.Boxplot("stay", (-10, 30), bins=1024, by="ward", groups=(0, 1), curve="tree_ls")
    found = ogive.release(
        statistic, trust=ogive.Central(same), privacy=ogive.PureDP("1"), source=KeyedSource(bytes(32))
    )
    chapter = chapter_of(found)
    assert chapter.headline.endswith("; their intervals overlap, so that the order may be chance.")
    for box in found.boxes:
        low, high = box.intervals.median
        assert high - low > 1, "one place after the point, at most, means anything"
        assert number(found, box, "median").replace("-", "−") in str(chapter.tables[0])
        assert f"{box.median:.6g}".replace("-", "−") not in str(chapter.tables[0])


def test_a_page_that_noise_has_emptied_warns():
    few = {"stay": np.array([3.0]), "ward": np.array(["A"])}
    statistic = ogive.Boxplot("stay", (0, 40), bins=64, curve="tree_ls")
    for key in range(40):
        found = ogive.release(
            statistic,
            trust=ogive.Central(few),
            privacy=ogive.PureDP("0.01"),
            adjacency=ogive.Adjacency.ADD_OR_REMOVE,
            source=KeyedSource(key.to_bytes(32, "big")),
        )
        if not found.boxes[0].defined:
            break
    chapter = chapter_of(found)
    assert chapter.warning is not None
    assert "too noisy" in "".join(str(each) for each in chapter.tables)
    assert "says nothing: too noisy" in chart_svg(found)


def test_many_groups_are_all_in_the_table_and_some_in_the_chart():
    groups = tuple(range(40))
    table = {"stay": TABLE["stay"], "ward": np.arange(N) % 40}
    found = released(ogive.Clear, table, by="ward", groups=groups)
    chapter = chapter_of(found)
    assert len(chapter.pictures[0].chart.names) == MOST_BOXES
    assert "16 more groups" in chapter.pictures[0].note
    assert str(chapter.tables[0]).count('scope="row"') == 40


def test_refuses_a_truth_that_is_private_or_of_other_boxes(boxes):
    with pytest.raises(ParameterError, match="must be exact boxes"):
        chapter_of(boxes, boxes)
    with pytest.raises(ParameterError, match="do not compare"):
        chapter_of(boxes, released(ogive.Clear))


def test_the_page_says_that_nothing_hides_the_group_of_a_record_where_it_is_public(boxes):
    public = released(**BY, public_groups=True)
    told, hidden = (
        re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", render_report([each], title="x"))) for each in (public, boxes)
    )
    for words in (
        "Had any one record held entirely different values but the same in column ward, everything",
        "replaced by any other with the same value in column ward (the number of records and column ward are public)",
        "The group of each record is public",
        "only values are hidden.",
        "Groups public",
    ):
        assert words in told
        assert words not in hidden
    assert "Groups private" in hidden
