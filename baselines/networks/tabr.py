"""The network of TabR-S (Gorishniy et al. 2024, section 3.2)."""

from __future__ import annotations

from torch import Tensor, nn

from baselines.grids import Parameters
from baselines.networks.retrieval import RetrievalNetwork, without_self


class TabRNetwork(RetrievalNetwork):
    """Encodes rows linearly, adds what is retrieved, and predicts with one block.

    Args:
        features: Number of features.
        parameters: `width`, `context_size`, `retrieves`, `context_labels`, `context_dropout` and
            `dropout`.
    """

    def __init__(self, features: int, classes: int | None, parameters: Parameters) -> None:
        super().__init__(classes)
        width = parameters["width"]
        outputs = classes or 1
        hidden = 2 * width
        dropout = parameters["dropout"]
        self.retrieves = parameters["retrieves"]
        self.context_size = parameters["context_size"]
        self.context_labels = parameters["context_labels"]
        self.encoder = nn.Linear(features, width)
        self.key = nn.Linear(width, width)
        self.label = nn.Linear(outputs, width)
        self.correction = nn.Sequential(
            nn.Linear(width, hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, width, bias=False),
        )
        self.context_dropout = nn.Dropout(parameters["context_dropout"])
        self.block = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, width),
        )
        self.head = nn.Sequential(
            nn.LayerNorm(width),
            nn.ReLU(),
            nn.Linear(width, outputs),
        )

    def retrieved(self, features: Tensor, stored: Tensor) -> Tensor:
        """Softmax (n, m) over the nearest keys; zero for other rows, and if none is retrieved."""
        scores = features.new_zeros(len(features), len(stored))
        if not self.retrieves:
            return scores
        weights, places, _ = self._nearest(self.encoder(features), stored, None)
        return scores.scatter(1, places, weights)

    def forward(
        self, features: Tensor, stored: Tensor, labels: Tensor, self_index: Tensor | None = None
    ) -> Tensor:
        """Log-probabilities (n, K), or values (n, 1)."""
        x = self.encoder(features)  # (n, width)
        if self.retrieves:
            x = x + self._context(x, stored, labels, self_index)
        x = x + self.block(x)
        outputs = self.head(x)
        if self.classes is None:
            return outputs
        return outputs.log_softmax(1)

    def _context(
        self, x: Tensor, stored: Tensor, labels: Tensor, self_index: Tensor | None
    ) -> Tensor:
        """What the retrieved rows add to the encodings (n, width)."""
        weights, places, differences = self._nearest(x, stored, self_index)
        values = self.correction(differences)  # (n, c, width)
        if self.context_labels:
            values = values + self.label(self.label_values(labels))[places]
        weights = self.context_dropout(weights)
        return (weights[:, None] @ values)[:, 0]

    def _nearest(
        self, x: Tensor, stored: Tensor, self_index: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Weights and indices (n, c) of the nearest stored rows, and differences of the keys.

        All stored rows, if there are fewer than `context_size`.
        """
        keys = self.key(x)
        stored_keys = self.key(self.encoder(stored))
        scores = without_self(-self.squared_distances(keys, stored_keys), self_index)
        count = min(self.context_size, len(stored))
        nearest, places = scores.topk(count, dim=1)
        weights = nearest.softmax(1)
        differences = keys[:, None] - stored_keys[places]
        return weights, places, differences
