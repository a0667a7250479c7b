"""Vote counts: what is refused and why, what files may hold, and counting labels."""

import gzip

import numpy as np
import pandas as pd
import pytest

from ogive.errors import DataError, ParameterError
from ogive.pate import check_votes, read_votes, tally
from ogive.pate.votes import read_array

VOTES = np.array([[3, 1, 0], [0, 2, 2], [4, 0, 0]])


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float32, list])
def test_counts_of_every_kind_become_the_same_integers(kind):
    given = VOTES.tolist() if kind is list else VOTES.astype(kind)
    found = check_votes(given)
    assert found.dtype == np.int64
    assert np.array_equal(found, VOTES)


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        ([[3, 1, 0], [0, 2, 1]], "query 1 add up to 3, not to 4"),
        ([[3, 1, 0], [5, -1, 0]], "query 1 hold counts below 0"),
        ([[3, 1, 0], [2.5, 1.5, 0]], "query 1 hold counts that are not whole"),
        ([[3, 1, 0], [np.nan, 1, 0]], "query 1 hold counts that are missing or infinite"),
        ([[np.inf, 1, 0]], "query 0 hold counts that are missing or infinite"),
        ([[4], [4]], "two or more classes, got 1"),
        ([], "counts of the shape"),
        (np.zeros((0, 3)), "at least one query"),
        ([3, 1, 0], r"got an array of shape \(3,\)"),
        ([["3", "1"]], "an object that is not an array of numbers"),
        ([[3, 1], [4]], "the rows have different lengths"),
        ([[0, 0], [0, 0]], "no teachers"),
        ([[1e18, 0]], "counts above 1099511627776, too large"),
        ([[3, 1], [3, 0], [0, 5]], "every column adds up to the same, so give the transpose"),
        ([[0, 3, 1], [1, 0, 4], [2, 2, 2]], "here the first column numbers the rows; leave it out"),
        ([[1, 3, 1], [2, 0, 4], [3, 2, 2]], "here the first column numbers the rows; leave it out"),
        ([[4, 3], [2, 9], [3, 2]], "rows are queries and columns are classes$"),
    ],
)
def test_what_is_no_vote_count_is_refused_in_one_line_that_names_the_query(votes, message):
    with pytest.raises(DataError, match=message) as why:
        check_votes(votes)
    assert "\n" not in str(why.value)


def test_every_row_adds_up_to_the_teachers_that_are_stated():
    assert np.array_equal(check_votes(VOTES, teachers=4), VOTES)
    with pytest.raises(DataError, match="query 0 add up to 4, not to 5"):
        check_votes(VOTES, teachers=5)


def test_more_classes_than_teachers_are_allowed():
    assert check_votes([[1, 0, 0, 1, 0, 0]]).shape == (1, 6)


def test_files_of_every_kind_hold_the_same_votes(tmp_path):
    frame = pd.DataFrame(VOTES, columns=["a", "b", "c"])
    np.save(tmp_path / "v.npy", VOTES)
    np.savez(tmp_path / "one.npz", votes=VOTES)
    np.savez(tmp_path / "two.npz", votes=VOTES, other=VOTES[:1])
    frame.to_csv(tmp_path / "v.csv", index=False)
    frame.to_parquet(tmp_path / "v.parquet")
    for name in ("v.npy", "one.npz", "v.csv", "v.parquet"):
        assert np.array_equal(read_votes(tmp_path / name), VOTES), name
    assert np.array_equal(read_votes(str(tmp_path / "two.npz"), name="votes"), VOTES)
    assert len(read_votes(tmp_path / "two.npz", name="other")) == 1


