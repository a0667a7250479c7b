"""Public boolean circuits of two parties: kernels of pairs of people, and the noise that is added inside.

Numbers of a `Builder` are combined by the functions of `arithmetic`; kernels and `sampling` are made of them, and so
are kernels of your own. XOR and NOT cost nothing: what a circuit costs is its AND gates.
"""

from ogive.crypto.circuits.circuit import Bit as Bit
from ogive.crypto.circuits.circuit import Builder as Builder
from ogive.crypto.circuits.circuit import Circuit as Circuit
from ogive.crypto.circuits.circuit import Gate as Gate
from ogive.crypto.circuits.circuit import Port as Port
from ogive.crypto.circuits.circuit import Signed as Signed
from ogive.crypto.circuits.circuit import Unsigned as Unsigned
from ogive.crypto.circuits.circuit import arrange as arrange
from ogive.crypto.circuits.circuit import evaluate as evaluate
from ogive.crypto.circuits.circuit import separate as separate
from ogive.crypto.circuits.sampling import LaplaceLaw as LaplaceLaw
from ogive.crypto.circuits.sampling import ResponseLaw as ResponseLaw
