# %% [markdown]
# # One cell of the paper
#
# Table 11 of the NPT paper has the RMSE of k nearest neighbours on Yacht, a mean over ten folds. It is regenerated here with the paper's grid.

# %%
from pathlib import Path
from tempfile import mkdtemp

from npt.data.datasets import datasets
from npt.data.preparation import prepare_declared

prepared = prepare_declared(datasets()["yacht"], Path(mkdtemp()))
table = prepared.table
print(table.rows, "rows,", len(table.columns), "columns with the target,", len(prepared.splits), "folds")

# %% [markdown]
# Each method is a file in `baselines/`, and `paper` is the paper's grid. The search fits to the train rows of each fold and selects by its
# validation rows. Test targets are hidden.

# %%
import numpy as np

from baselines import methods
from npt.evaluation import evaluate
from npt.interface import Resources
from npt.metrics import scores

method = methods()["knn"]
settings = method.settings.model_validate({"grid": "paper"})
errors = []
for split in prepared.splits.values():
    learner = method.build(settings, Resources())
    outcome = evaluate(learner, table, split, seed=0)
    errors.append(scores(outcome.predictions, table, split)["test_rmse"])
    print(f"fold {split.fold}: RMSE {errors[-1]:.2f}, {outcome.fit.chosen}")

# %% [markdown]
# The paper's value, and the one here, with standard errors over folds:

# %%
from workflow.presentation.published import published_result

value, error = published_result("yacht", "knn", "rmse")
print(f"paper {value:.2f} ± {error:.2f}")
print(f"here  {np.mean(errors):.2f} ± {np.std(errors, ddof=1) / np.sqrt(len(errors)):.2f}")

# %% [markdown]
# The folds of the paper's code overlap, and those of this dataset do not. `yacht_legacy` has the paper's.
#
# `make run` and the configurations in `workflow/configs/` repeat this for every method and dataset, and write the tables.
# [Reproduction](../reproduction.html) compares every cell.
