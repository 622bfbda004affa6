"""The study kind attention."""
