"""Cells as people have them mean one thing, whoever reads the column and whatever it is read for.

Blanks around a text do not matter. Words and numbers that were named say that a value is missing.
"""

import datetime
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from helpers.engines import ENGINES, address
from helpers.scope import is_everything

from ogive import Adjacency, Clear, DataError, ParameterError, PureDP, SecAgg, Session, Simulation, release
from ogive.columns import Categories, Label, Listed, Membership
from ogive.columns.predicates import predicate
from ogive.local.values import numbers_of
from ogive.records import Records
from ogive.records.cells import without_named
from ogive.records.missing_words import MissingWords
from ogive.statistics import (
    Count,
    Crosstab,
    Describe,
    Ecdf,
    GroupAuc,
    Grouped,
    Histogram,
    HosmerLemeshow,
    Proportion,
    Roc,
    Subset,
)

N = 60
CLEAN = {
    "age": np.arange(N) % 50 + 20.0,
    "risk": (np.arange(N) * 7 % N) / N,
    "died": np.where(np.arange(N) % 3 == 0, "yes", "no"),
    "ward": np.where(np.arange(N) % 4 < 2, "A", "B b"),
}
WIDTHS = {"died": 5, "ward": 8}
"""Of the columns of text, as programs with columns of a fixed width write them."""
PADDED = {
    name: [f"{cell:<{WIDTHS[name]}}" for cell in column] if name in WIDTHS else column for name, column in CLEAN.items()
}
LEADING = {name: [f"\t {cell}" for cell in column] if name in WIDTHS else column for name, column in CLEAN.items()}

MARKED = {
    **CLEAN,
    "died": np.where(np.arange(N) % 5 == 1, "Refused ", CLEAN["died"]),
    "code": np.where(np.arange(N) % 7 == 2, -9, np.arange(N) % 3),
}
KNOWN = {
    **CLEAN,
    "died": [None if number % 5 == 1 else cell for number, cell in enumerate(CLEAN["died"].tolist())],
    "code": [None if number % 7 == 2 else number % 3 for number in range(N)],
}
NAMED = ["refused", -9]
TABLES = {"none": CLEAN, "after": PADDED, "before": LEADING, "marked": MARKED, "known": KNOWN}

AGE = {"bounds": (0, 120), "bins": 12}
CLASSES = {"positive": "yes", "negative": "no"}
WARDS = ("A", "B b")
STATISTICS = {
    "proportion": Proportion("died", positive="yes"),
    "proportion of two": Proportion("died", positive="yes", negative="no"),
    "proportion of several": Proportion("ward", positive=("B b", "C")),
    "count": Count("died", among="yes"),
    "histogram": Histogram("died", values=("yes", "no")),
    "crosstab": Crosstab("died", "ward", rows=("yes", "no"), columns=WARDS),
    "describe": Describe(("age", "died", "ward"), bounds={"age": (0, 120)}, values={"died": "yes", "ward": WARDS}),
    "described groups": Describe(
        ("age", "died"), bounds={"age": (0, 120)}, values={"died": "yes"}, by="ward", groups=WARDS
    ),
    "groups": Grouped(Ecdf("age", **AGE), "ward", WARDS),
    "classes": Roc("risk", "died", (0, 1), bins=16, **CLASSES),
    "calibration": HosmerLemeshow("risk", "died", bins=16, groups=4, **CLASSES),
    "areas of groups": GroupAuc("risk", "died", "ward", (0, 1), bins=16, group_values=WARDS, **CLASSES),
    "condition": Subset(Ecdf("age", **AGE), "died == 'yes'"),
    "condition not": Subset(Ecdf("age", **AGE), "died != 'yes'"),
    "condition in": Subset(Ecdf("age", **AGE), "ward in ('B b', 'C') and not died == 'no'"),
}


def comma_file(table, folder, name):
    path = folder / f"{name}.csv"
    pyarrow.csv.write_csv(pa.table(table), path, pyarrow.csv.WriteOptions(quoting_style="needed"))
    return path


def parquet_file(table, folder, name):
    pyarrow.parquet.write_table(pa.table(table), folder / f"{name}.parquet")
    return folder / f"{name}.parquet"


