"""Fast implementations of what the network computes."""
