"""The figures and tables of the papers, redone from seeded runs, each with a verdict.

`papers` lists the papers and redoes their items; `items` says what an item is. Every paper
is a package or module with its `ITEMS`; what is common to all of them knows no paper.
"""
