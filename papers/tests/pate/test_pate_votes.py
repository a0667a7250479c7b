"""Votes and labels are found in folders and files, known by content, and refused in one line where they are others."""

import gzip

import numpy as np
import pytest

from ogive.errors import DataError, ParameterError
from ogive_papers.items import Plan
from ogive_papers.pate import stand_in, votes
from ogive_papers.pate.prices_table import TABLE_1
from ogive_papers.pate.sanitized_table import TABLE_2
from ogive_papers.pate.votes import ABSENT, ADULT, MNIST, SVHN


def counts(queries, classes):
    """Votes of 250 teachers, all for the last class but one teacher a query."""
    found = np.zeros((queries, classes), dtype=np.int64)
    found[:, -1] = 249
    found[np.arange(queries), np.arange(queries) % (classes - 1)] = 1
    return found


@pytest.fixture
def folder(tmp_path):
    np.savez(tmp_path / votes.PUBLISHED, mnist_250=counts(640, 10), adult_250=counts(1500, 2))
    return tmp_path


def test_votes_are_taken_from_the_published_file_in_stored_order(folder):
    assert votes.votes_of(MNIST, (folder,), 30).tolist() == counts(30, 10).tolist()
    assert votes.votes_of(ADULT, (folder / votes.PUBLISHED,), 4).tolist() == counts(4, 2).tolist()
    assert votes.votes_of(SVHN, (folder,), 10) is None


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("name", ["svhn_250.npy", "svhn_250.npz", "others.npz"])
def test_other_votes_are_taken_where_they_are_given(folder, tmp_path, name, named):
    given = counts(8600, 10)
    (np.save if name.endswith(".npy") else lambda path, array: np.savez(path, svhn_250=array))(tmp_path / name, given)
    places = (tmp_path / name,) if named else (tmp_path,)
    if name == "others.npz" and not named:
        assert votes.find_votes(SVHN, places) is None  # a folder is not searched for names that say nothing
    else:
        assert votes.votes_of(SVHN, places, 8500).shape == (8500, 10)


def test_inputs_name_what_was_read_and_what_is_absent(folder):
    known = votes.inputs_of("MNIST", "SVHN")((folder,))
    assert known["SVHN votes"] == known["MNIST labels"] == ABSENT
    assert len(known["MNIST votes"]) == 16
    assert stand_in.stand_in((folder,)) == {"Glyph votes": "simulated"}


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (counts(100, 10), "mnist_250 needs at least 640 rows, got 100"),
        (counts(640, 5), "mnist_250 needs 10 columns, one for every class, got 5"),
        (counts(640, 10) * 2, "add up to 500, not to 250"),
        (counts(640, 10) - 1, "below 0"),
    ],
)
def test_other_counts_than_the_papers_are_refused(tmp_path, array, reason):
    np.savez(tmp_path / votes.PUBLISHED, mnist_250=array)
    for read in (lambda: votes.votes_of(MNIST, (tmp_path,), 640), lambda: votes.inputs_of("MNIST")((tmp_path,))):
        with pytest.raises(DataError, match=reason) as fault:
            read()
        assert "\n" not in str(fault.value)


@pytest.mark.parametrize("item", [TABLE_1, TABLE_2])
def test_too_few_rows_are_refused_before_anything_is_worked_out(tmp_path, item):
    np.save(tmp_path / "svhn_250.npy", counts(100, 10))
    for quick in (True, False):
        with pytest.raises(DataError, match="svhn_250 needs at least 8500 rows, got 100"):
            item.tasks(Plan(runs=1, quick=quick, data=(tmp_path / "svhn_250.npy",)))


def test_an_array_of_another_name_is_told_how_to_be_called(tmp_path):
    np.save(tmp_path / "votes.npy", counts(8500, 10))
    with pytest.raises(ParameterError, match=r"votes.npy is not named after any .* call it svhn_250.npy"):
        votes.find_votes(SVHN, (tmp_path / "votes.npy",))


