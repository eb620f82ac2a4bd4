"""The tests of `onnx.backend.test` as data: models, inputs, the outputs they shall have, and how exact."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from onnx import ModelProto, OptionalProto, SequenceProto, TensorProto, TypeProto, numpy_helper

KINDS = ("node", "expanded", "ml", "preview", "pytorch-converted", "pytorch-operator", "simple", "light")


LOOSER = {"test_dft_inverse": 1e-6, "test_dft_inverse_opset19": 1e-6}
"""The absolute tolerance for tests whose stored outputs are less exact than what they are compared with: zeros that
came out as 2e-7 when they were computed in float32."""


@dataclass(frozen=True)
class Case:
    """A test: `path` is the model's file where it is not in memory."""

    name: str
    kind: str
    operator: str
    rtol: float
    atol: float
    model: ModelProto | None
    path: Path | None
    sets: tuple[tuple[list[Any], list[Any]], ...]


def all_cases() -> list[Case]:
    """Every test, in the order of kinds and names."""
    cases = [*_node_cases(), *_file_cases()]
    return sorted(cases, key=lambda c: (KINDS.index(c.kind), c.name))


def _node_cases() -> Iterator[Case]:
    from onnx.backend.test.case import base as exporters
    from onnx.backend.test.loader import load_model_tests

    # The cases are made when their modules are imported; the source of each, for onnx's documentation, is not wanted.
    snippet: Any = exporters.process_snippet
    exporters.process_snippet = lambda op_name, name, export: (name, "")
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found: list[Any] = load_model_tests(kind="node")
    finally:
        exporters.process_snippet = snippet
    operators = {c.name: c.model.graph.node[0].op_type for c in found}
    for c in found:
        name: str = c.name
        base = name.split("_expanded")[0]
        kind = "expanded" if "_expanded" in name and base in operators else _domain_kind(c.model)
        operator = operators[base] if kind == "expanded" else operators[name]
        sets = tuple(([_plain(v) for v in i], [_plain(v) for v in o]) for i, o in c.data_sets)
        yield Case(name, kind, operator, c.rtol, LOOSER.get(name) or c.atol, c.model, None, sets)


def _domain_kind(model: ModelProto) -> str:
    domain = model.graph.node[0].domain
    return "ml" if domain == "ai.onnx.ml" else "preview" if "preview" in domain else "node"


def _plain(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def _file_cases() -> Iterator[Case]:
    from onnx.backend.test.loader import DATA_DIR, load_model_tests

    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        for c in cast("list[Any]", load_model_tests(kind=kind)):
            folder = Path(c.model_dir)
            model = read_model(folder / "model.onnx")
            sets = tuple(_stored(d, model) for d in sorted(folder.glob("test_data_set*")))
            yield Case(c.name, kind, model.graph.node[0].op_type, c.rtol, c.atol, None, folder / "model.onnx", sets)
    for c in cast("list[Any]", load_model_tests(kind="real")):
        # These are the light models: all weights are made up, and the input counts from 0 to 1.
        path = Path(DATA_DIR) / "light" / Path(c.url).name
        model = read_model(path)
        initialised = {t.name for t in model.graph.initializer}
        inputs = [_counting(i) for i in model.graph.input if i.name not in initialised]
        outputs = [
            _read(path.with_name(f"{path.stem}_output_{k}.pb"), o.type) for k, o in enumerate(model.graph.output)
        ]
        yield Case(c.name, "light", "", c.rtol, c.atol, None, path, ((inputs, outputs),))


def read_model(path: Path) -> ModelProto:
    """A model as its file has it."""
    return ModelProto.FromString(path.read_bytes())


def _counting(proto: Any) -> Any:
    shape = [d.dim_value if d.HasField("dim_value") else 1 for d in proto.type.tensor_type.shape.dim]
    size = int(np.prod(shape))
    return (np.arange(size).reshape(shape) / size).astype(np.float32)


def _stored(folder: Path, model: ModelProto) -> tuple[list[Any], list[Any]]:
    inputs = [_read(folder / f"input_{k}.pb", i.type) for k, i in enumerate(model.graph.input)
              if (folder / f"input_{k}.pb").exists()]  # fmt: skip
    return inputs, [_read(folder / f"output_{k}.pb", o.type) for k, o in enumerate(model.graph.output)]


def _read(path: Path, type_: TypeProto) -> Any:
    data = path.read_bytes()
    if type_.HasField("sequence_type"):
        sequence = SequenceProto()
        sequence.ParseFromString(data)
        return numpy_helper.to_list(sequence)
    if type_.HasField("optional_type"):
        optional = OptionalProto()
        optional.ParseFromString(data)
        return numpy_helper.to_optional(optional)
    return numpy_helper.to_array(TensorProto.FromString(data))