SOURCES = {
    "dictionary": lambda table, *_: table,
    "pandas": lambda table, *_: pd.DataFrame(table),
    "pandas categories": lambda table, *_: pd.DataFrame(table).astype({"died": "category", "ward": "category"}),
    "polars": lambda table, *_: pl.DataFrame(table),
    "arrow": lambda table, *_: pa.table(table),
    "csv": comma_file,
    "parquet": parquet_file,
    **{
        engine: lambda table, folder, name, engine=engine: address(engine, pa.table(table), folder, name)
        for engine in ENGINES
    },
}


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Any of the tables in any form."""
    made = {}

    def of(source, padding):
        if (source, padding) not in made:
            folder = tmp_path_factory.mktemp("cells")
            made[source, padding] = SOURCES[source](TABLES[padding], folder, f"visits_{padding}")
        return made[source, padding]

    of.folder = tmp_path_factory.mktemp("more")

    return of


def said(statistic, table, adjacency=Adjacency.REPLACE, **options):
    return bare(release(statistic, trust=Clear(table, **options), adjacency=adjacency).to_dict())


def bare(value):
    """What was found, without when it was."""
    if isinstance(value, dict):
        return {name: bare(each) for name, each in value.items() if name != "provenance"}
    return [bare(each) for each in value] if isinstance(value, list) else value


@pytest.mark.one_in(11)  # an odd number, so that each kind of padding is met
@pytest.mark.parametrize("padding", ["after", "before"])
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_text_with_blanks_is_the_text(source, name, padding, records):
    statistic = STATISTICS[name]
    expected = said(statistic, records("dictionary", "none"))
    assert said(statistic, records(source, padding)) == expected


@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_sees_both_texts(name):
    """The control: it says something else of records that have the other text."""
    other = {**CLEAN, "died": np.roll(CLEAN["died"], 1), "ward": np.roll(CLEAN["ward"], 1)}
    other["died"][:9] = other["died"][0]
    other["ward"][:11] = "A"
    assert said(STATISTICS[name], CLEAN) != said(STATISTICS[name], other)


LACKING = {
    "proportion": Proportion("died", positive="yes", missing="no"),
    "proportion of two": Proportion("died", positive="yes", negative="no", missing="no"),
    "proportion of a number": Proportion("code", positive=1, missing="drop"),
    "proportion of numbers": Proportion("code", positive=1, negative=(0, 2), missing="drop"),
    "count of a number": Count("code", among=(1, 2)),
    "histogram": Histogram("died", values=("yes", "no"), missing="count"),
    "histogram of a number": Histogram("code", values=(0, 1, 2), missing="count"),
    "crosstab": Crosstab("died", "code", rows=("yes", "no"), columns=(0, 1), other="count", missing="count"),
    "described": Describe(
        ("age", "code"), bounds={"age": (0, 120)}, values={"code": (0, 1, 2)}, missing={"code": "count"}
    ),
    "groups": Subset(Grouped(Ecdf("age", **AGE), "died", ("yes", "no")), "died is not missing"),
    "classes": Subset(Roc("risk", "died", (0, 1), bins=16, **CLASSES), "died is not missing"),
    "condition": Subset(Ecdf("age", **AGE), "died != 'yes'"),
    "condition on a number": Subset(Ecdf("age", **AGE), "code < 1"),
    "missing": Subset(Ecdf("age", **AGE), "died is missing or code is missing"),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", LACKING)
@pytest.mark.parametrize("source", SOURCES)
def test_what_was_named_is_missing(source, name, records):
    adjacency = Adjacency.ADD_OR_REMOVE
    expected = said(LACKING[name], pa.table(KNOWN), adjacency=adjacency)
    found = said(LACKING[name], records(source, "marked"), na_values=NAMED, adjacency=adjacency)
    assert found == expected


ROWS = 3
OF_PERSONS = {
    "age": np.repeat(CLEAN["age"], ROWS),
    "who": [f"P{number}" for number in range(N) for _ in range(ROWS)],
}
BLANKS = ("", " ", "\t ")
"""Around the identifier in the rows of a person, after and before it."""
WRITTEN = {
    **OF_PERSONS,
    "who": [f"{BLANKS[row % 3]}{name}{BLANKS[row % 2]}" for row, name in enumerate(OF_PERSONS["who"])],
}
NOBODY = {
    "age": np.append(OF_PERSONS["age"], np.full(40, 119.0)),
    "who": [*OF_PERSONS["who"], *["NA ", "n/a", "-9.0", "NA"] * 10],
}
TABLES |= {"persons": OF_PERSONS, "written": WRITTEN, "nobody": NOBODY}
HISTOGRAM = Ecdf("age", **AGE)
NAMES = {"na_values": ["NA", "N/A", "-9"]}


@pytest.mark.parametrize("source", [name for name in SOURCES if name != "pandas categories"])
def test_blanks_make_no_other_person_and_words_for_missing_values_none(source, records):
    expected = said(HISTOGRAM, records("dictionary", "persons"), person="who")
    assert said(HISTOGRAM, records(source, "written"), person="who") == expected
    nobody = records(source, "nobody")
    # in `make test` the slowest sources have no session; in the others it is told the names, too
    has_session = is_everything() or source not in ("postgresql", "spark")
    for options in ({},) if has_session and not is_everything() else ({}, NAMES):
        with pytest.raises(DataError, match="person column 'who' has missing values") as refused:
            said(HISTOGRAM, nobody, person="who", **options)
        assert "where='who is not missing'" in str(refused.value)
    known = Subset(HISTOGRAM, "who is not missing")
    assert said(known, nobody, person="who", **NAMES) == said(known, records("dictionary", "persons"), person="who")
    if not has_session:
        return
    with Session(nobody, limit=PureDP(1), person="who", **NAMES) as session:
        with pytest.raises(DataError, match="has missing values"):
            session.release(HISTOGRAM, privacy=PureDP("0.5"))
        assert session.spent is None
        session.release(known, privacy=PureDP("0.5"))
        assert session.spent == PureDP("0.5")


SPACES = "\u0085\u00a0\u1680\u2007\u200b\u2028\u202f\u3000\ufeff"


@pytest.mark.parametrize("source", SOURCES)
def test_blanks_of_unicode_around_a_text_are_blanks_everywhere(source, records):
    """The number of persons, which is public, depends on no other notion."""
    around = [*SPACES, f"{SPACES} \v\f"]
    table = {
        "age": np.full(4 * len(around), 30.0),
        "who": [text for each in around for text in (f"{each}fiv", f"fiv{each}", f"{each}a b{each}", "a b")],
        "died": [text for each in around for text in (f"{each}vif{each}", "vif", f"v{each}if", f"{each}NA")],
        "ward": ["A", "B"] * 2 * len(around),
    }
    made = SOURCES[source](table, records.folder, f"space_{source.replace(' ', '_')}")
    assert Records.of(made).bounded("who").count() == 2
    assert release(HISTOGRAM, trust=Clear(made, person="who")).total == 2
    trust = Clear(made, na_values="NA")
    for asked in ("vif", "\u3000vif\u00a0"):
        assert release(Count("died", among=asked, missing="no"), trust=trust).value == 2 * len(around)
        assert release(Subset(HISTOGRAM, f"died == '{asked}'"), trust=trust).raw[-1] == 2 * len(around)
    assert release(Subset(HISTOGRAM, "died is missing"), trust=trust).raw[-1] == len(around)


@pytest.mark.parametrize("source", ["dictionary", "pandas", "polars", "arrow", "csv", "parquet"])
@pytest.mark.parametrize("blanks", ["{} ", " {}", "\u00a0{}\u3000"])
def test_blanks_around_numbers_and_dates_in_text_do_not_matter(source, blanks, records):
    days = ["2024-03-01", "2024-03-05", "NA"]
    table = {
        name: [blanks.format(cell) if row % 3 else cell for row, cell in enumerate(cells * 8_000)]
        for name, cells in {
            "day": days,
            "time": ["2024-03-01T08:00:00", "2024-03-05 00:30:00+00:00", "."],
            "x": ["5", "-1e1", "?"],
        }.items()
    } | {"died": ["yes"] * 24_000, "ward": ["A"] * 24_000}
    made = SOURCES[source](table, records.folder, f"padded_{source}_{len(blanks)}_{ord(blanks[0])}")
    options = {"trust": Clear(made), "adjacency": Adjacency.ADD_OR_REMOVE}
    for name in ("day", "time"):
        asked = Ecdf(name, bounds=("2024-03-01", "2024-03-04"), missing="drop")
        assert release(asked, **options).raw[[0, -2, -1]].tolist() == [8_000, 8_000, 16_000]
    assert release(Ecdf("x", bounds=(-10, 10), bins=2, missing="drop"), **options).raw.tolist() == [8_000, 16_000]


HUGE = {"texts": ["5", "1e400", "-1e400"], "floats": [5.0, np.inf, -np.inf]}


@pytest.mark.parametrize(
    ("source", "name"),
    [(source, name) for source in ("dictionary", "csv", "parquet") for name in HUGE] + [("duckdb", "floats")],
)
def test_numbers_too_large_for_a_float_are_outside_like_any_other(source, name, records):
    cells = HUGE[name]
    table = {"x": cells, "died": ["yes", "no", "no"], "ward": ["A"] * 3}
    made = SOURCES[source](table, records.folder, f"huge_{source}_{name}")
    assert release(Ecdf("x", bounds=(0, 10), bins=2), trust=Clear(made)).raw.tolist() == [2, 3]
    asked = Roc("x", "died", (0, 10), bins=16, **CLASSES)
    with pytest.raises(DataError, match="has values outside 0 to 10"):
        release(asked, trust=Clear(made))


@pytest.mark.parametrize("source", ["dictionary", "csv"])
def test_blanks_hide_no_offset(source, records):
    table = {"time": ["2024-03-01T08:00:00+02:00 ", "2024-03-05T08:00:00+02:00 "], "y": [1, 2]}
    made = SOURCES[source](table, records.folder, f"offset_{source}")
    with pytest.raises(DataError, match="holds times with an offset from UTC"):
        release(Ecdf("time", bounds=("2024-03-01", "2024-03-04")), trust=Clear(made))


def test_simulated_parties_leave_out_whoever_is_missing():
    table = {"age": [30.0, 40.0, 119.0, 119.0], "who": ["a", "b", "NA", "NA"]}
    trust = Simulation(SecAgg, parties=2).over(Records.of(table, na_values="NA").bounded("who"))
    found = release(Subset(HISTOGRAM, "who is not missing"), trust=trust, privacy=PureDP(50))
    assert found.raw[-1] < 3


@pytest.mark.parametrize(
    ("column", "named"),
    [
        (pa.array([2**53 + 1, 5]), 2**53),
        (pa.array([True, False]), 1),
        (pa.array([1.5, 2.5]), "2"),
        (pa.array([1, 2], pa.int8()), 10**400),
        (pa.array(["1", "2"]), 10**400),
        (pa.array([1, 2]).cast(pa.decimal128(21, 2)), "x"),
        (pa.array([1, 2], pa.date32()), "0001-01-01"),
        (pa.array([1, 2], pa.timestamp("us")).dictionary_encode(), "2020-01-01"),
    ],
    ids=str,
)
def test_what_was_not_named_stays(column, named):
    assert without_named(column, MissingWords.of(named)).null_count == 0


@pytest.mark.parametrize(
    ("column", "named"),
    [
        (pa.array([2**53 + 1, 5]), 2**53 + 1),
        (pa.array([-9, 5], pa.int8()), "-9.0"),
        (pa.array([-9.0, 5]), "-9"),
        (pa.array([-9, 5]).cast(pa.decimal128(21, 2)), -9),
        (pa.array([" Refused", "5"]).dictionary_encode(), "refused"),
        (pa.array(["007.0", "5"]), "007.0"),
        (pa.array(["-0.0", "5"]), "-0.0"),
        (pa.array(["1000000000000000000.0", "5"]), "1000000000000000000.0"),
        (pa.array(["7", "5"]), "007.0"),
        (pa.array([18262, 5], pa.date32()), "2020-01-01"),
        (pa.array([18262, 5], pa.date32()).dictionary_encode(), "2020-01-01"),
        (pa.chunked_array([[-9], [5]]), -9),
    ],
    ids=str,
)
def test_what_was_named_is_missing_in_every_type(column, named):
    assert without_named(column, MissingWords.of(named)).is_null().to_pylist() == [True, False]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("word", ["007.0", "-0.0", "1000000000000000000.0", "9.0", "9"])
@pytest.mark.parametrize("source", ["dictionary", "parquet", *ENGINES])
def test_a_named_word_with_a_fraction_of_zeros_is_found_among_texts(source, word, tmp_path):
    table = SOURCES[source]({"code": [word, "b", "b", word]}, tmp_path, f"zeros_{word.translate({46: 95, 45: 95})}")
    adjacency = Adjacency.ADD_OR_REMOVE
    dropped = Histogram("code", values=("a", "b"), missing="drop")
    found = release(dropped, trust=Clear(table, na_values=word), adjacency=adjacency)
    assert list(found.counts) == [0, 2]
    with pytest.raises(DataError, match="has a value that was not declared"):
        release(dropped, trust=Clear(table), adjacency=adjacency)


@pytest.mark.parametrize("where", ["c == 9", "c == 9.0", "c in (1, 9)", "not c == 9", "half == 1.5"])
@pytest.mark.parametrize("source", ["dictionary", "csv", "duckdb"])
def test_a_condition_is_not_equal_to_a_number_that_was_named(source, where, tmp_path):
    table = SOURCES[source]({"c": [1, 9, 9], "half": [0.5, 1.5, 2.5]}, tmp_path, "named_numbers")
    trust = Clear(table, na_values=[9, "1.5"])
    with pytest.raises(DataError, match=r"means a missing value as was said with na_values=.*write .* is missing"):
        release(Subset(Histogram("half", values=(0.5, 2.5)), where), trust=trust)
    found = release(Subset(Histogram("half", values=(0.5, 2.5)), "c != 9 and half < 1.5"), trust=trust)
    assert list(found.counts) == [1, 0]


def test_a_number_that_was_declared_and_named_is_a_value():
    found = release(Histogram("x", values=(1, 9)), trust=Clear({"x": [1, 9, 9]}, na_values=9))
    assert list(found.counts) == [1, 2]


def test_whoever_is_missing_is_one_person_where_words_are_texts():
    """The control: one row of those without an identifier would be kept, as of one person."""
    table = {**NOBODY, "who": [each if each.startswith("P") else "nobody" for each in NOBODY["who"]]}
    assert release(HISTOGRAM, trust=Clear(table, person="who")).total == N + 1


MIXED = {
    **CLEAN,
    **{
        name: [f"{BLANKS[row % 3]}{cell}{BLANKS[row % 2]}" for row, cell in enumerate(CLEAN[name].tolist())]
        for name in WIDTHS
    },
}
"""Blanks around some cells only."""
TABLES |= {"mixed": MIXED}
SPELLED = ("yes  ", "\tno")
SPELLED_WARDS = ("A  ", " B b")
DECLARED = {
    "proportion": (Proportion("died", positive="yes "), Proportion("died", positive="yes")),
    "proportion of two": (
        Proportion("died", positive=" yes", negative="no "),
        Proportion("died", positive="yes", negative="no"),
    ),
    "count": (Count("died", among="yes  "), Count("died", among="yes")),
    "histogram": (Histogram("died", values=SPELLED), Histogram("died", values=("yes", "no"))),
    "crosstab": (
        Crosstab("died", "ward", rows=SPELLED, columns=SPELLED_WARDS),
        Crosstab("died", "ward", rows=("yes", "no"), columns=WARDS),
    ),
    "groups": (Grouped(Ecdf("age", **AGE), "ward", SPELLED_WARDS), Grouped(Ecdf("age", **AGE), "ward", WARDS)),
    "classes": (
        Roc("risk", "died", (0, 1), bins=16, positive="yes ", negative=" no"),
        Roc("risk", "died", (0, 1), bins=16, **CLASSES),
    ),
    "condition": (Subset(Count("age"), "died == 'yes  '"), Subset(Count("age"), "died == 'yes'")),
    "condition not": (Subset(Count("age"), "died != 'yes  '"), Subset(Count("age"), "died != 'yes'")),
    "condition in": (Subset(Count("age"), "ward in (' B b', 'x ')"), Subset(Count("age"), "ward in ('B b', 'x')")),
    "condition by values": (Subset(Count("age"), {"ward": "A "}), Subset(Count("age"), {"ward": "A"})),
}


def numbers(value):
    """The numbers of an answer, without the words that it was asked in."""
    if isinstance(value, dict):
        return [numbers(each) for each in value.values()]
    return [numbers(each) for each in value] if isinstance(value, list) else 0 if isinstance(value, str) else value


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", DECLARED)
@pytest.mark.parametrize("source", SOURCES)
def test_blanks_around_a_declared_value_do_not_matter(source, name, records):
    spelled, clean = DECLARED[name]
    assert numbers(said(spelled, records(source, "mixed"))) == numbers(said(clean, CLEAN))


def test_a_question_keeps_the_spelling_of_its_values():
    for positive in ("yes", "yes "):
        assert Proportion("died", positive=positive).membership.to_dict()["values"] == [positive]
    assert str(predicate("died == 'yes '")) == "died == 'yes '"


@pytest.mark.parametrize(
    "declare",
    [
        lambda: Histogram("died", values=("Y", "Y ")),
        lambda: Crosstab("died", "ward", rows=("Y", "\tY"), columns=WARDS),
        lambda: Grouped(Ecdf("age", **AGE), "ward", ("Y ", "N", "Y")),
        lambda: Roc("risk", "died", (0, 1), positive="Y", negative="Y "),
        lambda: Categories("died", ("Y", " Y")),
    ],
)
def test_values_that_differ_in_blanks_alone_are_refused(declare):
    with pytest.raises(ParameterError, match="blanks around a text do not matter"):
        declare()


@pytest.mark.parametrize("source", ["dictionary", "csv", "duckdb"])
def test_blanks_around_a_declared_truth_value_or_date_do_not_matter(source, tmp_path):
    days = [datetime.date(2024, 1, 1 + day) for day in (0, 1, 0)]
    table = SOURCES[source](pa.table({"ill": [True, False, True], "day": days}), tmp_path, "spelled")
    for asked in (
        Count("ill", among=" TRUE"),
        Subset(Count("ill"), "ill == 'TRUE '"),
        Subset(Count("ill"), "day == ' 2024-01-01'"),
    ):
        assert release(asked, trust=Clear(table)).value == 2


OPEN_CLASSES = {
    "classes": lambda classes: Roc("risk", "died", (0, 1), bins=16, **classes),
    "calibration": lambda classes: HosmerLemeshow("risk", "died", bins=16, groups=4, **classes),
    "areas of groups": lambda classes: GroupAuc("risk", "died", "ward", (0, 1), bins=16, group_values=WARDS, **classes),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", OPEN_CLASSES)
@pytest.mark.parametrize("source", SOURCES)
def test_blanks_make_no_third_class(source, name, records):
    asked = OPEN_CLASSES[name]
    assert said(asked({"positive": "yes"}), records(source, "mixed")) == said(asked({"positive": "yes"}), CLEAN)


@pytest.mark.parametrize("source", SOURCES)
def test_a_value_that_is_neither_is_refused_where_both_are_named(source, records):
    table = records(source, "none")
    assert release(Proportion("ward", positive="A"), trust=Clear(table)).value == 0.5
    with pytest.raises(DataError, match="column 'ward' has a value that is neither positive nor negative"):
        release(Proportion("ward", positive="A", negative="b b"), trust=Clear(table))


BOTH = [
    ["yes", "yes"],
    ["yes", ("no", "yes")],
    [True, 1],
    [1, True],
    [1, ("no", "1")],
    [("yes", "1"), 1],
    ["true", True],
    [True, "TRUE"],
    ["yes", "yes "],
]


@pytest.mark.parametrize(("positive", "negative"), BOTH)
def test_a_value_is_not_named_as_both(positive, negative):
    with pytest.raises(ParameterError, match="cannot both count and not count"):
        Proportion("died", positive=positive, negative=negative)


def test_the_value_that_is_named_twice_is_told():
    with pytest.raises(ParameterError, match=r"^'yes ' of column 'died' cannot both"):
        Proportion("died", positive=("maybe", "yes "), negative=("no", "yes"))


def test_long_lists_of_a_stranger_are_compared_at_once():
    positive, negative = (tuple(f"{name} {number}" for number in range(50_000)) for name in "ab")
    begun = time.process_time()
    Membership("died", positive, "no", negative)
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("spelling", ["FALSE", "false", False])
def test_truth_values_may_be_named_by_any_of_their_spellings(spelling):
    asked = Proportion("died", positive="TRUE", negative=spelling)
    assert release(asked, trust=Clear({"died": [True, False, False, True]})).value == 0.5


def test_kinds_of_both_lists_are_looked_at():
    for positive, negative, holds in ((1, "0", "not to count are texts"), ("1", 0, "to count are texts")):
        with pytest.raises(DataError, match=f"'died' holds numbers, but the values {holds}"):
            release(Proportion("died", positive=positive, negative=negative), trust=Clear({"died": [1, 0]}))


def test_owners_are_asked_about_both():
    asked = Proportion("died", positive="yes", negative=("no", 0), missing="no").membership
    assert Membership.from_dict(asked.to_dict()) == asked
    assert numbers_of(asked, ["yes", "no ", 0, None]).tolist() == [1, 0, 0, 0]
    spelled = Proportion("died", positive=" yes", negative="no ").membership
    assert numbers_of(spelled, ["yes", "yes ", " no"]).tolist() == [1, 1, 0]
    assert numbers_of(Categories("died", ("yes ", " no")), ["no", "yes", "no  "]).tolist() == [1, 0, 1]
    assert numbers_of(Label("died", ("yes ",), (" no",)), ["no", "yes", "no  "]).tolist() == [0, 1, 0]
    assert numbers_of(Listed("died", ("yes ", " no")), ["no", "yes", "no  "]).tolist() == [1, 0, 1]
    assert numbers_of(Proportion("died", positive="1", negative=0).membership, ["1", "0", 0]).tolist() == [1, 0, 0]
    for other in ("n", 2, True, [1]):
        with pytest.raises(DataError, match="has a value that is neither positive nor negative"):
            numbers_of(asked, ["yes", other])
    assert numbers_of(Proportion("died", positive="yes").membership, ["yes", "n", 2]).tolist() == [1, 0, 0]


@pytest.mark.parametrize("dtype", [float, int, "U5", bool])
def test_what_is_masked_is_missing(dtype):
    masked = np.ma.masked_array(np.array([1, 0, 1, 1]).astype(dtype), mask=[False, False, True, True])
    positive = masked.data[0].item()
    asked = Proportion("x", positive=positive, missing="drop")
    found = release(asked, trust=Clear({"x": masked}), adjacency=Adjacency.ADD_OR_REMOVE)
    assert (found.value, found.records) == (0.5, 2)
    with pytest.raises(DataError, match="has missing values"):
        release(Histogram("x", values=(positive,), other="count"), trust=Clear({"x": masked}))
    hidden = np.ma.masked_array(masked.data, mask=False)
    assert release(Proportion("x", positive=positive), trust=Clear({"x": hidden})).value == 0.75


def test_series_with_other_indexes_are_not_paired_by_their_places():
    scores, labels = pd.Series([0.1, 0.9, 0.2, 0.8]), pd.Series([0, 1, 0, 1])
    asked = Roc("s", "y", (0, 1), bins=4)
    with pytest.raises(DataError, match="columns 's' and 'y' are series of pandas with different indexes"):
        release(asked, trust=Clear({"s": scores, "y": labels[::-1]}))
    for same in ({"s": scores[::-1], "y": labels[::-1]}, {"s": scores, "y": labels.to_numpy()}):
        assert release(asked, trust=Clear(same)).auc == 1


@pytest.mark.parametrize(
    ("columns", "name"),
    [([0, 1], "0"), ([1.5, 2.5], "1.5"), (pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]), "('a', 'x')")],
    ids=["numbers", "fractions", "levels"],
)
def test_columns_whose_names_are_no_texts_are_named_as_they_are_shown(columns, name):
    frame = pd.DataFrame(np.c_[CLEAN["age"], np.arange(N)], columns=columns)
    statistic = Ecdf(name, **AGE)
    assert said(statistic, frame) == said(statistic, {name: CLEAN["age"]})
