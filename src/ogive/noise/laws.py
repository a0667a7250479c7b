"""Laws from plain data."""

from __future__ import annotations

from typing import Any

from ogive.errors import ParameterError, quoted
from ogive.noise.base import Law
from ogive.noise.discrete_gaussian import DiscreteGaussian
from ogive.noise.discrete_laplace import DiscreteLaplace
from ogive.noise.geometric import Geometric
from ogive.noise.polya import Polya
from ogive.noise.skellam import Skellam
from ogive.noise.uniform import UniformBits
from ogive.privacy import exact


def law_from_dict(data: dict[str, Any]) -> Law:
    """Rebuild a law from its `to_dict`.

    Raises:
        ParameterError: the law is unknown, a field is missing, or a parameter is out of range.
    """
    try:
        match data["law"]:
            case "discrete_laplace":
                return DiscreteLaplace(data["scale"])
            case "discrete_gaussian":
                return DiscreteGaussian(data["sigma"])
            case "geometric":
                return Geometric(data["scale"])
            case "polya":
                return Polya(data["scale"], data["shape"])
            case "skellam":
                return Skellam(data["variance"])
            case "uniform_bits":
                return UniformBits(int(exact(data["bits"], "bits")))
            case other:
                raise ParameterError(f"unknown noise law {quoted(str(other)[:40])}")
    except KeyError as missing:
        raise ParameterError(f"a noise law lacks the field {missing}") from None
