"""Noisy measurements made a valid cumulative curve; post-processing."""

from ogive.smoothing.dispatch import (
    DEFAULT_SMOOTHING,
    LARGEST_SQUARE_ROOT,
    RANK_MATCHING,
    SMOOTHINGS,
    default_smoothing,
    smooth,
    unsmoothable,
)

__all__ = [
    "DEFAULT_SMOOTHING",
    "LARGEST_SQUARE_ROOT",
    "RANK_MATCHING",
    "SMOOTHINGS",
    "default_smoothing",
    "smooth",
    "unsmoothable",
]
