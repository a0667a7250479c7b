"""The carrier over HTTPS: the coordinator is a service, and agents connect outwards to it."""
