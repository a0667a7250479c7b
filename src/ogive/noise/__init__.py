"""Exact integer noise: laws, random sources, and the noise of a release's nodes."""

from ogive.noise.base import Law, NodeNoise, RandomSource
from ogive.noise.discrete_gaussian import DiscreteGaussian
from ogive.noise.discrete_laplace import DiscreteLaplace
from ogive.noise.geometric import Geometric
from ogive.noise.laws import law_from_dict
from ogive.noise.nodes import DerivedNodes
from ogive.noise.polya import Polya
from ogive.noise.refusal import too_much_noise
from ogive.noise.rounding import round_up_root, round_up_scale
from ogive.noise.skellam import Skellam
from ogive.noise.source import KeyedSource, SystemSource, current_process
from ogive.noise.stored import StoredNodes

__all__ = [
    "DerivedNodes",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Geometric",
    "KeyedSource",
    "Law",
    "NodeNoise",
    "Polya",
    "RandomSource",
    "Skellam",
    "StoredNodes",
    "SystemSource",
    "current_process",
    "law_from_dict",
    "round_up_root",
    "round_up_scale",
    "too_much_noise",
]
