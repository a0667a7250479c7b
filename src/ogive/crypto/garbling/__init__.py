"""Garbled circuits: one circuit, evaluated by many pairs of parties at once on values that stay hidden."""

from ogive.crypto.garbling.half_gates import evaluate, garble
from ogive.crypto.garbling.hashing import GateKeys
from ogive.crypto.garbling.schedule import Schedule, schedule

__all__ = ["GateKeys", "Schedule", "evaluate", "garble", "schedule"]
