"""A step as one CUDA graph: a single launch in place of the thousands that a small table waits for.

The functions recorded do not wait for the device, and their tensors stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

WARM_UP = 2  # calls in which libraries choose their kernels and workspaces


class Recorded:
    """A function of tensors; its kernels are captured at the third call, and replayed from there.

    Random numbers come from torch's generator of the device or from `generators`: seeded before
    a call, they give the same numbers as they would without a graph.

    Args:
        function: Its inputs keep their shapes.
        generators: Further generators that it draws from.
    """

    def __init__(
        self,
        function: Callable[..., Tensor],
        device: torch.device,
        generators: Sequence[torch.Generator] = (),
    ) -> None:
        self.function = function
        self.generators = generators
        self.stream = torch.cuda.Stream(device)
        self.calls = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._inputs: list[Tensor] = []
        self._output = torch.empty(0)

    def __call__(self, *inputs: Tensor) -> Tensor:
        """The function's output."""
        self.calls += 1
        if self.calls <= WARM_UP:
            return self._on_stream(*inputs)
        if self._graph is None:
            self._graph = self._captured(inputs)
        for kept, given in zip(self._inputs, inputs, strict=True):
            kept.copy_(given)
        self._graph.replay()
        return self._output.clone()

    def _on_stream(self, *inputs: Tensor) -> Tensor:
        """The function on the stream of the capture, where the gradients' nodes belong."""
        current = torch.cuda.current_stream(self.stream.device)
        self.stream.wait_stream(current)
        with torch.cuda.stream(self.stream):
            output = self.function(*inputs)
        current.wait_stream(self.stream)
        return output

    def _captured(self, inputs: Sequence[Tensor]) -> torch.cuda.CUDAGraph:
        self._inputs = [given.clone() for given in inputs]
        graph = torch.cuda.CUDAGraph()
        for generator in self.generators:
            graph.register_generator_state(generator)
        errors = "thread_local"  # other threads may train on this device
        with torch.cuda.graph(graph, stream=self.stream, capture_error_mode=errors):
            self._output = self.function(*self._inputs)
        return graph
