"""The study kind deletion."""
