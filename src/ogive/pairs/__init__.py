"""Pairs of people: who meets whom, what it costs each of them, and how precise a mean over their pairs is."""

from ogive.pairs.designs import (
    Design,
    all_pairs,
    balanced_injections,
    injections,
    met_anew,
    paired_again,
    permutations,
    round_robin,
    sampled_partners,
    with_replacement,
)
from ogive.pairs.expected import optimal_injections, optimal_pairs
from ogive.pairs.noise import DiscreteLaplaceNoise, LaplaceNoise, ResponseNoise, capped, divisors, noise_variance
from ogive.pairs.variance import FixedRecords, Overlaps, TwoSampleOverlaps, fixed_records, overlaps, two_sample_overlaps

__all__ = [
    "Design",
    "DiscreteLaplaceNoise",
    "FixedRecords",
    "LaplaceNoise",
    "Overlaps",
    "ResponseNoise",
    "TwoSampleOverlaps",
    "all_pairs",
    "balanced_injections",
    "capped",
    "divisors",
    "fixed_records",
    "injections",
    "met_anew",
    "noise_variance",
    "optimal_injections",
    "optimal_pairs",
    "overlaps",
    "paired_again",
    "permutations",
    "round_robin",
    "sampled_partners",
    "two_sample_overlaps",
    "with_replacement",
]
