"""What holds for every test."""

pytest_plugins = ["helpers.data", "helpers.memory"]
