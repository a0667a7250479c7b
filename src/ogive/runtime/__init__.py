"""What moves bytes between processes."""
