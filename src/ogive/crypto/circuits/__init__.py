"""Public boolean circuits of two parties: kernels of pairs of people, and the noise that is added inside.

Numbers of a `Builder` are combined by the functions of `arithmetic`; `kernels` and `sampling` are made of them, and so
are kernels of your own. XOR and NOT cost nothing: what a circuit costs is its AND gates.
"""

from ogive.crypto.circuits.builder import Bit, Builder, Signed, Unsigned
from ogive.crypto.circuits.circuit import Circuit, Gate, Level, Port
from ogive.crypto.circuits.laws import LaplaceLaw, ResponseLaw
from ogive.crypto.circuits.plain import arrange, evaluate, separate

__all__ = [
    "Bit",
    "Builder",
    "Circuit",
    "Gate",
    "LaplaceLaw",
    "Level",
    "Port",
    "ResponseLaw",
    "Signed",
    "Unsigned",
    "arrange",
    "evaluate",
    "separate",
]
