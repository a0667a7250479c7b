"""A task of 150 imbalanced classes with wrong labels, and the votes of up to 5000 teachers trained on it.

Characters are drawn from every font that has them (`make fonts` installs those of Debian's packages), one private
label in ten is wrong, and each ensemble divides the same private images. The file that is written holds votes, public
features and true labels; `ogive reproduce pate --data characters.npz` judges the paper's claims about Glyph on it,
marked as this task. `--small` takes few fonts, images and teachers.
"""

from __future__ import annotations

import argparse
import io
import time
from pathlib import Path
from typing import Any

import numpy as np
from character_images import CHARACTERS, CLASSES, FEATURES, SIZE, Int64, UInt8, blocks, features_of, fonts, shapes
from joblib import Parallel, delayed
from numpy.typing import NDArray

from ogive.core.files import write_atomically
from ogive.pate import partition, train_teachers, votes_of
from ogive_papers.pate.students.discriminants import SharedCovariance

IMAGES = 5_000_000
ENSEMBLES = (5000, 1000, 500, 100)
QUERIES, JUDGED, SHOWN = 16_000, 10_000, 60
WRONG = 0.1
SEED = 1
SMALL_IMAGES, SMALL_ENSEMBLES, SMALL_QUERIES, SMALL_JUDGED, SMALL_FONTS = 100_000, (100,), 2000, 1000, 8


def drawn(base: UInt8, images: int, seed: int) -> tuple[NDArray[np.float16], Int64]:
    """Features, float16 of shape (images, `FEATURES`), and true classes."""
    features = np.empty((images, FEATURES), dtype=np.float16)
    truth = np.empty(images, dtype=np.int64)
    for rows, pixels, classes in blocks(base, images, seed):
        features[rows], truth[rows] = features_of(pixels), classes
    return features, truth


def make(
    path: Path, *, images: int, ensembles: tuple[int, ...], queries: int, judged: int, most_fonts: int | None
) -> None:
    """Draw, train, vote, and write the file."""
    start = time.perf_counter()

    def tell(words: str) -> None:
        print(f"{time.perf_counter() - start:6.0f} s  {words}", flush=True)

    base = shapes(fonts(most_fonts))
    tell(f"{len(base)} fonts have all {CLASSES} characters")
    parts = -(-images // 100_000)
    sizes = [images // parts + (part < images % parts) for part in range(parts)]
    found = Parallel(n_jobs=-1, return_as="generator")(
        delayed(drawn)(base, size, 1000 * SEED + part) for part, size in enumerate(sizes)
    )
    features = np.empty((images, FEATURES), dtype=np.float16)
    truth = np.empty(images, dtype=np.int64)
    row = 0
    for some, classes in found:
        features[row : row + len(classes)], truth[row : row + len(classes)] = some, classes
        row += len(classes)
        if row % 1_000_000 == 0:
            tell(f"{row:,} images are drawn")
    generator = np.random.default_rng([SEED, 3])
    wrong = generator.random(images) < WRONG
    labels = np.where(wrong, generator.permutation(truth), truth)
    tell(f"{images:,} private images, {(labels != truth).mean():.1%} of their labels are wrong")
    public, known = drawn(base, queries + judged, 999)
    asked = public[:queries]
    kept: dict[str, Any] = {}
    for number in ensembles:
        dealt = partition(images, number, seed=SEED)
        teachers = train_teachers(SharedCovariance, features, labels, partition=dealt, classes=CLASSES, seed=SEED)
        votes = votes_of(teachers, asked)
        kept[f"votes_{number}"] = votes.astype(np.int16)
        right = (votes.argmax(axis=1) == known[:queries]).mean()
        single = votes[np.arange(queries), known[:queries]].mean() / number
        tell(f"{number} teachers of {images // number:,}: one is right on {single:.1%}, the plurality on {right:.1%}")
    most = min(images, 1_000_000)
    found = SharedCovariance().fit(features[:most], labels[:most]).predict(public[queries:])
    baseline = (found == known[queries:]).mean()
    tell(f"one model of {most:,} images is right on {baseline:.1%}")
    shown = next(blocks(base, SHOWN, 998))
    content = io.BytesIO()
    np.savez_compressed(
        content, **kept, queries=asked, truth=known[:queries].astype(np.int16), judged=public[queries:],
        judged_truth=known[queries:].astype(np.int16), baseline=np.array(baseline),
        shown=(255 * shown[1]).astype(np.uint8).reshape(SHOWN, SIZE, SIZE), shown_truth=shown[2].astype(np.int16),
    )  # fmt: skip
    write_atomically(path, content.getvalue())
    tell(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def draw_examples(source: Path, picture: Path) -> None:
    """Some images of the file, each above its class."""
    from matplotlib.figure import Figure

    with np.load(source) as file:
        images, classes = file["shown"], file["shown_truth"]
    figure = Figure(figsize=(9.6, 4.8))
    for axes, image, place in zip(figure.subplots(5, 12).ravel(), images, classes, strict=True):
        axes.imshow(255 - image, cmap="gray", vmin=0, vmax=255)
        axes.set_axis_off()
        axes.text(0.5, -0.22, CHARACTERS[place], transform=axes.transAxes, ha="center", parse_math=False)
    figure.savefig(picture, dpi=130, bbox_inches="tight")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("characters.npz"), help="file to write")
    parser.add_argument("--examples", type=Path, help="picture to write of some images and their classes")
    parser.add_argument("--small", action="store_true", help="few fonts, images and teachers")
    chosen = parser.parse_args()
    if chosen.small:
        make(chosen.output, images=SMALL_IMAGES, ensembles=SMALL_ENSEMBLES, queries=SMALL_QUERIES,
             judged=SMALL_JUDGED, most_fonts=SMALL_FONTS)  # fmt: skip
    else:
        make(chosen.output, images=IMAGES, ensembles=ENSEMBLES, queries=QUERIES, judged=JUDGED, most_fonts=None)
    if chosen.examples is not None:
        draw_examples(chosen.output, chosen.examples)


if __name__ == "__main__":
    main()
