"""Tables of engines through sessions, with their addresses, fingerprints and refusals."""

import gc
import subprocess
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import postgres
from helpers.engines import ENGINES, address, fill_postgresql
from helpers.scope import is_everything

import ogive
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import DataError, LedgerError, ParameterError, UnsupportedError
from ogive.records import Records

ibis = pytest.importorskip("ibis", reason="ibis is not installed (pip install 'ogive[engines]')")


def people(rows=500, seed=3):
    random = np.random.default_rng(seed)
    return pa.table({
        "age": pa.array(random.integers(18, 95, rows).tolist(), pa.int64()),
        "score": random.random(rows),
        "sick": random.random(rows) < 0.3,
        "ward": random.choice(["A", "B"], rows).tolist(),
    })  # fmt: skip


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


def questions(session):
    one = ogive.PureDP(1)
    return [
        lambda: session.ecdf("age", bounds=(0, 120), grid="integers", privacy=one),
        lambda: session.roc("score", "sick", positive=True, negative=False, bounds=(0, 1), bins=64, privacy=one),
        lambda: session.hosmer_lemeshow("score", "sick", positive=True, negative=False, groups=4, privacy=one),
        lambda: session.quantiles("age", bounds=(0, 120), grid="integers", privacy=one, where="ward == 'A'"),
        lambda: session.mean("age", bounds=(0, 120), by="ward", groups=("A", "B"), privacy=one),
        lambda: session.histogram("ward", values=("A", "B"), privacy=one),
        lambda: session.describe(["age", "ward"], bounds={"age": (0, 120)}, values={"ward": ("A", "B")}, privacy=one),
        lambda: session.count("sick", among=True, privacy=one),
        lambda: session.crosstab("ward", "sick", rows=("A", "B"), columns=(False, True), privacy=one),
    ]


def without_provenance(plain):
    if isinstance(plain, dict):
        return {name: without_provenance(each) for name, each in plain.items() if name != "provenance"}
    return [without_provenance(each) for each in plain] if isinstance(plain, list) else plain


def test_a_session_on_an_engine_finds_what_one_on_a_file_finds(engine, tmp_path):
    table = people()
    pair = [
        ogive.Session(data, name="people", trust="clear")
        for data in (table, address(engine, table, tmp_path, "people"))
    ]
    both = list(zip(*map(questions, pair), strict=True))
    assert len(both) == 9
    # in `make test` each engine is asked every third question
    for expected, here in both if is_everything() else both[ENGINES.index(engine) :: len(ENGINES)]:
        assert without_provenance(expected().to_dict()) == without_provenance(here().to_dict())


def test_a_release_from_an_engine_is_charged_once_and_kept(engine, tmp_path):
    url = address(engine, people(), tmp_path, "people")
    with ogive.Session(url, limit=ogive.PureDP(2), ledger=tmp_path / "books.db") as session:
        assert session.name == "people"
        first = session.ecdf("age", bounds=(0, 120), grid="integers", privacy=ogive.PureDP(1))
    with ogive.Session(url, ledger=tmp_path / "books.db") as again:
        assert again.ecdf("age", bounds=(0, 120), grid="integers", privacy=ogive.PureDP(1)).to_json() == first.to_json()
        assert again.remaining == ogive.PureDP(1)


def test_the_fingerprint_is_that_of_the_rows_in_any_order(engine, tmp_path):
    table = people()
    folders = [tmp_path / name for name in ("first", "sorted", "other", "twice", "renamed")]
    for folder in folders:
        folder.mkdir()
    changed = table.set_column(0, "age", pa.array([19, *table["age"].to_pylist()[1:]], pa.int64()))
    assert changed != table
    tables = [table, table.sort_by("score"), changed, pa.concat_tables([table, table.slice(0, 1)]),
              table.rename_columns(["years", "score", "sick", "ward"])]  # fmt: skip
    digests = [Records.of(address(engine, each, place)).digest() for each, place in zip(tables, folders, strict=True)]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


def test_values_that_move_between_columns_are_another_table(engine, tmp_path):
    made = []
    for first, second in (("ab", "c"), ("a", "bc"), (None, "abc"), ("", "abc"), ("abc", None)):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        held = pa.table({"a": pa.array([first], pa.string()), "b": pa.array([second], pa.string())})
        made.append(Records.of(address(engine, held, folder)).digest())
    assert len(set(made)) == 5


