"""Statistics of pairs of records: Gini, Kendall, AUC, collision entropy and others."""
