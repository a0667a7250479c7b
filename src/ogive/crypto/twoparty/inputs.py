"""The bits that a party gives to a circuit: of its values, and of the noise that it draws itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping

import numpy as np

from ogive.arrays import Bool
from ogive.crypto.circuits import Port, arrange
from ogive.errors import ParameterError


def drawn_bits(
    ports: tuple[Port, ...],
    values: Mapping[str, int],
    *,
    noise: Collection[str] = ("noise",),
    random: Callable[[int], bytes] = os.urandom,
) -> Bool:
    """One party's inputs in the order of its wires, shape (wires,); nobody else may see them.

    Args:
        ports: The party's inputs.
        values: Whole numbers by the names of inputs.
        noise: Names of the inputs that are noise: where there are such inputs, their bits are drawn.
        random: Gives so many random bytes; has to be secret and uniform, for the noise is.

    Raises:
        ParameterError: names are others than those of the inputs, or a value does not fit in its width.
    """
    found: dict[str, Bool] = {}
    for port in ports:
        if port.name in noise:
            drawn = np.frombuffer(random(-(-port.width // 8)), np.uint8)
            found[port.name] = np.unpackbits(drawn, count=port.width).astype(np.bool_)[None]
    for name, value in values.items():
        if name in found:
            raise ParameterError(f"{name} is noise, which is drawn and not given")
        width = next((port.width for port in ports if port.name == name), 0)
        if not 0 <= value < 1 << width:
            raise ParameterError(
                f"`{name}` must be the name of an input, and from 0 to {(1 << width) - 1}, got {value}"
            )
        found[name] = np.array([[value >> place & 1 for place in range(width)]], np.bool_)
    bits: Bool = arrange(ports, found)[0]
    return bits
