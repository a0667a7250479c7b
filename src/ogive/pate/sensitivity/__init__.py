"""How much the data-dependent cost of answers differs between neighbouring votes, and how to publish such a cost.

Profiles are largest local sensitivities within d changed teachers, d = 0, 1, ..., as arrays of shape (teachers,). They
and what follows from them are as private as votes are; only what `sanitize` gives may be published.
`docs/proofs/pate_sensitivity.md` has the proofs.
"""
