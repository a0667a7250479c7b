"""`ogive study`: a study from its file to its releases."""
