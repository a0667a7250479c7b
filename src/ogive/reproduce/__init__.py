"""TODO-reproduce"""
