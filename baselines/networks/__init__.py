"""PyTorch networks of baselines, apart from their declarations, which planning imports."""
