"""Reports of what of a model is compiled, and what stays eager."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lamina.torch.dynamo import build
from lamina.torch.kernels import CompileOptions
from lamina.torch.library import torch
from lamina.torch.partition import Eager, Parts


@dataclass
class Explanation:
    """Report on a model: graphs of dynamo's, programs, and the operators that stay eager, with their places."""

    graphs: int = 0
    programs: int = 0
    nodes: int = 0
    eager: list[Eager] = field(default_factory=list[Eager])

    def __str__(self) -> str:
        lines = [
            f"{self.graphs} graphs, {self.nodes} operators: {self.nodes - len(self.eager)} compiled in "
            f"{self.programs} programs, {len(self.eager)} eager"
        ]
        lines += [f"  {e.target}" + (f" ({e.place})" if e.place else "") + f": {e.reason}" for e in self.eager]
        return "\n".join(lines)


def explain(model: Any, *args: Any, options: dict[str, Any] | None = None, **kwargs: Any) -> Explanation:
    """Compile a model for inputs, run it once, and say what of it was compiled. Raises what the model raises."""
    library, parts, graphs = torch(), Parts(), [0]

    def counted(gm: Any, example_inputs: Any, **_: Any) -> Any:
        graphs[0] += 1
        return build(gm, example_inputs, CompileOptions.of(options), parts)

    library._dynamo.reset()
    library.compile(model, backend=partial(counted))(*args, **kwargs)
    library._dynamo.reset()
    return Explanation(graphs[0], parts.programs, parts.nodes, parts.eager)
