# %% [markdown]
# # Which rows did the model use?
#
# Three questions about a model and the other rows of its table: does it *read* them, does its score *depend* on them, does it *benefit*?

# %%
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from npt.estimator import NPTRegressor
from npt.other_rows import benefit, dependence

X, y = load_diabetes(return_X_y=True, as_frame=True)

# %% [markdown]
# ## Read: the rows that three predictions rest on
#
# `explain` shows fitted rows by their attention, and what each prediction becomes without them.

# %%
model = NPTRegressor().fit(X[3:], y[3:])
model.explain(X[:3], rows=3)

# %% [markdown]
# ## Depend: the fitted rows are permuted
#
# Each column of the fitted rows is permuted by itself, so that rows keep no relation between features and target. The model keeps what it
# has learned. A factor above 1 shows that its predictions rest on the rows.

# %%
for name, keeper in {"solved NPT": NPTRegressor(), "neighbours": KNeighborsRegressor(15)}.items():
    print(f"{name:12}", dependence(keeper, X, y, cv=3))

# %% [markdown]
# A linear regression keeps no rows, so that there is nothing to permute:

# %%
try:
    dependence(LinearRegression(), X, y)
except ValueError as error:
    print(error)

# %% [markdown]
# ## Benefit: against a twin without them
#
# Depending on other rows is not benefiting from them. The twin of a model of rows may be a linear model, which predicts from features
# alone, or a constant.

# %%
for name, twin in {"a linear model": LinearRegression(), "a constant": DummyRegressor()}.items():
    print(f"neighbours against {name}:", benefit(KNeighborsRegressor(15), twin, X, y, cv=3))

# %% [markdown]
# These tests are over rows, for fitted models. They do not cover another training or another table. The benchmark's studies repeat both
# over folds and tables.
