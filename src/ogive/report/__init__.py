"""TODO-report"""
