"""Noise of the Legendre coefficients of a projection: shaped and isotropic against noise on the raw moments.

Noise alone is drawn, from the very laws of the designs, and decoded to coefficients; its root mean square is that of
the whole vector, in records. It depends on no records. The target is a fifteenth of the moments' noise at K = 6.

Run: python benchmarks/projection_noise.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from harness import record, row

from ogive.noise import DerivedNodes, KeyedSource
from ogive.privacy import Adjacency, ApproxDP
from ogive.strategies import OrthogonalProjection, design_projection

DRAWS = 20_000
PRIVACY = ApproxDP("0.1", "1e-6")
SHARE = 1 / 15
"""Target, of the RMS of the moments' noise."""
DEGREES = (6, 10)


def rms(strategy: OrthogonalProjection, draws: int = DRAWS) -> float:
    """Root mean square of the Euclidean length of the coefficients' noise."""
    nodes = DerivedNodes(KeyedSource.from_seed(7).key(), b"coefficients")
    noise = tuple(
        nodes.values(level.law, place, np.arange(draws * level.nodes)).reshape(draws, level.nodes)
        for place, level in enumerate(strategy.levels)
    )
    coefficients = strategy.coefficients(strategy.spread(noise), 0)
    return float(np.sqrt(np.square(coefficients).sum(axis=-1).mean()))


def rows() -> Iterator[dict[str, Any]]:
    """Measure."""
    for degree in DEGREES:
        common = {"privacy": PRIVACY, "adjacency": Adjacency.REPLACE, "records": 10_000, "degree": degree}
        peers = {
            "moments, the paper's constants": rms(
                design_projection(1024, noise="moments", constants="paper", **common)
            ),
            "moments, exact sensitivity": rms(design_projection(1024, noise="moments", **common)),
        }
        for noise in ("shaped", "isotropic"):
            ours = rms(design_projection(1024, noise=noise, **common))
            for peer, theirs in peers.items():
                yield row(
                    f"noise of {degree + 1} coefficients, {noise}, {PRIVACY}",
                    "RMS",
                    "records",
                    ours,
                    runs=DRAWS,
                    target=round(theirs * SHARE, 2) if degree == DEGREES[0] else None,
                    larger_is_better=False,
                    peer=peer,
                    peer_value=theirs,
                )


if __name__ == "__main__":
    record(rows())
