"""What a report holds, read back from its HTML."""

import dataclasses
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import ogive
from ogive.errors import ParameterError
from ogive.noise import KeyedSource
from ogive.report import chart_svg, render_report, write_report
from ogive.showing.parts import VOID
from ogive.statistics.curve.view import PROBABILITIES

AGES = np.random.default_rng(5).integers(20, 80, 4_000)
DAYS = np.datetime64("2023-01-01") + AGES.astype("timedelta64[D]")
GRID = ogive.Grid.integers(0, 110)
HOSTILE = '</title><script src="https://evil.example/x.js"></script><b onload=alert(1)>"\'&'


def released(column="age", values=AGES, grid=GRID, privacy=None, adjacency=ogive.Adjacency.REPLACE, **arguments):
    statistic = ogive.Ecdf(column, grid=grid, method="tree_ls", **arguments)
    trust = ogive.Central({column: values})
    return ogive.release(
        statistic,
        trust=trust,
        privacy=privacy or ogive.PureDP("0.5"),
        adjacency=adjacency,
        source=KeyedSource(bytes(32)),
    )


@pytest.fixture(scope="module")
def curve():
    return released()


@pytest.fixture(scope="module")
def truth():
    return ogive.release(ogive.Ecdf("age", grid=GRID), trust=ogive.Clear({"age": AGES}))