def test_files_that_cannot_be_read_say_why(tmp_path):
    np.savez(tmp_path / "two.npz", votes=VOTES, other=VOTES)
    np.save(tmp_path / "v.npy", VOTES)
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 no archive")
    (tmp_path / "broken.npy").write_bytes(b"\x93NUMPY")
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    (tmp_path / "v.csv").write_text("a,b\n3,1\nx,y\n")
    (tmp_path / "empty.csv").write_text("a,b\n")
    for file, name, error, message in (
        ("two.npz", None, ParameterError, "several arrays; say which with name: votes, other"),
        ("two.npz", "third", ParameterError, "no array 'third'; it holds votes, other"),
        ("v.npy", "votes", ParameterError, "holds one"),
        ("v.csv", "votes", ParameterError, "not for v.csv"),
        ("none.npy", None, DataError, "no such file"),
        ("broken.npz", None, DataError, "cannot be read"),
        ("broken.npy", None, DataError, "cannot be read"),
        ("objects.npy", None, DataError, "holds objects, not plain numbers"),
        ("v.csv", None, DataError, "holds no numbers"),
        ("empty.csv", None, DataError, "no rows"),
        ("v.txt", None, DataError, "no such file"),
    ):
        with pytest.raises(error, match=message) as why:
            read_votes(tmp_path / file, name=name)
        assert "\n" not in str(why.value)


def test_labels_are_counted_per_query_and_class():
    labels = np.random.default_rng(1).integers(0, 4, size=(7, 30))
    found = tally(labels, 4)
    assert np.array_equal(found, [[int((labels[:, k] == j).sum()) for j in range(4)] for k in range(30)])
    assert (check_votes(found).sum(axis=1) == 7).all()


@pytest.mark.parametrize("labels", [[[0, 4]], [[0, -1]], [[0, 0.5]], [[0, np.nan]]])
def test_labels_that_are_no_class_are_refused(labels):
    with pytest.raises(DataError, match="teacher 0 for query 1 is none of the classes 0 to 3"):
        tally(labels, 4)


def test_labels_of_another_shape_and_a_single_class_are_refused():
    with pytest.raises(DataError, match="shape"):
        tally([0, 1], 2)
    with pytest.raises(ParameterError, match="classes must be"):
        tally([[0, 0]], 1)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_floats_of_every_width_are_read_without_a_warning(kind):
    assert np.array_equal(check_votes(VOTES.astype(kind)), VOTES)
    with pytest.raises(DataError, match="query 1 hold counts that are not whole"):
        check_votes(np.array([[3, 1], [2.5, 1.5]], dtype=kind))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
@pytest.mark.parametrize("first", ["3,1,2", "4.0,0.,2", "0,1,5", "6,0,00"])
def test_a_text_file_without_a_header_does_not_lose_its_first_query(tmp_path, suffix, first):
    lines = [first, "0,6,0", "2,3,1", ""]
    text = "\n".join(lines).replace(",", "\t" if suffix == ".tsv" else ",").encode()
    file = tmp_path / f"v{suffix}"
    file.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    with pytest.raises(DataError, match="must name the columns and holds numbers, which would be lost") as why:
        read_votes(file)
    assert "\n" not in str(why.value)


def test_columns_that_are_numbered_in_order_have_names_unless_these_add_up_as_votes_do(tmp_path):
    for header in ("0,1,2", "1,2,3", "0,1,x", "2019,2020,"):
        (tmp_path / "v.csv").write_text(f"{header}\n3,2,2\n7,0,0\n")
        assert np.array_equal(read_votes(tmp_path / "v.csv"), [[3, 2, 2], [7, 0, 0]]), header
    (tmp_path / "v.csv").write_text("1,2,3\n3,2,1\n")
    with pytest.raises(DataError, match="must name the columns"):
        read_votes(tmp_path / "v.csv")
    pd.DataFrame(VOTES, columns=["7", "5", "3"]).to_parquet(tmp_path / "v.parquet")  # whose names are no row
    assert np.array_equal(read_votes(tmp_path / "v.parquet"), VOTES)


def test_files_of_another_kind_are_refused_by_what_would_be_right(tmp_path):
    np.savez(tmp_path / "none.npz")
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "v.weird").write_text("a,b\n3,1\n")
    for name, message in (
        ("none.npz", "none.npz holds no arrays$"),
        ("folder.npy", "folder.npy is a folder; name a file"),
        ("v.weird", "unknown suffix; use one of .npy, .npz, .csv"),
    ):
        with pytest.raises(DataError, match=message):
            read_votes(tmp_path / name)
    with pytest.raises(DataError, match=r"v.weird must be an .npy file"):
        read_array(tmp_path / "v.weird", None)
