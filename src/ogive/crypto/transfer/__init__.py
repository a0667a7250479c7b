"""Oblivious transfer: one party gets what it chose of two things the other has, which learns nothing of the choice."""

from ogive.crypto.transfer.base import BaseTransfers, Transfers
from ogive.crypto.transfer.dealer import InsecureDealer
from ogive.crypto.transfer.extension import correct_choices, correct_zeros, extend_choices, extend_zeros

__all__ = [
    "BaseTransfers",
    "InsecureDealer",
    "Transfers",
    "correct_choices",
    "correct_zeros",
    "extend_choices",
    "extend_zeros",
]
