"""The AUC from reports about the nodes of a tree over the scores."""
