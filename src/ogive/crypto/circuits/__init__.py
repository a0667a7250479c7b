"""Public boolean circuits of two parties: kernels of pairs of people, and the noise that is added inside.

Numbers of a `Builder` are combined by the functions of `arithmetic`; kernels and `sampling` are made of them, and so
are kernels of your own. XOR and NOT cost nothing: what a circuit costs is its AND gates.
"""

from ogive.crypto.circuits.circuit import (
    Bit,
    Builder,
    Circuit,
    Gate,
    Port,
    Signed,
    Unsigned,
    arrange,
    evaluate,
    separate,
)
from ogive.crypto.circuits.sampling import LaplaceLaw, ResponseLaw

__all__ = [
    "Bit",
    "Builder",
    "Circuit",
    "Gate",
    "LaplaceLaw",
    "Port",
    "ResponseLaw",
    "Signed",
    "Unsigned",
    "arrange",
    "evaluate",
    "separate",
]
