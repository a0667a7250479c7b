"""Validation of predicted probabilities: error, calibration, decisions, by group and between two models."""
