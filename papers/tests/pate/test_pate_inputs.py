"""Features of digits and incomes: each from its own image or row, and the same however an image lies."""

import gzip

import numpy as np
import pytest

from ogive.errors import DataError
from ogive_papers.pate.students import inputs

ROWS = (
    "25, Private, 1, 11th, 7, Never-married, Sales, Own-child, Black, Male, 0, 0, 40, United-States, <=50K.\n",
    "40, ?, 2, HS-grad, 8, Divorced, Sales, Unmarried, White, Female, 99, 0, 99, Cuba, >50K.\n",
)


def bar(size, *, slant=0.0, moved=0):
    """An upright bar, or one that is sheared and moved."""
    found = np.zeros((size, size), dtype=np.float32)
    for row in range(6, size - 6):
        middle = size // 2 + moved + round(slant * (row - size // 2))
        found[row, middle - 2 : middle + 2] = 1
    return found


def test_images_are_moved_to_the_middle_and_put_upright():
    plain, leaning, slanted = inputs.upright(np.stack([bar(28), bar(28, slant=0.5, moved=2), bar(28, slant=0.5)]))
    assert np.abs(plain - leaning).mean() < 0.03
    assert np.abs(leaning - slanted).mean() < 0.001
    assert np.abs(bar(28) - bar(28, slant=0.5, moved=2)).mean() > 0.08


def test_features_have_length_one_and_tell_directions():
    images = np.stack([bar(28), bar(28).T])
    features = inputs.directions(images)
    assert features.shape == (2, 392)
    assert np.linalg.norm(features, axis=1) == pytest.approx(1)
    strengths = (features.reshape(2, 8, 49) ** 2).sum(axis=2)
    assert strengths[0, [0, 4]].sum() > 0.7 > 0.3 > strengths[0, [2, 6]].sum()
    assert strengths[1, [2, 6]].sum() > 0.7 > 0.3 > strengths[1, [0, 4]].sum()


def test_digits_are_those_of_the_part_that_is_asked_for(tmp_path):
    images = (255 * np.stack([bar(28), bar(28).T, bar(28, slant=0.3)])).astype(np.uint8)
    path = tmp_path / "mnist.npz"
    np.savez(path, x_test=images[:1], y_test=[1], x_train=images, y_train=[1, 2, 3])
    features, labels = inputs.digits(path, "train", 2)
    assert labels.tolist() == [1, 2]
    assert features[:1] == pytest.approx(inputs.digits(path, "test")[0], abs=1e-6)
    np.savez(tmp_path / "other.npz", x_train=images, y_train=[1])
    with pytest.raises(DataError, match="has arrays x_test and y_test"):
        inputs.digits(tmp_path / "other.npz", "test")
    with pytest.raises(DataError, match="one label for each image"):
        inputs.digits(tmp_path / "other.npz", "train")


def test_incomes_have_fixed_scales_and_the_categories_of_the_public_rows(tmp_path):
    public, private = tmp_path / "adult.test", tmp_path / "adult.data.gz"
    public.write_text("|1x3 Cross validator\n" + "".join(ROWS) + "\n")
    with gzip.open(private, "wt") as file:
        file.write(ROWS[0].replace("Sales", "Farming").replace("<=50K.", "<=50K"))
    features, labels = inputs.incomes(public, public)
    assert labels.tolist() == [0, 1]
    # five numbers; two categories of each word but one of occupations
    assert features.shape == (2, 5 + 5 * 2 + 1)
    assert features[1, :5] == pytest.approx([0.5, 0.5, np.log(100) / 11, 0, 1])
    assert features[:, 5:7].tolist() == [[0, 1], [1, 0]]  # "?" comes before "Private"
    others, known = inputs.incomes(private, public)
    assert known.tolist() == [0]
    assert others[0].tolist() == [0 if place == 9 else value for place, value in enumerate(features[0])]


@pytest.mark.parametrize(
    ("text", "message"), [("a,b\n", "whose rows have 15 columns"), (ROWS[0].replace("25", "x"), "column age must be")]
)
def test_other_tables_are_refused(text, message, tmp_path):
    (tmp_path / "adult.test").write_text(text)
    with pytest.raises(DataError, match=message):
        inputs.incomes(tmp_path / "adult.test", tmp_path / "adult.test")
    with pytest.raises(DataError, match="cannot be read"):
        inputs.incomes(tmp_path / "none.gz", tmp_path / "none.gz")
