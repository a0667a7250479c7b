"""Whether Flower, in this process, tells its makers anything."""

from __future__ import annotations

import os

QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
"""The environment in which Flower sends no telemetry and looks for no updates."""


def lacking() -> str:
    """What the environment of this process lacks, as a line; empty if Flower is quiet."""
    return " ".join(f"{name}={value}" for name, value in QUIET.items() if os.environ.get(name) != value)
