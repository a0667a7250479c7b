"""Curves of different people made one."""
