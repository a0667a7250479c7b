"""Digits and census rows as features that use nothing private: every image and every row is turned by itself."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

from ogive.core.arrays import Float32, Int64, UInt8
from ogive.errors import DataError, ParameterError, plain
from ogive.pate.votes import read_array

DIRECTIONS = 8
STEP = 4

NUMBERS = {"age": 80.0, "education-num": 16.0, "capital-gain": 11.0, "capital-loss": 8.0, "hours": 99.0}
"""Numeric columns and what they are divided by, after the logarithm of gains and losses."""

WORDS = ("workclass", "marital", "occupation", "relationship", "race", "sex")
COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital", "occupation", "relationship", "race", "sex",
    "capital-gain", "capital-loss", "hours", "country", "income",
)  # fmt: skip

_AT_ONCE = 5000


@cache
def digits(path: Path, part: str, most: int | None = None) -> tuple[Float32, Int64]:
    """Features and labels of MNIST, shapes (images, 392) and (images,).

    Args:
        path: The file mnist.npz.
        part: "train" or "test".
        most: So many images from the start; all if None.

    Raises:
        DataError: the file has no such images.
    """
    try:
        images, labels = (np.asarray(read_array(path, f"{name}_{part}"))[:most] for name in ("x", "y"))
    except ParameterError:
        raise DataError(f"{plain(path)} is not a file of MNIST; that has arrays x_{part} and y_{part}") from None
    if images.ndim != 3 or len(images) != len(labels):
        raise DataError(f"{plain(path)} is not a file of MNIST; that has one label for each image")
    parts = range(0, len(images), _AT_ONCE)
    results = [directions(upright(_gray(images[start : start + _AT_ONCE]))) for start in parts]
    return np.concatenate(results), labels.astype(np.int64)


def _gray(images: UInt8) -> Float32:
    """Brightness from 0 to 1."""
    return np.asarray(images / np.float32(255), dtype=np.float32)


def upright(images: Float32) -> Float32:
    """Each image moved to its middle and sheared until its second moments stand upright."""
    result = np.empty_like(images)
    size = images.shape[1]
    rows, columns = np.mgrid[:size, :size].astype(float)
    middle = (size - 1) / 2
    for place, image in enumerate(images):
        weight = image.sum()
        row, column = (rows * image).sum() / weight, (columns * image).sum() / weight
        spread = max(((rows - row) ** 2 * image).sum() / weight, 1e-9)
        slant = ((rows - row) * (columns - column) * image).sum() / weight / spread
        shifted = [rows + row - middle, columns + column - middle + slant * (rows - middle)]
        result[place] = map_coordinates(image, shifted, order=1, mode="constant")
    return result


def directions(images: Float32) -> Float32:
    """How strong edges of eight directions are around 49 places, at length one; shape (images, 392).

    Source: Dalal and Triggs 2005, simplified: smoothed planes instead of cells, square roots, one norm for all.
    """
    down, right = np.gradient(images, axis=1), np.gradient(images, axis=2)
    turned = (np.arctan2(down, right) % (2 * np.pi)) * DIRECTIONS / (2 * np.pi)
    first = np.floor(turned).astype(int) % DIRECTIONS
    share = turned - np.floor(turned)
    length = np.hypot(right, down)
    planes = np.zeros((len(images), DIRECTIONS, *images.shape[1:]), dtype=np.float32)
    image, row, column = np.ogrid[: len(images), : images.shape[1], : images.shape[2]]
    planes[image, first, row, column] += length * (1 - share)
    planes[image, (first + 1) % DIRECTIONS, row, column] += length * share
    planes = gaussian_filter(planes, (0, 0, 1.5, 1.5))
    result = np.sqrt(planes[:, :, STEP // 2 :: STEP, STEP // 2 :: STEP].reshape(len(images), -1))
    return np.asarray(result / np.linalg.norm(result, axis=1, keepdims=True), dtype=np.float32)


@cache
def incomes(path: Path, public: Path) -> tuple[Float32, Int64]:
    """Features and labels (1 for above 50K) of rows of Adult, shapes (rows, features) and (rows,).

    Args:
        path: The rows: adult.data or adult.test, gzipped or not.
        public: The test rows, whose categories are public here; scales are fixed numbers.

    Raises:
        DataError: a file cannot be read, or holds other rows.
    """
    rows, known = _table(path), _table(public)
    numbers = []
    for name, scale in NUMBERS.items():
        try:
            values = np.array(rows[name], dtype=float)
        except ValueError:
            raise DataError(f"{plain(path)} is no part of Adult: its column {name} must be numbers") from None
        numbers.append((np.log1p(values) if name.startswith("capital") else values) / scale)
    words = [np.array(rows[name]) == value for name in WORDS for value in sorted(set(known[name]))]
    features = np.column_stack([*numbers, *words]).astype(np.float32)
    return features, np.array([income.startswith(">") for income in rows["income"]], dtype=np.int64)


@cache
def _table(path: Path) -> dict[str, list[str]]:
    """Columns of a file; lines without all of them, such as the first of the test part, are left out."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            lines = [[field.strip() for field in line.split(",")] for line in file]
    except (OSError, EOFError, UnicodeDecodeError):
        raise DataError(f"{plain(path)} cannot be read as a part of Adult") from None
    rows = [line for line in lines if len(line) == len(COLUMNS)]
    if not rows:
        raise DataError(f"{plain(path)} is no part of Adult, whose rows have {len(COLUMNS)} columns")
    return dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
