"""A report as a real browser shows it: on a desk, on a phone, in the dark and on paper."""

import io
import re
from dataclasses import dataclass

import numpy as np
import pytest
from helpers.chromium import Page
from helpers.few_simulations import simulate_little

import ogive
from ogive.ledger import Ledger
from ogive.noise import KeyedSource
from ogive.pate import ConfidentGNMax, LargestMargins, label, sanitize, simulated_votes
from ogive.privacy import Adjacency, PrivacyUnit, PureDP
from ogive.report import write_report
from ogive.statistics.bounds.statistic import Bounds
from ogive.statistics.calibration.statistic import HosmerLemeshow
from ogive.statistics.roc.statistic import Roc

WHITE, ACCENT, TRUE = (255, 255, 255), (31, 95, 174), (179, 71, 10)
DARK_PAPER, DARK_ACCENT, DARK_TRUE = (20, 24, 29), (125, 180, 255), (255, 171, 107)
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1100}
# A4 less margins of 16 mm, in CSS px
SHEET = {"width": round(178 / 25.4 * 96), "height": round(265 / 25.4 * 96)}

RNG = np.random.default_rng(21)
N = 4_000
RISK = np.clip(RNG.beta(1, 4, N), 0.001, 0.999)
LONG = "a_column_with_a_very_long_name_" * 4
DATA = {
    "age": RNG.integers(20, 90, N),
    "risk": RISK,
    "died": (RNG.random(N) < RISK).astype(int),
    "admitted": np.datetime64("2021-01-01") + RNG.integers(0, 900, N),
    "patient": np.arange(N) // 2,
    LONG: RNG.normal(5e6, 1e5, N),
}
WARDS = ("cardiology", "surgery", "the ward of infectious diseases", "other")
DATA["ward"] = np.random.default_rng(22).choice(WARDS, N)
DESCRIBED = ogive.Describe(("age", "died"), bounds={"age": (0, 110)}, values={"died": 1}, by="ward", groups=WARDS)
STATISTICS = (
    ogive.Ecdf("age", grid=ogive.Grid.integers(0, 110)),
    Roc("risk", "died", (0, 1), bins=128),
    HosmerLemeshow("risk", "died"),
    Bounds("age"),
    ogive.Boxplot("age", (0, 110), bins=64, by="died", groups=(0, 1)),
    DESCRIBED,
)

VOTES, _ = simulated_votes(40, 60, 3)
CONFIDENT = ConfidentGNMax(40, 20, 8)


@pytest.fixture(scope="module", autouse=True)
def few_simulations():
    """Bands of fewer simulations in `make test`: how wide they are is not looked at."""
    with pytest.MonkeyPatch.context() as patch:
        simulate_little(patch)
        yield


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """One of each kind, with the truth and a budget."""
    source, private, exact = KeyedSource(bytes(32)), [], []
    with Ledger.open() as books:
        account = books.account("patients", unit=PrivacyUnit(Adjacency.REPLACE), limit=PureDP(len(STATISTICS)))
        for statistic in STATISTICS:
            trust = ogive.Central(DATA)
            private.append(ogive.release(statistic, trust=trust, privacy=PureDP(1), ledger=account, source=source))
            exact.append(ogive.release(statistic, trust=ogive.Clear(DATA)))
        path = tmp_path_factory.mktemp("report") / "report.html"
        return write_report(private, path, title="A hospital", truths=exact, account=account)


@pytest.fixture(scope="module")
def awkward(tmp_path_factory):
    """Long names and numbers, dates, persons, several totals, labels, and releases that noise made useless."""
    source = KeyedSource(bytes(32))
    persons = ogive.Central(DATA, person="patient", max_rows_per_person=2)
    days = ogive.Grid.integers("2021-01-01", "2023-12-31")
    tiny, away = PureDP("0.001"), {"adjacency": Adjacency.ADD_OR_REMOVE, "source": source}
    estimates = [
        ogive.release(ogive.Ecdf(LONG, (0, 10**7)), trust=ogive.Central(DATA), privacy=PureDP("1/3"), source=source),
        ogive.release(ogive.Quantiles("admitted", grid=days), trust=persons, privacy=ogive.ApproxDP(1, "1e-7"), **away),
        *(ogive.release(statistic, trust=persons, privacy=tiny, **away) for statistic in STATISTICS),
        label(VOTES, CONFIDENT, target_delta="1e-5", source=source),
        label(VOTES, LargestMargins(4, keep=20), target_delta="1e-5", source=source),
    ]
    costs = [sanitize(VOTES, CONFIDENT, target_delta=1e-5, source=source)]
    path = tmp_path_factory.mktemp("awkward") / "report.html"
    return write_report(estimates, path, title="x" * 90, costs=costs)


@pytest.fixture(scope="module")
def shown(browser):
    """Open pages, each file once for each kind of screen, and close them after the last test: no test changes one."""
    pages = {}

    def show(path, **screen):
        place = path, *sorted(screen.items())
        if place not in pages:
            pages[place] = Page(browser, path, **screen)
        return pages[place]

    yield show
    for page in pages.values():
        page.close()


