"""Exact integer noise: laws, random sources, and the noise of a release's nodes."""

from ogive.noise.base import Law, NodeNoise, RandomSource
from ogive.noise.discrete_gaussian import DiscreteGaussian
from ogive.noise.discrete_laplace import DiscreteLaplace
from ogive.noise.nodes import DerivedNodes
from ogive.noise.rounding import round_up_root, round_up_scale
from ogive.noise.source import KeyedSource, SystemSource

__all__ = [
    "DerivedNodes",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "KeyedSource",
    "Law",
    "NodeNoise",
    "RandomSource",
    "SystemSource",
    "round_up_root",
    "round_up_scale",
]
