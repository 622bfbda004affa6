"""The study kind lookup."""
