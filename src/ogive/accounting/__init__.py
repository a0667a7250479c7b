"""TODO-accounting"""
