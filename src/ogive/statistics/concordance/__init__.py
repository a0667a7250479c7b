"""Whether a risk score ranks times to an event rightly, and predicts their chances, where times may be censored."""
