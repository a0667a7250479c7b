"""Comparison keys for two servers: shares of payload * [x < alpha] that hide alpha and the payload from each.

Also called distributed comparison functions. A client makes a pair of keys and sends one to each server; servers
evaluate all keys at any public points, while clients are away, and their shares add up to the result.
"""

from ogive.crypto.comparison.evaluation import evaluate as evaluate
from ogive.crypto.comparison.evaluation import evaluate_sums as evaluate_sums
from ogive.crypto.comparison.keys import KeyBatch as KeyBatch
from ogive.crypto.comparison.keys import KeyShape as KeyShape
from ogive.crypto.comparison.keys import generate as generate
