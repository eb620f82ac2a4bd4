"""The backend of torch.compile, found by its entry point: `torch.compile(model, backend="lamina")`.

AOTAutograd hands over graphs of ATen calls that change nothing in place, the forward and the backward one. What the
table of `frontends/aten` takes is compiled, all else stays eager.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lamina.torch.decompositions import decompositions
from lamina.torch.kernels import CompileOptions
from lamina.torch.library import module, torch
from lamina.torch.partition import Parts, compile_graph


def backend(gm: Any, example_inputs: Sequence[Any], *, options: dict[str, Any] | None = None, **_: Any) -> Any:
    """Compile a graph of dynamo's. `options` are those of `CompileOptions`."""
    return build(gm, example_inputs, CompileOptions.of(options), Parts())


def build(gm: Any, example_inputs: Sequence[Any], options: CompileOptions, parts: Parts) -> Callable[..., Any]:
    """The function for a graph of dynamo's; `parts` is told what is compiled and what stays eager."""
    if options.freeze and not torch().is_grad_enabled():
        frozen = _frozen(gm, example_inputs, options, parts)
        if frozen is not None:
            return frozen
    boxed = module("functorch.compile").make_boxed_func

    def compiler(graph: Any, _: Sequence[Any]) -> Any:
        return boxed(compile_graph(graph, options, parts))

    aot = module("torch._dynamo.backends.common").aot_autograd
    return aot(
        fw_compiler=compiler, bw_compiler=compiler, inference_compiler=compiler, decompositions=decompositions()
    )(gm, example_inputs)


def _frozen(gm: Any, example_inputs: Sequence[Any], options: CompileOptions, parts: Parts) -> Callable[..., Any] | None:
    """The function with its weights as constants; None where it changes its inputs, or sizes are open."""
    if not all(type(e).__name__ in ("Tensor", "Parameter") for e in example_inputs):
        return None
    places = [k for k, n in enumerate(_placeholders(gm)) if not _is_weight(n)]
    weights = {k: v for k, v in enumerate(example_inputs) if k not in places}
    library = torch()

    def with_weights(*inputs: Any) -> Any:
        given = dict(zip(places, inputs, strict=True))
        return gm(*(given[k] if k in given else weights[k] for k in range(len(example_inputs))))

    functional = library.func.functionalize(with_weights, remove="mutations_and_views")
    make_fx = module("torch.fx.experimental.proxy_tensor").make_fx
    with library.no_grad():
        traced = make_fx(functional, decomposition_table=decompositions())(*(example_inputs[k] for k in places))
    if any(n.op == "call_function" and "copy_" in str(n.target) for n in traced.graph.nodes):
        return None
    run = compile_graph(traced, options, parts)

    def call(*args: Any) -> Any:
        return run(*(args[k] for k in places))

    return call


def _is_weight(node: Any) -> bool:
    """Whether an input is a parameter or a buffer of a module, by where dynamo has it from: names may be anything."""
    source = getattr(node, "_dynamo_source", None)
    while source is not None:
        if type(source).__name__ == "UnspecializedParamBufferSource":
            return True
        source = getattr(source, "base", None)
    return False


def _placeholders(gm: Any) -> list[Any]:
    return [n for n in gm.graph.nodes if n.op == "placeholder"]
