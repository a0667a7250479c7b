"""Public data sets for tests, where this machine has them."""

from pathlib import Path

import pytest

from ogive.datasets import data_directory
from ogive.errors import DataError


def shared_data(name: str) -> Path:
    """Path of a public data set, or a skip that says how to get it to run."""
    try:
        folder = data_directory()
    except DataError as problem:
        pytest.skip(str(problem))
    path = folder / name
    if not path.exists():
        pytest.skip(f"the folder of public data sets has no {name}")
    return path
