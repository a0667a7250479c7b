"""Studies of people who meet in pairs, over WebSockets at a service that sees ciphertext and noisy values."""
