import builtins
import inspect
import sys

import numpy as np
import pytest
from helpers.curves import PROVENANCE, exact_curve, noisy_curve

from ogive import plots
from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.showing.pictures import intervals

GRID = Grid.linear(0, 10, bins=5)
VALUES = np.random.default_rng(0).uniform(0, 10, 400)


def texts(axes):
    legend = axes.get_legend()
    shown = [text.get_text() for text in axes.texts] + [" ".join(axes.get_title().split()), axes.get_xlabel()]
    return shown + ([text.get_text() for text in legend.get_texts()] if legend else [])


def test_steps_jump_at_the_thresholds():
    curve = noisy_curve(VALUES, GRID, column="age")
    axes = curve.plot(confidence_level=None)
    (line,) = axes.get_lines()
    assert line.get_xdata().tolist() == [0, *GRID.thresholds]
    assert line.get_ydata().tolist() == [0, *curve.probabilities]
    assert line.get_drawstyle() == "steps-post"
    assert "age" in texts(axes)


def test_band_is_drawn_as_it_holds_between_thresholds():
    curve = noisy_curve(VALUES, GRID)
    axes = plots.plot_curve(curve, confidence_level=0.9, target="sample")
    band = curve.band(0.9, target="sample")
    (area,) = axes.collections
    corners = {tuple(np.round(corner, 9)) for corner in area.get_paths()[0].vertices}
    for t in (1.0, 3.0, 7.0):
        low, high = band(t)
        left = GRID.thresholds[GRID.thresholds <= t][-1] if t > 2 else 0.0
        assert (left, round(low, 9)) in corners
        assert (left, round(high, 9)) in corners
    assert "90 % band, sample" in texts(axes)


def test_axes_are_reused_and_truth_is_marked():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    drawn = plots.plot_curve(noisy_curve(VALUES, GRID), axes, truth=exact_curve(VALUES, GRID))
    assert drawn is axes
    assert "exact (not private)" in texts(axes)


def test_a_curve_without_privacy_is_marked():
    assert any("not private" in text for text in texts(exact_curve(VALUES, GRID).plot()))
    released = noisy_curve(VALUES, GRID).with_provenance(PROVENANCE)
    assert any("epsilon = 4/3" in text for text in texts(released.plot()))
    assert not any("not private" in text for text in texts(released.plot()))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "grid",
    [
        Grid.integers("2024-01-01", "2024-12-31"),
        Grid.linear("2024-01-01T00:00:00", "2024-01-02T00:00:00", bins=7),
        Grid.geometric(1, 1000, bins=6),
        Grid.explicit([1, 5, 25]),
    ],
    ids=["dates", "datetimes", "geometric", "explicit"],
)
def test_every_grid_can_be_drawn(grid, tmp_path):
    curve = exact_curve(np.repeat(grid.thresholds, 3), grid)
    path = tmp_path / "curve.png"
    plots.save(curve.plot(), path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_distribution_and_survival_functions_can_be_drawn():
    curve = noisy_curve(VALUES, GRID)
    assert curve.cdf.plot().get_lines()[0].get_ydata().tolist() == [0, *curve.probabilities]
    axes = curve.sf.plot()
    assert axes.get_lines()[0].get_ydata().tolist() == [1, *(1 - curve.probabilities)]
    assert axes.get_ylabel() == "Share above"


def test_pictures_are_whole_files_of_the_wanted_kind_and_reproducible(tmp_path):
    curve = noisy_curve(VALUES, GRID)
    for name, start in (("a.png", b"\x89PNG"), ("b.SVG", b"<?xml"), ("c.pdf", b"%PDF")):
        plots.save(curve.plot(), tmp_path / name)
        plots.save(curve.plot().figure, str(tmp_path / ("again." + name)))
        content = (tmp_path / name).read_bytes()
        assert content.startswith(start)
        assert content == (tmp_path / ("again." + name)).read_bytes()
    assert len(list(tmp_path.iterdir())) == 6


@pytest.mark.parametrize("name", ["a.eps", "a", "a.png.txt"])
def test_other_kinds_of_pictures_are_refused(name, tmp_path):
    with pytest.raises(ParameterError, match=r"must end in \.png, \.svg or \.pdf"):
        plots.save(noisy_curve(VALUES, GRID).plot(), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_missing_matplotlib_is_named_with_its_cure(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ParameterError, match=r'pip install "ogive\[plots\]"'):
        noisy_curve(VALUES, GRID).plot(confidence_level=None)


def test_drawing_leaves_no_global_figures():
    def figures():
        return sys.modules["matplotlib.pyplot"].get_fignums() if "matplotlib.pyplot" in sys.modules else []

    before = figures()  # what other tests of this process have left open
    noisy_curve(VALUES, GRID).plot()
    assert figures() == before


@pytest.mark.parametrize("words", [5, 40])
def test_small_print_of_any_length_stays_on_the_picture_and_below_the_title(words):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    axes = plots.new_axes()
    plots.caption(axes, "A title", " ".join(["guarantee"] * words), private=True)
    canvas = FigureCanvasAgg(axes.figure)
    canvas.draw()
    whole, small = axes.figure.bbox, axes.texts[0].get_window_extent()
    (heading,) = axes.findobj(lambda part: getattr(part, "get_text", str)() == "A title")
    title = heading.get_window_extent()
    assert small.x1 <= whole.x1
    assert title.y0 >= small.y1 - 1
    assert title.y1 <= whole.y1
    assert axes.get_window_extent().width > 0.8 * whole.width


def test_intervals_lie_in_the_rows_of_their_names_and_end_where_they_end():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    intervals(axes, ["a", "b"], [1.0, 5.0], [(0.5, 2.0), (4.0, 7.0)], {})
    drawn = [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines]
    for height, point, ends in ((1, 1.0, [0.5, 2.0]), (0, 5.0, [4.0, 7.0])):
        row = [places for places, heights in drawn if set(heights) == {height}]
        assert row == [ends, ends, [point]], "a bar, its two ends and the value"
    assert len(drawn) == 6


def without_arguments(functions):
    """Those that take two arguments or more and whose docstring has no section of arguments."""
    return [
        name
        for name, each in functions.items()
        if len(inspect.signature(each).parameters) > 1 and "\nArgs:\n" not in inspect.getdoc(each)
    ]


def test_the_manual_says_what_functions_take():
    functions = {name: getattr(plots, name) for name in plots.__all__ if name.startswith("plot_")}
    assert len(functions) > 8
    assert without_arguments(functions) == []


def test_a_function_whose_arguments_are_not_documented_is_seen():
    def draw(found, ax=None):
        """Draw it."""

    assert without_arguments({"draw": draw}) == ["draw"]
