"""An append-only store of many small records, each durable before it is acknowledged."""
