"""Garbled circuits: one circuit, evaluated by many pairs of parties at once on values that stay hidden."""

from ogive.crypto.garbling.half_gates import evaluate, garble
from ogive.crypto.garbling.hashing import GateKeys
from ogive.crypto.garbling.schedule import Gate, Schedule, schedule

__all__ = ["Gate", "GateKeys", "Schedule", "evaluate", "garble", "schedule"]
