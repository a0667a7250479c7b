"""TODO-cli"""
