# %% [markdown]
# # Your table in two minutes
#
# A CSV file, the name of its target, and an answer: what predicts it best, do other rows matter, and which ones.

# %%
from pathlib import Path
from tempfile import mkdtemp

from sklearn.datasets import load_diabetes

folder = Path(mkdtemp())
table = load_diabetes(as_frame=True, scaled=False).frame
table.to_csv(folder / "diabetes.csv", index=False)
table.head(3)

# %% [markdown]
# ## The command
#
# `npt-benchmark` reads the file, says how it understood each column, and runs methods from cheap to expensive while the minutes last.
# Two methods and two folds are enough here; without these options it takes two minutes.

# %%
import subprocess

command = ["npt-benchmark", "diabetes.csv", "--target", "target"]
command += ["--methods", "linear", "npt_solved", "--folds", "2", "--cores", "2"]
answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
print(answer.stdout)

# %% [markdown]
# The output folder keeps the configuration, all rows, tables, figures and the report.

# %% [markdown]
# ## The same in Python
#
# `NPTRegressor` and `NPTClassifier` follow scikit-learn. The default learns nothing but which rows are near: it solves for the attention to
# the fitted rows.

# %%
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import cross_val_score

from npt.estimator import NPTRegressor

features = table.drop(columns="target")
target = table["target"]
for model in (NPTRegressor(), RandomForestRegressor(random_state=0)):
    errors = -cross_val_score(model, features, target, cv=3, scoring="neg_root_mean_squared_error")
    print(f"{type(model).__name__:22} RMSE {errors.mean():.1f}, folds {errors.round(1)}")

# %% [markdown]
# Intervals come without another fit:

# %%
fitted = NPTRegressor().fit(features[5:], target[5:])
fitted.predict_interval(features[:5], 0.9).round()
