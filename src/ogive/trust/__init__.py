"""TODO-trust"""
