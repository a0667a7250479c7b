"""Time to event: survival, hazard and incidence, with what noise and sampling make uncertain."""
