"""Public boolean circuits of two parties: kernels of pairs of people, and the noise that is added inside."""
