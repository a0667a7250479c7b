"""Imported once by the server that people's processes are forked from, so that none of them has to compile anything."""

from helpers.twoparty import Pair, gini_circuit, settings_of

_settings = settings_of(gini_circuit())
Pair(_settings, [False] * _settings.circuit.garbler_bits, [False] * _settings.circuit.evaluator_bits).run()
