"""Vote counts: what is refused and why, what files may hold, and counting labels."""

import numpy as np
import pandas as pd
import pytest

from ogive.errors import DataError, ParameterError
from ogive.pate import check_votes, read_votes, tally

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
        ([["3", "1"]], "what is no array of numbers"),
        ([[3, 1], [4]], "the rows have different lengths"),
        ([[0, 0], [0, 0]], "no teachers"),
        ([[1e18, 0]], "too large"),
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
        ("objects.npy", None, DataError, "holds no plain arrays"),
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
