"""Comparison keys for two servers: shares of payload * [x < alpha] that hide alpha and the payload from each.

Also called distributed comparison functions. A client makes a pair of keys and sends one to each server; servers
evaluate all keys at any public points, while clients are away, and their shares add up to the result.
"""

from ogive.crypto.comparison.evaluation import evaluate, evaluate_sums
from ogive.crypto.comparison.generation import generate
from ogive.crypto.comparison.keys import KeyBatch, KeyShape

__all__ = ["KeyBatch", "KeyShape", "evaluate", "evaluate_sums", "generate"]
