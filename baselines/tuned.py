"""A baseline as a method of the benchmark: tuned on the validation rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from baselines.baseline import Baseline
from baselines.grids import BaselineSettings, Parameters, single_point
from baselines.search import Search
from baselines.trained import TrainedBaseline
from baselines.training_data import training_data
from npt.data.encoding import statistics
from npt.errors import Infeasible, UserError
from npt.interface import Fit, Prediction, Resources
from npt.method import ROW_ALONE, Method
from npt.table import Split, Table

SEED = 42  # of the first fold, as in the paper's code


def method(baseline: Baseline) -> Method:
    """A baseline as a method of the benchmark."""

    def build(settings: BaselineSettings, resources: Resources) -> TunedBaseline:
        declared.require_libraries()
        return TunedBaseline(baseline, settings, resources)

    def refit(
        settings: BaselineSettings,
        chosen: Parameters,
        resources: Resources,
        table: Table,
        split: Split,
        seed: int,
    ) -> TrainedBaseline:
        """Fit the chosen configuration again, to a table that is blind to the test targets."""
        grid = single_point(chosen)
        learner = build(settings.model_copy(update={"grid": grid}), resources)
        learner.fit(table, split, seed)
        assert learner.trained is not None
        return learner.trained

    declared = Method(
        name=baseline.name,
        title=baseline.title,
        settings=BaselineSettings,
        build=build,
        refit=refit,
        supports=baseline.supports,
        slow=baseline.slow,
        accelerated=baseline.accelerated,
        libraries=baseline.libraries,
        test_settings=baseline.test_settings,
        twins=baseline.twins,
        probe="baselines.probe:StoredRowProbe" if baseline.keeps_train_rows else ROW_ALONE,
        extra=baseline.extra,
        version=baseline.version,
    )
    return declared


class TunedBaseline:
    """A baseline that is tuned on the validation rows; `trained` is the winner after `fit`."""

    def __init__(
        self, baseline: Baseline, settings: BaselineSettings, resources: Resources
    ) -> None:
        takes = {
            "native_categories": baseline.takes_categories,
            "native_missing": baseline.takes_missing,
        }
        for key, is_allowed in takes.items():
            if getattr(settings, key) and not is_allowed:
                raise UserError(
                    f"{baseline.name}.{key}: true is not allowed, the method refuses them"
                )
        uses_gpu = baseline.accelerated and resources.device != "auto"
        self.baseline = baseline
        self.settings = settings
        self.device = resources.device if uses_gpu else "cpu"
        self.resources = replace(resources, device=self.device)
        self.trained: TrainedBaseline | None = None

    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        """Search the grid with random state 42 + seed and keep the first of the best.

        Raises:
            Infeasible: The train rows have one target value, no validation row has a target, or
                no configuration could be fitted and scored.
        """
        baseline = self.baseline
        settings = self.settings
        known = statistics(table, split, transductive=settings.transductive)
        keeps_missing = baseline.keeps_missing or settings.native_missing
        data = training_data(
            table,
            split,
            known,
            codes=baseline.embeds_categories or settings.native_categories,
            missing=np.nan if keeps_missing else 0.0,
        )
        if len(np.unique(data.target[data.train])) < 2:
            raise Infeasible("the train rows have a single target value")
        if not len(data.validation):
            raise Infeasible("no validation row has a known target")
        if self.device != "cpu":
            from npt.nn.device import device_of

            device_of(self.device)  # which refuses what is not available
        grid = baseline.configurations(settings, data.task, len(split.train))
        search = Search(baseline, data, settings, SEED + seed, self.resources)
        with threadpool_limits(self.resources.threads):
            winner = search.run(grid)
        self.trained = TrainedBaseline(
            baseline=baseline,
            data=data,
            statistics=known,
            target=table.target,
            parameters=winner.parameters,
            model=winner.predictor,
            resources=self.resources,
            transductive=settings.transductive,
            seed=SEED + seed,
        )
        return Fit(
            grid[winner.index],
            winner.loss,
            search.fits,
            trials=search.trials,
            grid=len(grid),
            models=len(search.outcomes),
        )

    def predict(self, rows: np.ndarray) -> Prediction:
        """Probabilities of all classes (n, C), or values (n,) in original units."""
        assert self.trained is not None, "fit comes first"
        return self.trained.predict(rows)
