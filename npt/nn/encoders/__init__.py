"""Encoders of images: each image becomes one vector, which is a row of NPT."""