@dataclass(frozen=True)
class Picture:
    """How large a picture is, and how many of its pixels have each color."""

    width: int
    height: int
    colors: np.ndarray
    pixels: np.ndarray

    @property
    def area(self):
        return self.width * self.height


def pixels(png):
    """What a picture consists of."""
    image = pytest.importorskip("PIL.Image", reason="reading pictures takes pillow")
    with image.open(io.BytesIO(png)) as opened:
        width, height = opened.size
        found = opened.convert("RGB").getcolors(width * height)
    picture = Picture(width, height, np.array([color for _, color in found]), np.array([times for times, _ in found]))
    assert picture.pixels.sum() == picture.area
    return picture


def count(picture, color, tolerance=6):
    """How many pixels have a color."""
    near = np.abs(picture.colors - [round(part) for part in color]) <= tolerance
    return int(picture.pixels[near.all(axis=1)].sum())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_a_page_is_drawn_on_white_with_its_curves_and_bands(shown, report, screen):
    picture = pixels(shown(report, **screen).picture())
    assert picture.width == screen["width"]
    assert picture.height > 3 * picture.width
    assert count(picture, WHITE) > 0.6 * picture.area
    band = [255 - 0.22 * (255 - part) for part in ACCENT]
    for color, least in ((ACCENT, 2_000), (band, 5_000), (TRUE, 200), ((28, 33, 39), 5_000)):
        assert count(picture, color) > least, color
    assert count(picture, DARK_ACCENT) < 200


@pytest.mark.everything
def test_a_page_is_dark_where_the_reader_wants_it_dark(shown, report):
    picture = pixels(shown(report, dark=True, **DESK).picture())
    assert count(picture, DARK_PAPER) > 0.5 * picture.area
    assert count(picture, WHITE) < 0.001 * picture.area
    for color in (DARK_ACCENT, DARK_TRUE):
        assert count(picture, color) > 500, color


@pytest.mark.each_value
@pytest.mark.parametrize("which", ["report", "awkward"])
@pytest.mark.parametrize("width", [320, 360, 700, 1100])
def test_nothing_is_wider_than_the_screen(shown, request, which, width):
    page = shown(request.getfixturevalue(which), width=width)
    assert page.ask("document.documentElement.scrollWidth") <= width
    beyond = page.ask(f"""[...document.body.querySelectorAll('*')].filter(e => e.getClientRects().length)
        .filter(e => e.getBoundingClientRect().right > {width} + .5)
        .map(e => e.tagName + ': ' + e.textContent.slice(0, 60))""")
    assert beyond == []
    # what is too long for its column runs into the next one
    tight = page.ask("""[...document.querySelectorAll('td, th, .cards > section, dd, p, li')]
        .filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth).map(e => e.textContent.slice(0, 60))""")
    assert tight == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_described_groups_have_a_chart_of_each_variable(shown, report, dark):
    page = shown(report, dark=dark, **PHONE)
    found = page.ask("""[...document.querySelectorAll('svg.chart')].filter(s => s.getClientRects().length)
        .filter(s => s.querySelector('title').textContent.endsWith(' by ward'))
        .map(s => [s.querySelector('title').textContent, s.querySelectorAll('circle.dot').length,
            s.querySelectorAll('path.truth').length, getComputedStyle(s.querySelector('circle.dot')).fill])""")
    columns = 1 + len(WARDS)
    ink = "rgb(232, 235, 238)" if dark else "rgb(28, 33, 39)"
    names = ("Mean of age by ward", "Share of records with died = 1 by ward")
    assert found == [[name, columns, columns, ink] for name in names]


@pytest.mark.parametrize("width", [320, 390])
def test_the_card_of_a_notebook_scrolls_within_itself_and_not_with_the_page(shown, tmp_path, width):
    described = ogive.release(DESCRIBED, trust=ogive.Clear(DATA))
    head = '<!DOCTYPE html><meta name="viewport" content="width=device-width"><body>'
    path, bare = tmp_path / "card.html", tmp_path / "bare.html"
    path.write_text(head + described._repr_html_())
    bare.write_text(head + described._repr_html_().replace("overflow-x:auto", ""))
    assert shown(path, width=width).ask("document.documentElement.scrollWidth") <= width
    assert shown(bare, width=width).ask("document.documentElement.scrollWidth") > width


def test_on_a_phone_every_cell_of_a_wide_table_names_its_column(shown, report):
    cells = """[...document.querySelectorAll('table.stacks')].flatMap(t => {
        const heads = [...t.querySelectorAll('thead th')].map(e => JSON.stringify(e.textContent));
        return [...t.querySelectorAll('tbody tr')].flatMap(r => [...r.children]
            .map((e, i) => [heads[i], getComputedStyle(e, '::before').content]));
    })"""
    found = shown(report, **PHONE).ask(cells)
    assert len(found) > 50
    assert [pair for pair in found if pair[0] != pair[1]] == []
    assert {content for _, content in shown(report, **DESK).ask(cells)} == {"none"}


