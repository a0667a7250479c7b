"""Studies: organizations that keep their rows release statistics of all of them together.

A study is a public file. Each party runs an `Agent`, which alone holds its records, key and protocol state; whoever
convenes the study runs a `Coordinator`, which sees masked vectors and opens their sums. Both are state machines from
bytes to bytes, kept on disk; a carrier moves the bytes, and is trusted with nothing.
"""
