"""Pairs of people: who meets whom, what it costs each of them, and how precise a mean over their pairs is."""

from ogive.pairs.budgets import capped, divisors, noise_variance
from ogive.pairs.choosing import optimal_injections, optimal_pairs
from ogive.pairs.conditional import FixedRecords, fixed_records
from ogive.pairs.design import Design
from ogive.pairs.designs import all_pairs, permutations, round_robin, sampled_partners, with_replacement
from ogive.pairs.dropouts import met_anew, paired_again
from ogive.pairs.injections import balanced_injections, injections
from ogive.pairs.noise import DiscreteLaplaceNoise, LaplaceNoise, ResponseNoise
from ogive.pairs.variance import Overlaps, TwoSampleOverlaps, overlaps, two_sample_overlaps

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
