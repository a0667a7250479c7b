"""Servers find out together whether each client's shares are those of one record, and learn nothing else."""

from ogive.crypto.sketch.claims import AmountClaim, CellClaim, Claim, StepClaim
from ogive.crypto.sketch.rejections import DEFAULT_TOLERATED, most_rejected
from ogive.crypto.sketch.rounds import Check
from ogive.crypto.sketch.uploads import Uploads
from ogive.crypto.sketch.verifier import Verifier

__all__ = [
    "DEFAULT_TOLERATED",
    "AmountClaim",
    "CellClaim",
    "Check",
    "Claim",
    "StepClaim",
    "Uploads",
    "Verifier",
    "most_rejected",
]
