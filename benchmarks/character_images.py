"""Images of characters: 150 classes drawn from the fonts of this machine, slanted, turned, moved, scaled, with noise.

Classes are imbalanced: the most frequent is `IMBALANCE` times as frequent as the rarest. Nothing is random but by the
seed, and images are drawn in blocks, so that millions of them need the memory of their features only.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np
from matplotlib import get_data_path
from matplotlib.ft2font import FT2Font
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

PLACES = (Path("/usr/share/fonts"), Path(get_data_path()) / "fonts" / "ttf")
"""Where fonts are looked for: those of Debian's packages (`make fonts`), and the few that come with matplotlib."""

ASCII = "".join(chr(code) for code in range(33, 127))
ACCENTED = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûü"
CHARACTERS = ASCII + ACCENTED
CLASSES = len(CHARACTERS)

IMBALANCE = 5.0
CANVAS, SIZE = 44, 28
"""Sides in pixels of a character as its font draws it, and of an image."""

DIRECTIONS, CELLS = 8, 5
FEATURES = DIRECTIONS * CELLS * CELLS

SLANT, TURN, SCALE, SHIFT, NOISE = 0.2, 0.1, (0.85, 1.15), 1.5, 0.05
"""Largest slant, angle in radians, sizes, largest shift in pixels of the canvas, standard deviation of noise."""

BLOCK = 20_000

Float32 = NDArray[np.float32]
Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]


def fonts(most: int | None = None) -> list[Path]:
    """Files of fonts that have all characters, in the order of their names; every one of a name once."""
    found = {path.name: path for place in PLACES for path in sorted(place.rglob("*.[to]tf"))}
    chosen = []
    for _, path in sorted(found.items()):
        try:
            known = FT2Font(str(path)).get_charmap()
        except RuntimeError:
            continue
        if all(ord(character) in known for character in CHARACTERS):
            chosen.append(path)
    return chosen if most is None else chosen[:: -(-len(chosen) // most)]


def shapes(paths: list[Path]) -> UInt8:
    """Every character of every font that draws them all, shape (fonts, classes, `CANVAS`, `CANVAS`)."""
    drawn = []
    for path in paths:
        font = ImageFont.truetype(str(path), 30)
        whole = np.zeros((CLASSES, CANVAS, CANVAS), dtype=np.uint8)
        for place, character in enumerate(CHARACTERS):
            image = Image.new("L", (CANVAS, CANVAS))
            ImageDraw.Draw(image).text((CANVAS / 2, 33), character, fill=255, font=font, anchor="ms")
            whole[place] = np.asarray(image)
        if (whole.reshape(CLASSES, -1).max(axis=1) > 0).all():
            drawn.append(whole)
    return np.stack(drawn)


def frequencies(seed: int) -> NDArray[np.float64]:
    """The chance of every class, in an order that the seed decides."""
    falling = IMBALANCE ** -np.linspace(0, 1, CLASSES)
    return np.random.default_rng([seed, 1]).permutation(falling / falling.sum())


def blocks(base: UInt8, images: int, seed: int) -> Iterator[tuple[slice, Float32, Int64]]:
    """Images a block at a time: their rows, pixels of shape (rows, `SIZE`, `SIZE`) from 0 to 1, and classes."""
    chances = frequencies(seed)
    for start in range(0, images, BLOCK):
        rows = slice(start, min(start + BLOCK, images))
        size = rows.stop - start
        generator = np.random.default_rng([seed, 2, start])
        classes = generator.choice(CLASSES, size=size, p=chances)
        font = generator.integers(0, len(base), size=size)
        bends = np.column_stack([
            generator.uniform(-SLANT, SLANT, size),
            generator.uniform(-TURN, TURN, size),
            generator.uniform(*SCALE, size),
            generator.uniform(-SHIFT, SHIFT, size),
            generator.uniform(-SHIFT, SHIFT, size),
        ])  # fmt: skip
        noise = generator.standard_normal((size, SIZE, SIZE), dtype=np.float32) * np.float32(NOISE)
        yield rows, _bent(base, font, classes, bends, noise), classes


@numba.njit(cache=True)
def _bent(base, font, classes, bends, noise):  # type: ignore[no-untyped-def]
    """Characters on the grid of an image, by the mean of four bilinear samples a pixel, with noise, within 0 and 1."""
    images = np.empty(noise.shape, dtype=np.float32)
    middle, step = (CANVAS - 1) / 2, CANVAS / SIZE
    for image in range(len(font)):
        shape = base[font[image], classes[image]]
        slant, turn, scale, right, down = bends[image]
        cosine, sine = np.cos(turn) / scale, np.sin(turn) / scale
        for row in range(SIZE):
            for column in range(SIZE):
                total = 0.0
                for part in range(4):
                    y = (row + 0.25 + 0.5 * (part // 2)) * step - 0.5 - middle - down
                    x = (column + 0.25 + 0.5 * (part % 2)) * step - 0.5 - middle - right
                    x += slant * y
                    from_row, from_column = cosine * y - sine * x + middle, sine * y + cosine * x + middle
                    if 0 <= from_row < CANVAS - 1 and 0 <= from_column < CANVAS - 1:
                        i, j = int(from_row), int(from_column)
                        a, b = from_row - i, from_column - j
                        above = (1 - b) * shape[i, j] + b * shape[i, j + 1]
                        below = (1 - b) * shape[i + 1, j] + b * shape[i + 1, j + 1]
                        total += (1 - a) * above + a * below
                images[image, row, column] = min(1.0, max(0.0, total / 1020 + noise[image, row, column]))
    return images


@numba.njit(cache=True)
def features_of(images):  # type: ignore[no-untyped-def]
    """Strengths of edges in eight directions around 16 places, as roots at length one; shape (images, 128)."""
    found = np.zeros((len(images), DIRECTIONS, CELLS, CELLS), dtype=np.float32)
    size = images.shape[1]
    for image in range(len(images)):
        picture = images[image]
        cells = found[image]
        for row in range(1, size - 1):
            at_row = min(max((row + 0.5) * CELLS / size - 0.5, 0.0), CELLS - 1.001)
            i = int(at_row)
            a = at_row - i
            for column in range(1, size - 1):
                right = picture[row, column + 1] - picture[row, column - 1]
                down = picture[row + 1, column] - picture[row - 1, column]
                length = np.sqrt(right * right + down * down)
                turned = (np.arctan2(down, right) / (2 * np.pi) % 1.0) * DIRECTIONS
                first = int(turned) % DIRECTIONS
                share = turned - int(turned)
                second = (first + 1) % DIRECTIONS
                at_column = min(max((column + 0.5) * CELLS / size - 0.5, 0.0), CELLS - 1.001)
                j = int(at_column)
                b = at_column - j
                for place, weight in ((i, 1 - a), (i + 1, a)):
                    for other, part in ((j, 1 - b), (j + 1, b)):
                        cells[first, place, other] += length * (1 - share) * weight * part
                        cells[second, place, other] += length * share * weight * part
        norm = 0.0
        for value in cells.ravel():
            norm += value
        root = np.float32(1 / np.sqrt(max(norm, 1e-9)))
        for direction in range(DIRECTIONS):
            for i in range(CELLS):
                for j in range(CELLS):
                    cells[direction, i, j] = np.sqrt(cells[direction, i, j]) * root
    return found.reshape(len(images), FEATURES)
