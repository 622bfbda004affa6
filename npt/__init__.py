"""Non-Parametric Transformers: self-attention between datapoints.

Kossen et al., NeurIPS 2021, arXiv 2106.02584.
"""

__version__ = "0.1.0"
