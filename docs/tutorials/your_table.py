# %% [markdown]
# # Your table in two minutes
#
# A CSV file, the name of its target, and an answer: what predicts it best, do other rows matter, and which ones.

# %%
import subprocess
from tempfile import mkdtemp

import pandas as pd

from npt.provenance import ROOT

path = ROOT / "docs/tutorials/yachts.csv"
table = pd.read_csv(path)
table.head(3)

# %% [markdown]
# ## The command
#
# `npt-benchmark` reads the file, prints the type of each column, and runs methods from cheap to expensive while the minutes last.
# Two methods and two folds are enough here. Without these options it takes two minutes.

# %%
command = ["npt-benchmark", str(path), "--target", "resistance"]
command += ["--methods", "linear", "npt_solved", "--folds", "2", "--cores", "2", "--minutes", "20"]
answer = subprocess.run(command, cwd=mkdtemp(), capture_output=True, text=True, check=True)
print(answer.stdout)

# %% [markdown]
# The output folder has the configuration, all rows, tables, figures and the report.

# %% [markdown]
# ## The same in Python
#
# `NPTRegressor` and `NPTClassifier` follow scikit-learn. By default, attention to the fitted rows is not learned but solved for.

# %%
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold, cross_val_score

from npt.estimator import NPTRegressor

features = table.drop(columns="resistance")
target = table["resistance"]
folds = KFold(3, shuffle=True, random_state=0)
metric = "neg_root_mean_squared_error"
for model in (NPTRegressor(), RandomForestRegressor(random_state=0)):
    errors = -cross_val_score(model, features, target, cv=folds, scoring=metric)
    print(f"{type(model).__name__:22} RMSE {errors.mean():.2f}, folds {errors.round(2)}")

# %% [markdown]
# Intervals, which of more than 100 rows come without another fit:

# %%
fitted = NPTRegressor().fit(features[5:], target[5:])
fitted.predict_interval(features[:5], 0.9).round(2)
