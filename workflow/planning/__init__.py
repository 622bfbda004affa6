"""From a configuration to runs, paths and resources; imports nothing heavy."""