def test_records_that_changed_are_refused_until_the_user_says_so(tmp_path):
    url = address("duckdb", people(), tmp_path, "people")
    with ogive.Session(url, limit=ogive.PureDP(2), ledger=tmp_path / "books.db") as session:
        session.ecdf("age", bounds=(0, 120), grid="integers", privacy=ogive.PureDP(1))
    del session  # whose connection lets nobody write
    gc.collect()
    with duckdb.connect(tmp_path / "records.duckdb") as connection:
        connection.execute("UPDATE people SET age = age + 1 WHERE score < 0.5")
    with pytest.raises(LedgerError, match="updated"):
        ogive.Session(url, ledger=tmp_path / "books.db")
    ogive.Session(url, ledger=tmp_path / "books.db", updated=True).close()


def test_a_table_of_ibis_is_taken_as_it_is(tmp_path):
    table = people()
    connection = ibis.duckdb.connect()
    connection.create_table("people", table)
    chosen = connection.table("people").filter(ibis._.ward == "B").mutate(double=ibis._.age * 2)
    grid = Grid.integers(0, 240)
    ages = table.filter(pa.compute.equal(table["ward"], "B"))["age"].to_numpy() * 2
    found = Records.of(chosen).aggregate(Binning("double", grid))
    np.testing.assert_array_equal(found, np.bincount(ages, minlength=241))
    assert Records.of(chosen).columns == ("age", "score", "sick", "ward", "double")
    connection.disconnect()


def test_a_table_of_ibis_without_a_known_engine_is_refused():
    with pytest.raises(ParameterError, match="must lie in DuckDB, PostgreSQL or Spark"):
        Records.of(ibis.table({"age": "int64"}, name="people"))


def test_names_of_tables_columns_and_schemas_are_taken_letter_by_letter(tmp_path):
    url = postgres.server().database()
    postgres.server().execute('CREATE SCHEMA "Ward 7"', url.rpartition("/")[2])
    odd = people().rename_columns(['a"ge', "Score", "score", "w'ard; drop table x"])
    fill_postgresql(url, odd, "Odd name")
    postgres.server().execute('ALTER TABLE "Odd name" SET SCHEMA "Ward 7"', url.rpartition("/")[2])
    records = Records.of(f"{url}?table=Odd%20name&schema=Ward%207")
    assert records.columns == ('a"ge', "Score", "score", "w'ard; drop table x")
    expected = Records.of(odd)
    for binning in (Binning('a"ge', Grid.integers(0, 120)), Binning("score", Grid.linear(0, 1, bins=2))):
        np.testing.assert_array_equal(records.aggregate(binning), expected.aggregate(binning))


def test_nothing_is_written_to_postgresql(tmp_path):
    url = postgres.server().database()
    fill_postgresql(url, people(), "people")
    records = Records.of(f"{url}?table=people")
    with pytest.raises(Exception, match="read-only transaction"):
        records._table._expression.get_backend().raw_sql("CREATE TABLE other (x int)")
    assert records.size == 500


def test_values_of_types_that_have_no_numbers_are_refused_and_do_no_harm(engine, tmp_path):
    odd = pa.table({"age": [1, 2], "tags": pa.array([["a"], ["b"]], pa.list_(pa.string()))})
    records = Records.of(address(engine, odd, tmp_path))
    assert records.aggregate(Binning("age", Grid.integers(1, 2))).tolist() == [1, 1]
    assert len(records.digest()) == 32
    with pytest.raises(DataError, match=r"'tags' holds (values of type|text, but numbers)"):
        records.aggregate(Binning("tags", Grid.integers(1, 2)))


def test_an_empty_table_is_refused_but_not_of_a_party(engine, tmp_path):
    url = address(engine, people(0), tmp_path, "people")
    with pytest.raises(DataError, match="has no rows"):
        Records.of(url)
    assert Records.of_party(url).aggregate(Binning("age", Grid.integers(1, 3))).tolist() == [0, 0, 0]


def test_what_needs_rows_is_refused_before_it_is_paid(tmp_path):
    session = ogive.Session(address("duckdb", people(), tmp_path, "people"), limit=ogive.PureDP(1))
    with pytest.raises(UnsupportedError, match="hands out no rows"):
        session.ustatistic("age", kernel="gini", bounds=(0, 120), method="kernel", privacy=ogive.PureDP(1))
    assert session.remaining == ogive.PureDP(1)


