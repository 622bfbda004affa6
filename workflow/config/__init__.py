"""What config.yaml holds: models, reading, validation."""
