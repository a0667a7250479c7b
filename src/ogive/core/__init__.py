"""What everything else stands on: types, checks of parameters, files, lazy modules, numbers in words, compiled code."""
