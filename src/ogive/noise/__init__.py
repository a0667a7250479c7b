"""TODO-noise"""
