"""ROC curve and AUC of a score for two classes."""
