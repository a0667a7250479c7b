"""Temporary folders of tests lie in memory where there is room, since databases would wait for a disk at every commit.

What a process writes survives its death there as it does on a disk, and no test cuts the power.
"""

import os
import shutil

_FOLDER = "/dev/shm"
_LEAST_BYTES = 4 << 30


def _is_fit() -> bool:
    """Whether there is such a folder with room, in which programs may be run."""
    if not os.access(_FOLDER, os.W_OK) or os.statvfs(_FOLDER).f_flag & os.ST_NOEXEC:
        return False
    return shutil.disk_usage(_FOLDER).free >= _LEAST_BYTES


MEMORY = _FOLDER if _is_fit() else None
"""A folder that waits for no disk; None where there is none."""


def pytest_configure(config):
    if MEMORY is not None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)
