"""Where the public data sets lie that the demonstration and the reproductions use."""

from __future__ import annotations

import os
from pathlib import Path

from ogive.errors import DataError, plain


def data_directory() -> Path:
    """Find the folder of public data sets.

    It is the folder that the environment variable OGIVE_DATA names, else `shared/data` beside the
    source checkout that this module is part of.

    Raises:
        DataError: there is no such folder.
    """
    named = os.environ.get("OGIVE_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"
    if not folder.is_dir():
        place = f"OGIVE_DATA names {named}, which is not a folder" if named else "OGIVE_DATA is not set"
        raise DataError(
            f"the public data sets were not found: {plain(place)}; set OGIVE_DATA to the folder that holds them"
        )
    return folder
