"""Every estimate is one line, a table in a notebook, a data frame and a picture, whatever its statistic."""

import functools
import io
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from helpers.examples import NEW, example_of
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from vectors.make_stored import DOCUMENTS

import ogive
from ogive import plots
from ogive.errors import ParameterError
from ogive.showing.view import BACKENDS, Card, as_html
from ogive.statistics.base import Estimate
from ogive.statistics.kinds import KINDS, SCHEMAS, read_estimate

RECORDS = {name: np.arange(200) % 2 for name in "xyz"}
KEPT = {
    name: data
    for name, data in json.loads(DOCUMENTS.read_text(encoding="utf-8")).items()
    if isinstance(data, dict) and data.get("schema") in SCHEMAS
}
for kind in NEW:
    KEPT[kind.name] = ogive.release(example_of(kind), trust=ogive.Central(RECORDS), privacy=ogive.PureDP(1)).to_dict()
FIRST = {data["schema"]: data for data in reversed(KEPT.values())}
"""One document of every kind."""
SHOWN = [
    name for name, data in KEPT.items() if data is FIRST[data["schema"]] or name in ("curve days", "labels margins")
]
"""The same by name, with two that are drawn otherwise."""


class Marks(HTMLParser):
    """Counts opened and closed elements, and keeps text and colors."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.styles = [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.styles += [value for name, value in attrs if name == "style"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parsed(page):
    marks = Marks()
    marks.feed(page)
    assert not marks.open
    return marks


def test_every_kind_is_looked_at():
    assert FIRST.keys() == SCHEMAS.keys()


@pytest.mark.parametrize("name", KEPT)
def test_repr_is_one_short_line_that_says_what_it_is(name):
    found = read_estimate(KEPT[name])
    line = repr(found)
    assert re.fullmatch(rf"<{type(found).__name__} .+, (not )?private>", line)
    assert len(line) < 160
    assert ("not private" in line) is not found.private


@pytest.mark.parametrize("name", SHOWN)
def test_notebooks_show_whole_html_that_takes_the_colors_of_the_page(name):
    marks = parsed(read_estimate(KEPT[name])._repr_html_())
    assert len(" ".join(marks.text)) > 30
    for style in marks.styles:
        # gray lines are seen on light and on dark; anything else would be on one of them only
        colors = re.findall(r"(?:color|background|border[a-z-]*):([^;]*)", style)
        assert all(set(each.split()) & {"inherit", "none", "collapse", "1px"} for each in colors), style


def test_what_a_card_says_is_escaped():
    page = as_html(Card("<a>", [("<b>", "<i>")], ("<u>", "<s>"), [("<p>", "&amp;")], ["<script>"]))
    text = "".join(parsed(page).text)
    assert all(each in text for each in ("<a>", "<b>", "<i>", "<u>", "<s>", "<p>", "&amp;", "<script>"))


@pytest.mark.each_value
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", SHOWN)
def test_frames_of_all_backends_have_the_same_columns(name, backend):
    found = read_estimate(KEPT[name])
    frame = found.to_frame(backend)
    assert type(frame).__module__.split(".")[0] == backend
    names = list(getattr(frame, "column_names", frame.columns))
    assert names == list(read_estimate(KEPT[name]).to_frame("polars").columns)
    assert len(set(names)) == len(names)
    assert len(frame) >= 1


def test_pandas_is_the_default_frame():
    assert type(read_estimate(FIRST["ogive.roc/1"]).to_frame()).__module__.startswith("pandas")


def test_an_unknown_frame_is_refused_in_one_line():
    with pytest.raises(ParameterError, match="backend must be one of pandas, polars, pyarrow, got 'spark'"):
        read_estimate(FIRST["ogive.roc/1"]).to_frame("spark")


@pytest.mark.parametrize("name", SHOWN)
def test_a_picture_takes_axes_and_a_style(name):
    found = read_estimate(KEPT[name])
    axes = Figure().add_subplot()
    assert found.plot(axes, color="#aa00bb", label="mine", linewidth=2.5, alpha=0.5, linestyle="--") is axes
    content = io.BytesIO()
    with rc_context({"svg.fonttype": "none"}):  # half of the time is spent on outlines of letters
        axes.figure.savefig(content, format="svg")
    assert "#aa00bb" in content.getvalue().decode()
    legend = axes.get_legend()
    assert legend is not None
    assert any(text.get_text().startswith("mine") for text in legend.get_texts())


@pytest.mark.parametrize("schema", FIRST)
@pytest.mark.parametrize(
    ("style", "words"),
    [
        ({"colour": "red"}, "a picture's style may have color, linewidth"),
        ({"color": "no color"}, "the style color is none"),
    ],
    ids=["name", "value"],
)
def test_a_style_that_matplotlib_does_not_know_is_refused_in_one_line(schema, style, words):
    with pytest.raises(ParameterError, match=words):
        read_estimate(FIRST[schema]).plot(**style)


@pytest.fixture(scope="module")
def pictures():
    """A picture of every kind, by its schema, drawn once."""
    return functools.cache(lambda schema: read_estimate(FIRST[schema]).plot())


# every format is written; all kinds are drawn with a style and in subplots
@pytest.mark.each_value(schema=lambda schema: "any")
@pytest.mark.parametrize("schema", FIRST)
@pytest.mark.parametrize(
    ("suffix", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")], ids=["svg", "png", "pdf"]
)
def test_pictures_are_saved_in_three_formats(schema, suffix, start, pictures, tmp_path):
    plots.save(pictures(schema), tmp_path / f"one{suffix}")
    assert (tmp_path / f"one{suffix}").read_bytes().startswith(start)


def boxes_of(axes, renderer):
    """Where the plot itself and every text outside of it were drawn."""
    texts = [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
    texts += [label for label in axes.get_xticklabels() + axes.get_yticklabels() if label.get_visible()]
    return [axes.get_window_extent(renderer)] + [
        text.get_window_extent(renderer) for text in texts if text.get_text() and not text.get_clip_on()
    ]


def apart(one, other):
    """Whether two boxes share at most a seam of two pixels."""
    return one.x1 <= other.x0 + 2 or other.x1 <= one.x0 + 2 or one.y1 <= other.y0 + 2 or other.y1 <= one.y0 + 2


def collisions(figure):
    """How many pairs of texts of different axes overlap, and how many texts leave the figure."""
    canvas = FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    renderer = canvas.get_renderer()
    groups = [boxes_of(axes, renderer) for axes in figure.axes]
    crossed = sum(
        not apart(a, b)
        for number, here in enumerate(groups)
        for there in groups[number + 1 :]
        for a in here
        for b in there
    )
    whole = figure.bbox
    out = sum(
        box.x0 < whole.x0 - 2 or box.x1 > whole.x1 + 2 or box.y0 < whole.y0 - 2 or box.y1 > whole.y1 + 2
        for boxes in groups
        for box in boxes
    )
    return crossed, out


GRIDS = [*range(0, len(KINDS), 4), *range(2, len(KINDS), 4)]
"""Where pictures of four kinds start."""


# in `make test` six kinds are in one picture of several, in `make test-all` all are in two, beside others
@pytest.mark.parametrize(
    ("shape", "start"),
    [
        *(pytest.param((2, 2), start, marks=pytest.mark.everything if start else ()) for start in GRIDS),
        pytest.param((1, 3), 0, marks=pytest.mark.everything),
        ((3, 1), 3),
    ],
    ids=str,
)
def test_nothing_collides_in_subplots(shape, start):
    figure = Figure(figsize=(7.5, 6.5))
    axes = np.ravel(figure.subplots(*shape))
    documents = list(FIRST.values())
    for number, each in enumerate(axes):
        read_estimate(documents[(start + number) % len(documents)]).plot(each)
    assert collisions(figure) == (0, 0)


def test_the_check_of_collisions_sees_one():
    """The control: without a layout titles lie on the names of axes above, and leave the figure."""
    figure = Figure(figsize=(7.5, 4))
    for axes in np.ravel(figure.subplots(2, 2)):
        read_estimate(FIRST["ogive.curve/1"]).plot(axes)
    figure.set_layout_engine("none")
    assert collisions(figure)[0] > 0
    figure.axes[0].set_position([0.1, 0.8, 0.4, 0.2])
    assert collisions(figure)[1] > 0


def test_a_title_of_ones_own_and_a_second_curve_find_their_place():
    found = read_estimate(FIRST["ogive.curve/1"])
    axes = found.plot()
    found.plot(axes, label="again")
    assert len([text for text in axes.texts if "epsilon" in text.get_text()]) == 1
    axes.set_title("My own")
    FigureCanvasAgg(axes.figure).draw()
    assert axes.get_title() == "My own"
    small = next(text for text in axes.texts if "epsilon" in text.get_text())
    assert axes.title.get_window_extent().y0 >= small.get_window_extent().y1 - 1


def test_estimates_derive_from_one_class():
    assert all(issubclass(kind.estimate, Estimate) for kind in KINDS)
