"""TODO-strategies"""
