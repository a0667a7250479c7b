"""What answers of an aggregator cost: Renyi costs per query, their sums, and what these imply.

Votes are arrays of shape (queries, classes), costs arrays of shape (queries, orders). `ogive.pate.costs.cost` puts the
pieces together; `docs/proofs/pate_costs.md` has the proofs.
"""