def test_what_is_lacking_is_named():
    assert "no array mnist_250 was found" in votes.lack(MNIST, {})
    assert "no array mnist_250 was found" in votes.lack(MNIST, {"MNIST votes": ABSENT})
    assert "true labels of MNIST were not found; put mnist.npz" in votes.lack(MNIST, {"MNIST votes": "0ca5"})


def test_files_without_votes_are_refused_by_name(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match=r"table.csv holds no votes .* none of the arrays mnist_250, svhn_250"):
        votes.find_votes(MNIST, (table,))
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"no archive")
    with pytest.raises(DataError, match=r"broken.npz cannot be read"):
        votes.find_votes(MNIST, (broken,))


def test_labels_are_read_in_the_order_of_queries(tmp_path):
    np.savez(tmp_path / "mnist.npz", y_test=np.arange(10, dtype=np.uint8))
    with gzip.open(tmp_path / "adult.test.gz", "wt") as file:
        file.write("|1x3 Cross validator\n25, Private, <=50K.\n28, Private, >50K.\n\n")
    assert votes.labels_of(MNIST, (tmp_path,), 3).tolist() == [0, 1, 2]
    assert votes.labels_of(ADULT, (tmp_path / "adult.test.gz",), 2).tolist() == [0, 1]
    assert votes.labels_of(SVHN, (tmp_path,), 2) is None
    with pytest.raises(DataError, match="has 2 labels, fewer than the 3 queries"):
        votes.labels_of(ADULT, (tmp_path,), 3)


def test_other_labels_are_refused(tmp_path):
    np.savez(tmp_path / "mnist.npz", digits=np.arange(10))
    (tmp_path / "adult.test").write_text("1, yes\n2, no\n")
    with pytest.raises(DataError, match="has an array y_test"):
        votes.labels_of(MNIST, (tmp_path,), 3)
    with pytest.raises(DataError, match="whose lines end with"):
        votes.labels_of(ADULT, (tmp_path,), 1)


@pytest.mark.parametrize(("votes_on", "right"), [(MNIST, 0.944), (ADULT, 0.844)])
def test_votes_and_labels_of_the_public_files_belong_together(votes_on, right, shared_data):
    folder = shared_data(votes.PUBLISHED).parent
    shared_data(votes_on.labels[0])
    asked = {MNIST: 9000, ADULT: 16281}[votes_on]
    found, truth = votes.votes_of(votes_on, (folder,), asked), votes.labels_of(votes_on, (folder,), asked)
    assert (found.argmax(axis=1) == truth).mean() == pytest.approx(right, abs=0.0005)


def test_stand_in_has_the_shape_that_it_states():
    drawn = stand_in.drawn((), np.random.default_rng(1), 3000)
    assert drawn.votes.shape == drawn.shares.shape == (3000, 150)
    assert set(drawn.votes.sum(axis=1)) == {5000}
    assert drawn.shares.sum(axis=1) == pytest.approx(1)
    # the first class has a mean share of 0.6 * 14 / 15.2 + 0.4 / 2, with a standard deviation of about a quarter
    mean = 0.6 * 14 / 15.2 + 0.2
    assert drawn.shares[:, 0].mean() == pytest.approx(mean, abs=5 * 0.25 / 3000**0.5)
    assert (drawn.truth == 0).mean() == pytest.approx(mean, abs=5 * 0.5 / 3000**0.5)
    assert np.abs(drawn.votes / 5000 - drawn.shares).max() < 6 * 0.5 / 5000**0.5
    again = stand_in.drawn((), np.random.default_rng(1), 3000)
    assert (again.votes == drawn.votes).all()


def test_what_labels_lose_is_what_other_classes_are_right_less_often():
    drawn = stand_in.drawn((), np.random.default_rng(2), 20_000, teachers=100)
    best = drawn.shares.argmax(axis=1)
    assert drawn.lost(best) == 0
    labels = np.random.default_rng(3).integers(0, 2, 20_000)
    labels[::3] = -1
    answered = labels >= 0
    seen = (drawn.truth == best)[answered].mean() - (drawn.truth == labels)[answered].mean()
    assert drawn.lost(labels) == pytest.approx(seen, abs=5 * 0.7 / answered.sum() ** 0.5)
