"""Reports of what of a model is compiled, and what stays eager."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lamina.torch.dynamo import build
from lamina.torch.kernels import CompileOptions
from lamina.torch.library import torch
from lamina.torch.partition import Parts


@dataclass
class Explanation(Parts):
    """Report on a model: graphs of dynamo's, programs, and the operators that stay eager, with their places."""

    graphs: int = 0

    def __str__(self) -> str:
        lines = [
            f"{self.graphs} graphs, {self.nodes} operators: {self.nodes - len(self.eager)} compiled in "
            f"{self.programs} programs, {len(self.eager)} eager"
        ]
        lines += [f"  {e.target}" + (f" ({e.place})" if e.place else "") + f": {e.reason}" for e in self.eager]
        return "\n".join(lines)


def explain(model: Any, *args: Any, options: dict[str, Any] | None = None, **kwargs: Any) -> Explanation:
    """Compile a model for inputs, run it once, and say what of it was compiled. Raises what the model raises."""
    library, found = torch(), Explanation()

    def counted(gm: Any, example_inputs: Any, **_: Any) -> Any:
        found.graphs += 1
        return build(gm, example_inputs, CompileOptions.of(options), found)

    library._dynamo.reset()
    library.compile(model, backend=counted)(*args, **kwargs)
    library._dynamo.reset()
    return found
