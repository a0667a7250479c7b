"""What several tests share; imported as `helpers`."""
