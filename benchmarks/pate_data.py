"""Digits and census rows as features that use nothing private: every image and every row is turned by itself."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates

from ogive.datasets import data_directory

Float32 = NDArray[np.float32]
Int64 = NDArray[np.int64]

DIRECTIONS = 8
STEP = 4

NUMBERS = {"age": 80.0, "education-num": 16.0, "capital-gain": 11.0, "capital-loss": 8.0, "hours": 99.0}
"""Numeric columns and what they are divided by, after the logarithm of gains and losses."""

WORDS = ("workclass", "marital", "occupation", "relationship", "race", "sex")
COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours",
    "country",
    "income",
]


def digits() -> tuple[Float32, Int64, Float32, Int64]:
    """MNIST: features and labels of the training images, then of the test images."""
    with np.load(data_directory() / "mnist.npz") as data:
        train, test = (directions(upright(data[name] / np.float32(255))) for name in ("x_train", "x_test"))
        return train, data["y_train"].astype(np.int64), test, data["y_test"].astype(np.int64)


def upright(images: Float32) -> Float32:
    """Each image moved to its middle and sheared until its second moments stand upright."""
    found = np.empty_like(images)
    size = images.shape[1]
    rows, columns = np.mgrid[:size, :size].astype(float)
    middle = (size - 1) / 2
    for place, image in enumerate(images):
        weight = image.sum()
        row, column = (rows * image).sum() / weight, (columns * image).sum() / weight
        spread = max(((rows - row) ** 2 * image).sum() / weight, 1e-9)
        slant = ((rows - row) * (columns - column) * image).sum() / weight / spread
        shifted = [rows + row - middle, columns + column - middle + slant * (rows - middle)]
        found[place] = map_coordinates(image, shifted, order=1, mode="constant")
    return found


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
    found = np.sqrt(planes[:, :, STEP // 2 :: STEP, STEP // 2 :: STEP].reshape(len(images), -1))
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), dtype=np.float32)


def incomes() -> tuple[Float32, Int64, Float32, Int64]:
    """Adult: features and labels (1 for above 50K) of the training rows, then of the test rows.

    Categories are those of the test rows, which are public here; scales are fixed numbers.
    """
    train, test = _table("adult.data.gz", 0), _table("adult.test.gz", 1)
    categories = {name: sorted(test[name].unique()) for name in WORDS}
    return *_encoded(train, categories), *_encoded(test, categories)


def _table(name: str, skipped: int) -> pd.DataFrame:
    content = io.BytesIO(gzip.decompress((data_directory() / name).read_bytes()))
    return pd.read_csv(content, names=COLUMNS, skipinitialspace=True, skiprows=skipped)


def _encoded(table: pd.DataFrame, categories: dict[str, list[str]]) -> tuple[Float32, Int64]:
    numbers = []
    for name, scale in NUMBERS.items():
        values = table[name].to_numpy(float)
        numbers.append((np.log1p(values) if name.startswith("capital") else values) / scale)
    words = [table[name].to_numpy() == value for name in WORDS for value in categories[name]]
    features = np.column_stack([*numbers, *words]).astype(np.float32)
    return features, table["income"].str.startswith(">").to_numpy().astype(np.int64)
