"""Python does not look for garbage while tests are collected, and does not look through what collection has made.

Nearly all of the objects that collection makes stay until the end. To look through them again and again took a quarter
of the processor time of collection, and some of that of every test.
"""

import gc

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
