"""Solved NPT: a row is predicted by attention to labelled rows whose weights are solved for.

n query rows, N labelled rows, m context rows (labelled rows that are equal are one), H heads,
S solutions (heads times ridges), C targets: one, or one per class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from npt.solved.cells import Cells, Context, Encoder
from npt.solved.kernels import Parameters
from npt.solved.landmarks import Landmarks, LandmarkSolution
from npt.solved.mix import log_shares, sharpened, stacked
from npt.solved.settings import SolvedSettings
from npt.solved.solve import Solution, solve
from npt.solved.tune import head_parameters, heads, ordered, ridges, sample, tune

Solved = Solution | LandmarkSolution
CHUNKS = {"cpu": 250_000, "cuda": 1_000_000}  # entries of a kernel at once; caches hold 250,000
EVEN_ROWS = 0.5  # more than the context's, of all classes alike: few rows make nothing certain
MOST_CELLS = 100_000_000  # of the context rows' kernel to landmarks: 0.8 GB, of which a few at once


@dataclass(frozen=True)
class Mixture:
    """How solutions are mixed, from their leave-one-out predictions.

    Attributes:
        shares: Weights (S,) of the solutions, which sum to one.
        sharpness: Factor of the scores of classes.
        bias: Added to the logits of classes (C,).
    """

    shares: Tensor
    sharpness: float
    bias: Tensor

    def mixed(self, predictions: Tensor) -> Tensor:
        """The mixture (m, C) of predictions (S, m, C)."""
        return torch.einsum("s,smc->mc", self.shares, predictions)


def fit(
    features: np.ndarray,
    labels: np.ndarray,
    categorical: np.ndarray,
    *,
    classes: int | None = None,
    weights: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    settings: SolvedSettings | None = None,
    device: torch.device | None = None,
    parameters: Parameters | None = None,
) -> SolvedNPT:
    """Tune on labelled rows, and predict from them.

    Args:
        features: (N, F) numbers and category codes, NaN where missing.
        labels: Numbers (N,), or class codes.
        categorical: Which columns are codes (F,) bool.
        classes: Number of classes; None for a regression.
        weights: (N,), positive; all 1 by default.
        groups: Numbers (N,), equal for rows that tuning and mixing leave out together.
        parameters: What was tuned on the same rows before.
    """
    context = Context.from_labels(features, labels, classes, weights, groups)
    return SolvedNPT(
        context,
        Encoder.from_context(context, categorical),
        classes,
        settings or SolvedSettings(),
        device or torch.device("cpu"),
        parameters,
    )


class SolvedNPT:
    """Predictions from labelled rows.

    Args:
        context: Labelled rows.
        encoder: Statistics of the features.
        classes: Number of classes; None for a regression.
        parameters: Relevances, lengths and ridges of all heads; by default they are tuned.
        mixture: Of other labelled rows; by default it is found on these.
    """

    def __init__(
        self,
        context: Context,
        encoder: Encoder,
        classes: int | None,
        settings: SolvedSettings,
        device: torch.device,
        parameters: Parameters | None = None,
        mixture: Mixture | None = None,
    ) -> None:
        self.context = context
        self.encoder = encoder
        self.classes = classes
        self.settings = settings
        self.seed = settings.seed
        self.device = device
        self.cells = self._encoded(context.features)
        self.weights = torch.from_numpy(context.weights).to(device)
        self.groups = None
        self.multiples = self.weights.clamp(min=1)  # equal rows (m,), of which one is left out
        if context.groups is not None:
            self.groups = torch.from_numpy(context.groups).to(device)
            self.multiples = torch.ones_like(self.weights)
        self._standardise()
        if parameters is None:
            parameters = tune(self.cells, self.targets, self.weights, settings, self.groups)
        self.parameters = parameters
        self.is_exact = len(self.weights) <= settings.exact_rows
        self.keys = self.cells
        if not self.is_exact:
            generator = torch.Generator().manual_seed(settings.seed)
            most = min(settings.landmarks, MOST_CELLS // len(self.weights))
            places = sample(len(self.weights), most, generator).to(device)
            self.keys = self.cells.take(ordered(self.cells)[places])
        self.kernels = heads(settings)
        self.chunk = max(1, CHUNKS[device.type] // len(self.keys.scores))  # rows of a kernel
        coefficients = []
        left_out = []
        for solution in chain.from_iterable(self._solutions()):
            coefficients.append(solution.coefficients(self.targets))
            if mixture is None:
                left_out.append(solution.leave_one_out(self.targets))
        if mixture is None:
            predictions = torch.stack(left_out)
            mixture = self._mixed(predictions)
            self.left_out_scores = mixture.mixed(predictions)
        self.mixture = mixture
        slopes, intercepts = map(torch.stack, zip(*coefficients, strict=True))
        shared = self.mixture.shares[:, None, None] * slopes
        self.slopes = shared.unflatten(0, (len(self.kernels), -1)).sum(1)  # (H, keys, C)
        self.intercept = self.mixture.shares @ intercepts

    def among(self, features: np.ndarray, labels: np.ndarray) -> SolvedNPT:
        """The same model, with all that was tuned, given other labelled rows.

        Args:
            features: (N, F), NaN where missing.
            labels: Numbers (N,), or class codes.
        """
        return SolvedNPT(
            Context.from_labels(features, labels, self.classes),
            self.encoder,
            self.classes,
            self.settings,
            self.device,
            self.parameters,
            self.mixture,
        )

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Numbers (n,) or probabilities (n, C) of rows (n, F)."""
        parts = []
        for cells in self._encoded(features).split(self.chunk):
            scores = self.intercept.expand(len(cells.scores), -1)
            for head, slopes in enumerate(self.slopes):
                scores = scores + self._near(head, cells) @ slopes
            parts.append(self._decoded(scores))
        return np.concatenate(parts)

    @property
    def loss(self) -> float:
        """Mean leave-one-out loss: squared error in units of the variance, or NLL in nats."""
        shares = self.weights / self.weights.sum()
        if self.classes is None:
            squares = (self.targets - self.left_out_scores)[:, 0].square()
            variance = float(shares @ self.targets[:, 0].square())
            return float(shares @ squares) / (variance or 1.0)
        likelihood = self._left_out_probabilities().log()
        return -float(shares @ ((self.targets + self.centre) * likelihood).sum(1))

    def context_weights(self, features: np.ndarray) -> np.ndarray:
        """Weights (n, m) of the context rows, which sum to one and may be negative.

        A predicted number is the sum of the labels times their weights. Of classes, it is their
        scores before `sharpness` that are such a sum.
        """
        weights = self.weights.new_zeros(len(features), len(self.weights))
        for share, near, solution in self._attending(self._encoded(features)):
            for part, rows in zip(weights.split(self.chunk), near.split(self.chunk), strict=True):
                part += share * solution.weights(rows)
        return weights.cpu().numpy()

    def attention_weights(self, features: np.ndarray) -> np.ndarray:
        """Weights (n, N) of the labelled rows; equal rows share theirs by their own weights."""
        context = self.context
        shares = context.row_weights / context.weights[context.places]
        return self.context_weights(features)[:, context.places] * shares

    def without(self, features: np.ndarray, *places: np.ndarray) -> list[np.ndarray]:
        """Predictions of rows (n, F), each without context rows of its own, in closed form.

        What is tuned and mixed stays as it is.

        Args:
            places: Context rows (n, k) to leave out, for each of the predictions that are
                returned; k is smaller than m.
        """
        left_out = [torch.from_numpy(rows).to(self.weights.device) for rows in places]
        scores = self.weights.new_zeros(len(places), len(features), 1)
        for share, near, solution in self._attending(self._encoded(features)):
            weights = solution.weights(near)
            parts = [solution.without(near, weights, self.targets, rows) for rows in left_out]
            scores = scores + share * torch.stack(parts)
        if self.classes is None:
            return [self._decoded(predicted) for predicted in scores]
        counts = self._counts()
        return [
            self._probabilities(predicted, counts[rows].sum(1)).cpu().numpy()
            for predicted, rows in zip(scores, left_out, strict=True)
        ]

    def without_each(self, features: np.ndarray) -> np.ndarray:
        """Predicted numbers (n, u) of rows (n, F), each without one of u units, in closed form.

        A unit is one of the equal rows that are one context row, or a group.
        """
        scores = self.intercept.repeat(len(features), self.context.unit_count)
        parts = self._encoded(features).split(self.chunk)
        for head, solutions in enumerate(self._shared_solutions()):
            slopes = self.slopes[head]  # of the predictions with all rows
            for share, solution in solutions:
                residuals = share * (self.targets - solution.leave_one_out(self.targets))[:, 0]
                residuals = residuals / self.multiples
                matrix, vector = solution.weight_map
                slopes = slopes - self._by_unit(matrix * residuals)
                scores -= self._by_unit(vector * residuals)
            for without, cells in zip(scores.split(self.chunk), parts, strict=True):
                without += self._near(head, cells) @ slopes
        return scores.mul_(self.scale).add_(self.centre).cpu().numpy()

    def left_out(self) -> np.ndarray:
        """Predictions of the context rows, each without one of its equal rows, or its group."""
        if self.classes is None:
            return self._decoded(self.left_out_scores)
        return self._left_out_probabilities().cpu().numpy()

    def _standardise(self) -> None:
        """Set targets (m, C), minus their mean `centre` (C,), in units of their deviation `scale`.

        Classes are not scaled: their targets are one-hot.
        """
        shares = self.context.weights / self.context.weights.sum()
        centre = shares @ self.context.targets
        centred = self.context.targets - centre
        self.scale = 1.0
        if self.classes is None:
            exponent = np.frexp(np.abs(centred).max())[1]  # squares of tiny numbers vanish
            deviation = np.sqrt(shares @ np.ldexp(centred[:, 0], -exponent) ** 2)
            self.scale = float(np.ldexp(deviation, exponent)) or 1.0
        self.targets = torch.from_numpy(centred / self.scale).to(self.device)
        self.centre = torch.from_numpy(centre).to(self.device)

    def _mixed(self, predictions: Tensor) -> Mixture:
        """The mixture of leave-one-out predictions (S, m, C)."""
        shares = stacked(self.targets - predictions, self.weights)
        sharpness = 1.0
        bias = torch.zeros_like(self.centre)
        if self.classes is not None:
            shares, sharpness, bias = sharpened(predictions, self._counts(), shares)
        return Mixture(shares, sharpness, bias)

    @cached_property
    def left_out_scores(self) -> Tensor:
        """Predictions (m, C) of the context rows, each without the label of one of its equal rows.

        Standardised targets, or shares of classes minus those of the context.
        """
        solutions = chain.from_iterable(self._solutions())
        predictions = [solution.leave_one_out(self.targets) for solution in solutions]
        return self.mixture.mixed(torch.stack(predictions))

    def _by_unit(self, numbers: Tensor) -> Tensor:
        """Sums (..., u) over the context rows of each unit, of numbers (..., m)."""
        if self.groups is None:
            return numbers
        sums = numbers.new_zeros(*numbers.shape[:-1], self.context.unit_count)
        return sums.index_add_(-1, self.groups, numbers)

    def _near(self, head: int, cells: Cells) -> Tensor:
        """Kernel (n, k) of a head from rows to the keys, of `chunk` rows at a time."""
        tuned = head_parameters(self.parameters, head)
        kernel = self.kernels[head]
        return torch.cat([kernel(tuned, part, self.keys) for part in cells.split(self.chunk)])

    def _solutions(self) -> Iterator[Iterable[Solved]]:
        """Solutions of every head, one for each ridge."""
        for head, factor in enumerate(self.parameters["ridge"]):
            near = self._near(head, self.keys)
            if self.is_exact:
                solved = partial(solve, near, weights=self.weights, groups=self.groups)
            else:
                rows = self._near(head, self.cells)
                solved = Landmarks(rows, near, self.weights, self.groups).solve
            yield map(solved, ridges(factor, self.settings))

    def _shared_solutions(self) -> Iterator[Iterable[tuple[Tensor, Solved]]]:
        """Shares in the mixture, and solutions, of every head."""
        shares = self.mixture.shares.unflatten(0, (len(self.kernels), -1))
        for of_head, solutions in zip(shares, self._solutions(), strict=True):
            yield zip(of_head, solutions, strict=True)

    def _attending(self, cells: Cells) -> Iterator[tuple[Tensor, Tensor, Solved]]:
        """Share in the mixture, kernel (n, keys) of queries, and solution."""
        for head, solutions in enumerate(self._shared_solutions()):
            near = self._near(head, cells)
            for share, solution in solutions:
                yield share, near, solution

    def _encoded(self, features: np.ndarray) -> Cells:
        return self.encoder(features).to(self.device, torch.float64)

    def _decoded(self, scores: Tensor) -> np.ndarray:
        """Numbers (n,) or probabilities (n, C) from standardised scores (n, C)."""
        if self.classes is None:
            return (scores[:, 0] * self.scale + self.centre[0]).cpu().numpy()
        return self._probabilities(scores).cpu().numpy()

    def _probabilities(self, scores: Tensor, left_out: Tensor | float = 0.0) -> Tensor:
        """Probabilities (n, C) from scores, without weights (n, C) of the context's classes."""
        counts = (self.centre * self.weights.sum() - left_out).clamp(min=0)
        rows = counts.sum(-1, keepdim=True)
        shares = counts / rows
        scores = scores + self.centre - shares
        logits = self.mixture.sharpness * scores + log_shares(shares) + self.mixture.bias
        return (rows * logits.softmax(1) + EVEN_ROWS / len(self.centre)) / (rows + EVEN_ROWS)

    def _counts(self) -> Tensor:
        """Weights (m, C) of the classes of the context rows."""
        return self.weights[:, None] * torch.from_numpy(self.context.targets).to(self.targets)

    def _left_out_probabilities(self) -> Tensor:
        """Probabilities (m, C) of the context rows, without the label of one of equal rows."""
        if len(self.weights) == 1:
            return self._probabilities(self.left_out_scores)
        counts = self._counts() / self.multiples[:, None]
        if self.groups is not None:
            counts = self._by_unit(counts.T).T[self.groups]
        return self._probabilities(self.left_out_scores, counts)
