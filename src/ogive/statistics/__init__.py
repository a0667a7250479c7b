"""TODO-statistics"""
