"""Studies of people who upload shares once and leave, and of the servers that answer."""
