"""Students: what they are taught, in one round and in two, by which learners, and what is said of them."""