def test_on_a_phone_no_name_of_a_column_is_broken_within_a_word(shown, report):
    wraps = """[...document.querySelectorAll('table.stacks tbody :is(td, th)')]
        .map(e => getComputedStyle(e, '::before').overflowWrap)"""
    assert set(shown(report, **PHONE).ask(wraps)) == {"break-word"}


def test_a_page_that_is_too_wide_would_be_noticed(shown, report, tmp_path):
    wide = tmp_path / "wide.html"
    wide.write_text(report.read_text().replace("<main>", '<main><p style="width:500px">wide</p>', 1))
    assert shown(wide, **PHONE).ask("document.documentElement.scrollWidth") >= 500


@pytest.mark.parametrize("which", ["report", "awkward"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_labels_in_charts_neither_collide_nor_leave_and_are_large_enough(shown, request, which, screen):
    page = shown(request.getfixturevalue(which), **screen)
    found = page.ask("""[...document.querySelectorAll('svg.chart')].filter(s => s.getClientRects().length).map(s => {
        const frame = s.getBoundingClientRect(), scale = frame.width / s.viewBox.baseVal.width;
        const boxes = [...s.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
        const outside = boxes.filter(([t, b]) => b.left < frame.left - 1 || b.right > frame.right + 1
            || b.top < frame.top - 1 || b.bottom > frame.bottom + 1).map(([t, b]) => t);
        const collide = boxes.flatMap(([t, a], i) => boxes.slice(i + 1)
            .filter(([u, b]) => a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom)
            .map(([u, b]) => t + ' / ' + u));
        const size = boxes.length ? 13 * scale : 13;
        return {name: s.querySelector('title').textContent, outside, collide, size};
    })""")
    assert len(found) >= 4
    for chart in found:
        assert chart["outside"] == [], chart
        assert chart["collide"] == [], chart
        assert 10 <= chart["size"] <= 17, chart


def test_nothing_is_loaded_and_nothing_is_complained_about(shown, report):
    page = shown(report, **DESK)
    assert page.requests == [report.resolve().as_uri()]
    assert page.complaints == []


def test_the_policy_stops_what_somebody_smuggles_in(shown, report, tmp_path):
    smuggled = tmp_path / "smuggled.html"
    (tmp_path / "other.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    bait = '<img src="other.svg"><script>document.title="ran"</script>'
    smuggled.write_text(report.read_text().replace("<main>", f"<main>{bait}", 1))
    page = shown(smuggled, **DESK)
    assert page.ask("document.title") == "A hospital"
    assert page.ask("document.images[0].naturalWidth") == 0
    assert any("Content Security Policy" in text for text in page.complaints)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("which", ["report", "awkward"])
def test_paper_is_white_and_nothing_that_must_stay_whole_is_cut(shown, request, which):
    # the same width and height as a sheet between its margins, also when the reader's screen is dark
    page = shown(request.getfixturevalue(which), media="print", dark=True, **SHEET)
    whole = page.ask("""[...document.querySelectorAll('figure, table, .cards > section, .banner')]
        .filter(e => e.getClientRects().length)
        .map(e => [e.tagName, getComputedStyle(e).breakInside, e.getBoundingClientRect().height])""")
    assert len(whole) > 10
    assert all(breaks == "avoid" and height < SHEET["height"] for _, breaks, height in whole), whole
    picture = pixels(page.picture())
    assert count(picture, WHITE) > 0.8 * picture.area
    assert count(picture, (0, 0, 0), 60) > 5_000
    assert count(picture, DARK_PAPER, 2) < 0.02 * picture.area


def test_a_page_becomes_a_pdf_with_each_release_on_a_page_of_its_own(shown, report):
    pdf = shown(report, **DESK).paper()
    assert pdf.startswith(b"%PDF")
    sheets = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert len(STATISTICS) <= sheets <= 3 * len(STATISTICS)


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_a_screen_reader_finds_headings_charts_and_tables(shown, report, screen):
    nodes = [node for node in shown(report, **screen).accessible() if not node.get("ignored")]
    roles = [node["role"]["value"] for node in nodes]
    named = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes]
    charts = [name for role, name in named if role in ("image", "img")]
    assert (
        len(charts) == 1 + 1 + 3 + 2 + 1 + 2
    )  # budget, curve, ROC and its two small ones, calibration with differences, boxes, described
    assert all(charts)
    assert [name for role, name in named if role == "heading" and "hospital" in name] == ["A hospital"]
    assert ("heading", "What is not protected") in named
    assert roles.count("table") == shown(report, **screen).ask("document.querySelectorAll('table').length")
    assert roles.count("rowheader") > 20
    assert "Band" in " ".join(name for role, name in named if role in ("StaticText", "columnheader"))
