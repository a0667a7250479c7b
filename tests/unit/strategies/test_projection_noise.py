"""How much noise the forms of a projection have, against each other."""

import pytest

from ogive.privacy import Adjacency, ApproxDP
from ogive.strategies import design_projection

PRIVACY = ApproxDP("0.1", "1e-6")


def variance(noise, *, constants="exact", size=1024):
    made = design_projection(
        size,
        privacy=PRIVACY,
        adjacency=Adjacency.REPLACE,
        records=10_000,
        degree=6,
        noise=noise,
        constants=constants,
    )
    return float((2 / size) * made.variance(total_known=False).sum())


@pytest.mark.parametrize("size", [1024, 2048])
def test_the_papers_constants_have_the_papers_noise_whatever_the_grid(size):
    ratio = variance("moments", constants="paper", size=size) / variance("moments", size=size)
    assert ratio == pytest.approx(19 / 16, rel=0.012)  # middles of bins do not reach the ends


def test_shaped_and_isotropic_noise_beat_noise_on_moments_as_computed():
    moments, isotropic, shaped = (variance(noise) for noise in ("moments", "isotropic", "shaped"))
    # the squared norm over the axis of the noise in the curve is that of its coefficients
    assert moments / isotropic == pytest.approx(15.76**2, rel=0.02)
    assert moments / shaped == pytest.approx(27.69**2, rel=0.02)
