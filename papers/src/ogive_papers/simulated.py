"""How a picture says that it shows a stand-in for data that are absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def stamp(axes: Axes, name: str) -> None:
    """Write SIMULATED over a panel, and for what the stand-in stands."""
    axes.text(
        0.5, 0.5, f"SIMULATED\nnot {name}", transform=axes.transAxes, ha="center", va="center",
        color="#c53030", alpha=0.35, fontsize=20, rotation=20, weight="bold",
    )  # fmt: skip
