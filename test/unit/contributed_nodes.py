"""Models of single nodes side by side, run by us and by onnxruntime: for the operators that it adds to ONNX's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

import lamina
from lamina.frontends.onnx import load_onnx
from lamina.frontends.onnx.contributed import MICROSOFT
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.measure.timing import exact_session

Array = Any


class Nodes:
    """A model whose nodes each have inputs and outputs of their own; some inputs are the model's, others weights."""

    def __init__(self, seed: int = 0, opset: int = 17) -> None:
        self.rng = np.random.default_rng(seed)
        self.opset = opset
        self.nodes: list[Any] = []
        self.feeds: dict[str, Array] = {}
        self.weights: list[TensorProto] = []
        self.outputs: list[Any] = []
        self.names: list[list[str]] = []

    def bytes_(self, kind: str, *shape: int) -> Array:
        """Random integers over the whole range of a dtype."""
        info = np.iinfo(kind)
        return self.rng.integers(info.min, info.max + 1, shape).astype(kind)

    def floats(self, *shape: int) -> Array:
        """Random float32 numbers around 0."""
        return self.rng.standard_normal(shape).astype(np.float32)

    def add(
        self, op: str, inputs: Sequence[Array | None], given: Sequence[int] = (0,), outputs: Sequence[str] = (),
        domain: str = MICROSOFT, **attrs: Any,
    ) -> None:  # fmt: skip
        """A node; `given` are the numbers of the inputs that are not weights. `outputs` are the dtypes of the outputs,
        empty for one that is not wanted; without them there is one, of the dtype of the first input."""
        names: list[str] = []
        for k, v in enumerate(inputs):
            name = "" if v is None else f"i{len(self.nodes)}.{k}"
            names.append(name)
            if v is not None and k in given:
                self.feeds[name] = v
            elif v is not None:
                self.weights.append(numpy_helper.from_array(np.asarray(v), name))
        while names and not names[-1]:
            names.pop()
        kinds = outputs or [str(np.asarray(inputs[0]).dtype)]
        results = [f"y{len(self.nodes)}.{k}" if kind else "" for k, kind in enumerate(kinds)]
        self.nodes.append(helper.make_node(op, names, results, f"{op}.{len(self.nodes)}", domain=domain, **attrs))
        self.names.append([r for r in results if r])
        for name, kind in zip(results, kinds, strict=True):
            if name:
                type_ = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
                self.outputs.append(helper.make_tensor_value_info(name, type_, None))

    def model(self) -> ModelProto:
        """The model of all nodes."""
        inputs = [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), list(v.shape))
            for n, v in self.feeds.items()
        ]
        graph = helper.make_graph(self.nodes, "nodes", inputs, self.outputs, self.weights)
        sets = [helper.make_opsetid("", self.opset), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=sets, ir_version=8)

    def imported(self) -> dict[str, Array]:
        """What the imported graph computes, by the numpy oracles of its ops."""
        made = load_onnx(self.model().SerializeToString())
        results = run_relay(main_function(made.module), [self.feeds[p.name] for p in made.inputs], made.store)
        return dict(zip([p.name for p in made.outputs], results, strict=True))

    def compiled(self, target: str = "cpu") -> dict[str, Array]:
        """What our machine code computes."""
        made = lamina.compile(self.model().SerializeToString(), target, threads=1, cache=False)
        return made.run(self.feeds)

    def expected(self) -> dict[str, Array]:
        """What onnxruntime computes."""
        session = exact_session(self.model().SerializeToString())
        names = [o.name for o in self.outputs]
        return dict(zip(names, session.run(names, self.feeds), strict=True))

    def check(self, found: Mapping[str, Array], tolerance: float = 1e-5) -> None:
        """Raises AssertionError where a result is not onnxruntime's by a share of its largest value."""
        theirs = self.expected()
        for node, names in zip(self.nodes, self.names, strict=True):
            for name in names:
                what = f"{node.name} {name} {[a.name for a in node.attribute]}"
                ours, wanted = found[name], theirs[name]
                assert (ours.shape, ours.dtype) == (wanted.shape, wanted.dtype), what
                if wanted.dtype.kind in "iub":
                    np.testing.assert_array_equal(ours, wanted, err_msg=what)
                    continue
                wide = wanted.astype(np.float64)
                scale = max(1.0, float(np.abs(wide).max(initial=0)))
                np.testing.assert_allclose(ours.astype(np.float64), wide, rtol=0, atol=tolerance * scale, err_msg=what)
