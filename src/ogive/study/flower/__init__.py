"""Flower as a carrier: an app that moves the bytes of a study between its service and the agents of its parties."""
