"""Circuits drawn at random, with what their gates compute written down as columns of bits."""

import numpy as np

from ogive.crypto.circuits.circuit import Builder, Unsigned


def random_circuit(seed, *, inputs=6, gates=60, outputs=8):
    """A circuit of gates drawn at random, and the same gates as functions of columns of bits."""
    draw, builder = np.random.default_rng(seed), Builder()
    bits = [*builder.garbler("x", inputs).bits, *builder.evaluator("y", inputs).bits, *builder.constant(2, 2).bits]
    grid = (np.arange(1 << 2 * inputs)[:, None] >> np.arange(2 * inputs) & 1).astype(bool)
    columns = [*grid.T, np.zeros(len(grid), bool), np.ones(len(grid), bool)]
    for _ in range(gates):
        i, j = draw.integers(len(bits), size=2)
        kind = draw.integers(4)
        bits.append([bits[i] ^ bits[j], bits[i] & bits[j], bits[i] | bits[j], ~bits[i]][kind])
        columns.append([columns[i] ^ columns[j], columns[i] & columns[j], columns[i] | columns[j], ~columns[i]][kind])
    circuit = builder.finish({"out": Unsigned(tuple(bits[-outputs:]))})
    return circuit, grid[:, :inputs], grid[:, inputs:], np.array(columns[-outputs:]).T
