"""Questions asked of a trained model."""