class Page(HTMLParser):
    """Elements, attributes and words of a page; unbalanced markup fails at once."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.said, self.ids = [], [], [], []
        self.feed(source)
        self.close()
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, name, attributes):
        found = dict(attributes)
        assert len(found) == len(attributes), f"an attribute twice in {name}"
        self.elements.append((name, found))
        self.ids += [found["id"]] if "id" in found else []
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open, f"{name} was never opened"
        assert self.open.pop() == name

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.said.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.said).split())

    def named(self, name):
        return [attributes for found, attributes in self.elements if found == name]


def read(*estimates, **arguments):
    source = render_report(estimates, **{"title": "Ages", **arguments})
    return Page(source), source


def test_a_page_is_balanced_and_its_ids_are_distinct_and_resolve(curve):
    page, source = read(curve, released("balance"))
    assert source.count('href="#contents"') == 2
    assert "#contents" not in read(curve)[1]
    assert source.startswith("<!DOCTYPE html>\n<html")
    assert len(page.ids) == len(set(page.ids))
    for _, attributes in page.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(name, page.ids[0]) in page.ids
        if "href" in attributes:
            assert attributes["href"].removeprefix("#") in page.ids


def test_the_balance_check_notices_a_tag_left_open():
    with pytest.raises(AssertionError):
        Page("<p><b>x</p>")


def test_a_page_loads_nothing_and_runs_nothing(curve, truth):
    page, source = read(curve, truths=[truth], notes=["A note."])
    forbidden = {
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "audio",
        "video",
        "source",
        "form",
        "use",
    }
    assert not forbidden & {name for name, _ in page.elements}
    for name, attributes in page.elements:
        for key, value in attributes.items():
            assert key not in ("src", "srcset", "xlink:href", "style", "action")
            assert not key.startswith("on")
            assert key == "xmlns" or "//" not in (value or ""), (name, key, value)
    styles = "".join(re.findall(r"<style>(.*?)</style>", source, flags=re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles
    (policy,) = [meta for meta in page.named("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy["content"].startswith("default-src 'none'")


def test_names_and_titles_are_text_whatever_they_hold():
    page, source = read(released(HOSTILE), title=HOSTILE, notes=[HOSTILE])
    assert not page.named("script")
    assert not page.named("b")
    assert page.text.count(HOSTILE) >= 3
    assert "<script" not in source


def test_light_dark_phone_and_print_each_have_their_rules(curve):
    page, source = read(curve)
    for rule in ("prefers-color-scheme: dark", "max-width: 40rem", "@media print"):
        assert rule in source
    viewport = [meta["content"] for meta in page.named("meta") if meta.get("name") == "viewport"]
    assert viewport == ["width=device-width, initial-scale=1"]
    charts = [svg["class"] for svg in page.named("svg") if svg["class"] != "swatch"]
    assert charts == ["chart wide", "chart narrow"]


def contrast(first, second):
    def luminance(color):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_text_has_contrast_in_light_dark_and_print(curve):
    _, source = read(curve)
    schemes = {"light": {}, "dark": {}, "print": {}}
    for block in re.finditer(r"(@media[^{]*\{\s*)?:root\s*\{([^}]*)\}", source):
        media = block.group(1) or ""
        scheme = "dark" if "dark" in media else "print" if "print" in media else "light"
        schemes[scheme].update(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", block.group(2)))
    for name, colors in schemes.items():
        for ink in ("ink", "soft", "accent", "true"):
            for paper in ("paper", "card"):
                assert contrast(colors[ink], colors[paper]) >= 4.5, (name, ink, paper)
        assert contrast(colors["warn"], colors["warn-paper"]) >= 4.5, name


def test_a_page_states_price_adjacency_trust_error_and_limits(curve):
    page, _ = read(curve)
    text = page.text
    assert "epsilon = 0.5" in text
    assert curve.adjacency.words in text
    assert curve.provenance.assumption in text
    assert curve.provenance.release_id in text
    assert f"ogive {ogive.__version__}" in text
    assert "4,000 records" in text
    assert "What is not protected" in text
    assert "1.65 times" in text  # e^0.5
    assert "Not private" not in text
    assert "percentage points" in text


def test_numbers_on_the_page_are_those_of_the_curve(curve):
    page, source = read(curve)
    body = re.findall(r"<tr><th scope=\"row\"[^>]*>(.*?)</th><td[^>]*>(.*?)</td><td[^>]*>(.*?)</td></tr>", source)
    rows = {first: (second, third) for first, second, third in body}
    low, high = (ends[PROBABILITIES.index(0.5)] for ends in curve.quantile_interval(PROBABILITIES))
    ends = f"{low:g} to {high:g}" if low != high else f"{low:g}"
    assert rows["50 %"] == (f"{curve.quantile(0.5):g}", ends)
    assert float(rows["50"][0].removesuffix(" %")) == pytest.approx(100 * curve(50), abs=0.06)
    assert f"The median age in 4,000 records is {curve.quantile(0.5):g} (95 % CI " in page.text


def test_the_error_stated_reaches_from_the_smoothed_curve_to_every_curve_in_the_band(curve):
    page, _ = read(curve)
    band = curve.band(0.95, target="sample")
    stated = float(re.search(r"± ([\d.]+) percentage points from the true curve", page.text).group(1)) / 100
    worst = max(np.abs(end - curve.probabilities).max() for end in (band.low, band.high))
    assert worst <= stated <= 1.1 * worst
    assert stated >= band.half_width - 1e-9


def test_true_values_bring_a_banner_and_a_column(curve, truth):
    page, source = read(curve, truths=[truth])
    assert "Not private." in page.text
    assert "do not publish" in page.text
    assert source.count('<th scope="col">True</th>') == 2
    assert 'class="truth"' in source


def test_exact_releases_are_called_not_private_and_have_no_price(truth):
    page, _ = read(truth)
    assert "Not private." in page.text
    assert "must not be published" in page.text
    assert "Exact values have no privacy guarantee." in page.text
    assert "Method exact counts, without noise" in page.text
    assert "Records 4,000 (exact)" in page.text
    assert "noisy" not in page.text
    assert "epsilon" not in page.text


def test_releases_add_up_and_what_is_read_off_a_curve_is_free(curve):
    wanted = ogive.Quantiles("age", grid=GRID, method="tree_ls")
    quantiles = ogive.release(wanted, trust=ogive.Central({"age": AGES}), privacy=ogive.PureDP("0.25"))
    page, _ = read(curve, quantiles, quantiles.curve)
    total = re.search(r"Total price (.*?) Everything", page.text).group(1)
    assert total.startswith("epsilon = 0.75 for 2 releases")


def test_a_private_number_of_records_is_not_called_public():
    estimate = released(adjacency=ogive.Adjacency.ADD_OR_REMOVE)
    page, _ = read(estimate)
    assert "Records private" in page.text
    assert "The number of records is public" not in page.text
    assert "The median age is " in page.text


def test_a_curve_that_noise_swallowed_says_so(curve):
    private = released(adjacency=ogive.Adjacency.ADD_OR_REMOVE)
    nothing = dataclasses.replace(private, cumulative=np.zeros(GRID.bins), raw=np.full(GRID.bins, -3.0))
    assert not nothing.defined
    page, _ = read(nothing)
    assert "the curve carries no information" in page.text
    assert "the curve carries no information" not in read(curve)[0].text


def test_a_release_that_noise_made_useless_does_not_read_numbers_off_it():
    page, _ = read(released(privacy=ogive.PureDP("0.001")))
    assert "Too noisy to use." in page.text
    assert "Noise hides the distribution of age" in page.text
    assert "The median" not in page.text
    assert "almost as likely: at most 1.01 times more or less." in page.text
    assert "right in at most 51 % of cases." in page.text


def test_gaussian_releases_say_what_their_guarantee_implies():
    page, _ = read(released(privacy=ogive.ApproxDP(1, "1e-6")))
    assert "epsilon = 1, delta = 1e-06" in page.text
    page, _ = read(released(privacy=ogive.ZeroConcentratedDP("0.1")))
    assert "rho = 0.1" in page.text


def test_dates_are_dates_everywhere():
    page, source = read(released("joined", DAYS, ogive.Grid.integers("2023-01-01", "2023-04-30")))
    assert re.search(r"median joined in [\d,]+ records is 2023-0[123]-\d\d", page.text)
    assert "Feb" in source


def test_quantiles_that_were_found_by_bisection_need_no_curve():
    wanted = ogive.Quantiles("age", (0.25, 0.5), grid=GRID, method="bisection")
    estimate = ogive.release(wanted, trust=ogive.Central({"age": AGES}), privacy=ogive.PureDP(1))
    page, source = read(estimate)
    assert "Quantiles of age" in page.text
    assert 'class="chart' not in source
    with pytest.raises(ParameterError, match="no curve to draw"):
        chart_svg(estimate)


@pytest.mark.parametrize(
    "grid",
    [ogive.Grid.explicit([50]), ogive.Grid.linear(0, 100, bins=1), ogive.Grid.geometric(1, 1e6, bins=300)],
    ids=["one explicit threshold", "one bin", "geometric"],
)
def test_unusual_grids_make_a_page(grid):
    page, _ = read(released(grid=grid))
    assert "Distribution of age" in page.text


def test_what_cannot_be_reported_is_refused(curve, truth):
    with pytest.raises(ParameterError, match="at least one estimate"):
        render_report([], title="x")
    with pytest.raises(ParameterError, match="never released"):
        render_report([dataclasses.replace(curve, provenance=None)], title="x")
    with pytest.raises(ParameterError, match="one entry for each of 1"):
        render_report([curve], title="x", truths=[truth, truth])
    with pytest.raises(ParameterError, match="names must have one entry for each of 1"):
        render_report([curve], title="x", names=[])
    with pytest.raises(ParameterError, match="exact curve on the same thresholds"):
        render_report([curve], title="x", truths=[curve])
    with pytest.raises(ParameterError, match="got str"):
        render_report(["curve"], title="x")


def test_a_report_is_written_whole_or_not_at_all(curve, tmp_path):
    path = write_report([curve], tmp_path / "report.html", title="Ages")
    assert path.read_text(encoding="utf-8") == render_report([curve], title="Ages")
    with pytest.raises(ParameterError, match="does not exist"):
        write_report([curve], tmp_path / "nowhere" / "report.html", title="Ages")
    with pytest.raises(ParameterError):
        write_report([dataclasses.replace(curve, provenance=None)], path, title="Ages")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]
    Page(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("low", [0, -110])
def test_a_page_has_the_digits_of_the_summary_and_no_more(low):
    curve = released(grid=ogive.Grid.linear(low, low + 110, bins=330), values=AGES if low == 0 else -AGES)
    page, _ = read(curve)
    texts = re.findall(r"[−-]?\d+(?:\.\d+)?", re.search(r"The median age .*? 90th percentile [−\d.]+\d", page.text)[0])
    numbers = [text for text in texts if "." in text]
    assert len(numbers) >= 4
    assert {len(number.partition(".")[2]) for number in numbers} == {1}
    summary = re.search(r"25% at (\S+),", str(curve))[1]
    assert f"25 % {summary.replace('-', '−')} " in page.text
