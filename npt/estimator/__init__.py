"""NPT with scikit-learn's interface: fit a table, then predict new rows, which attend to it."""

from npt.estimator.classifier import NPTClassifier
from npt.estimator.regressor import NPTRegressor

__all__ = ["NPTClassifier", "NPTRegressor"]