@pytest.mark.parametrize("trust", ["secagg", "servers", "local"])
def test_trust_models_that_need_rows_refuse_in_one_line(trust, tmp_path):
    url = address("duckdb", people(), tmp_path, "people")
    model = ogive.Simulation(trust, **({"parties": 3} if trust == "secagg" else {}))
    with pytest.raises(UnsupportedError, match="lies in an engine, which counts cells and hands out no rows"):
        ogive.Session(url, limit=ogive.PureDP(1), trust=model).ecdf(
            "age", bounds=(0, 120), grid="integers", privacy=ogive.PureDP(1)
        )


def test_what_is_not_there_is_said_in_one_line_without_a_password(tmp_path):
    url = address("duckdb", people(), tmp_path, "people")
    with pytest.raises(DataError, match="there is no file"):
        Records.of("duckdb:///no.duckdb?table=people")
    with pytest.raises(DataError, match=r"has no table 'visits'"):
        Records.of(url.replace("people", "visits"))
    (tmp_path / "text.duckdb").write_text("no database")
    with pytest.raises(DataError, match=r"is not a database of DuckDB, or is damaged or cut short$"):
        Records.of(f"duckdb:///{tmp_path}/text.duckdb?table=people")
    pq.write_table(people(), tmp_path / "people.parquet")
    with pytest.raises(DataError, match=r"Parquet files must be like duckdb://\?parquet="):
        Records.of(f"duckdb:///{tmp_path}/people.parquet?table=people")
    server = postgres.server()
    secret = f"postgresql://somebody:secret@127.0.0.1:{server.port}/postgres?table=t"
    for wrong, said in (
        (secret, "lets nobody in by that name and password$"),
        (secret.replace(f":{server.port}/", ":1/"), "cannot be reached; check that its server runs$"),
        (
            f"{server.url('postgres')}?table=t&sslmode=require",
            "does not take the encryption that the address asks for$",
        ),
        (f"{server.url('nowhere')}?table=t", "is not a database of that server$"),
    ):
        with pytest.raises(DataError, match=said) as refused:
            Records.of(wrong)
        assert "secret" not in str(refused.value)
    with pytest.raises(ParameterError, match=r"has no option 'sslmod'; one that it has is sslmode$"):
        Records.of(f"{server.url('postgres')}?table=t&sslmod=require")


def test_a_file_that_another_process_writes_and_a_table_that_one_may_not_read_are_said(tmp_path):
    url = address("duckdb", people(), tmp_path, "people")
    path = str(tmp_path / "records.duckdb")
    script = "import duckdb, sys, time; c = duckdb.connect(sys.argv[1]); print('open', flush=True); time.sleep(3000)"
    with subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(DataError, match=r"while another process has it open for writing$"):
            Records.of(url)
        other.kill()
    url = postgres.server().database()
    fill_postgresql(url, people(), "people")
    database = url.rpartition("/")[2]
    for statement in ("CREATE ROLE reader LOGIN PASSWORD 'reader'", "CREATE TABLE hidden AS SELECT * FROM people"):
        postgres.server().execute(statement, database)
    allowed = f"postgresql://reader:reader@127.0.0.1:{postgres.server().port}/{database}?table=hidden"
    with pytest.raises(DataError, match=r"this user may not read it$"):
        Records.of(allowed)


def test_a_lost_connection_is_said_and_another_session_goes_on():
    url = postgres.server().database()
    fill_postgresql(url, people(), "people")
    session = ogive.Session(f"{url}?table=people", limit=ogive.PureDP(10))
    session.ecdf("age", bounds=(0, 120), privacy=ogive.PureDP(1))
    database = url.rpartition("/")[2]
    postgres.server().execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE datname = '{database}' AND pid <> pg_backend_pid()"
    )
    for _ in range(2):
        with pytest.raises(DataError, match=r"was lost; open the table again, in a new session$"):
            session.ecdf("age", bounds=(0, 120), privacy=ogive.PureDP(2))
    assert session.spent == ogive.PureDP(1)
    with ogive.Session(f"{url}?table=people", limit=ogive.PureDP(10)) as again:
        assert again.ecdf("age", bounds=(0, 120), privacy=ogive.PureDP(2)).total > 0


def test_an_engine_that_fails_shows_no_value(tmp_path):
    url = postgres.server().database()
    fill_postgresql(url, people(), "people")
    records = Records.of(f"{url}?table=people")
    database = url.rpartition("/")[2]
    postgres.server().execute("ALTER TABLE people ALTER age TYPE text USING 'of ' || age", database)
    with pytest.raises(DataError, match="cannot be read: its engine reports") as refused:
        records.aggregate(Binning("age", Grid.integers(0, 120)))
    assert "of " not in str(refused.value)
