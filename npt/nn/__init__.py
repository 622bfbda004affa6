"""The network: model, inputs, masking, losses, optimiser, training."""
