"""The light models on other processors: libraries of our linker, called from C in emulators, against onnxruntime.

Every output and what goes into the softmax is within 1e-4 of its largest value. The long tests, `make test-long`,
take all nine models, on one thread and on two.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import ModelProto
from onnx.shape_inference import infer_shapes
from onnx.utils import Extractor

import lamina
from lamina.runtime.exported import read_net

from .emulated_machines import EMULATED, RUN_NET, VARIANTS, EmulatedMachine, run_net

sys.path.insert(0, str(Path(__file__).parents[1]))

import models  # noqa: E402

pytestmark = pytest.mark.slow

ort: Any = pytest.importorskip("onnxruntime")

TOLERANCE = 1e-4
LIMIT = 1800
"""Seconds of one inference in an emulator: the largest takes two minutes alone, several beside others."""
MACHINES = {**EMULATED, **VARIANTS}


class EmulatedCase(NamedTuple):
    """A model, inputs, and what onnxruntime makes of them."""

    model: ModelProto
    inputs: dict[str, np.ndarray[Any, Any]]
    expected: dict[str, np.ndarray[Any, Any]]


def _case(model: ModelProto) -> EmulatedCase:
    inputs = models.random_input(model)
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return EmulatedCase(model, inputs, dict(zip(names, session.run(names, inputs), strict=True)))


# The machines of a model follow each other, and the largest model takes half a gigabyte.
@lru_cache(maxsize=1)
def _whole(name: str) -> EmulatedCase:
    """A light model that also gives what goes into its softmax."""
    model = models.light_model(name)
    return _case(models.with_extra_outputs(model, [models.before_softmax(model)]))


@lru_cache(maxsize=1)
def _begin() -> EmulatedCase:
    """The first eight convolutions of squeezenet, on small images."""
    model = infer_shapes(models.small_model("squeezenet", 32))
    last = [node.output[0] for node in model.graph.node if node.op_type == "Concat"][1]
    return _case(Extractor(model).extract_model([model.graph.input[0].name], [last]))


def _compare(case: EmulatedCase, machine: EmulatedMachine, threads: int, folder: Path) -> None:
    machine.needs_tools()
    library, program = folder / "net.so", folder / "program"
    lamina.export(case.model, library, machine.target, threads=threads)
    net = read_net(library)
    machine.build(RUN_NET, program)
    inputs = [case.inputs[p.name] for p in net.inputs]
    found = run_net(machine.started(program), library, net.name, threads, inputs, net.outputs, repeats=1, limit=LIMIT)
    wrong: list[str] = []
    for port, array in zip(net.outputs, found, strict=True):
        expected = case.expected[port.name]
        largest = float(np.abs(expected).max())
        assert array.shape == expected.shape and largest > 0
        difference = float(np.abs(array.astype(np.float64) - expected).max())
        if not difference <= TOLERANCE * largest:
            wrong.append(f"{port.name}: {difference:.2e} of {largest:.2e}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_begin_of_a_model(machine: str, tmp_path: Path) -> None:
    _compare(_begin(), MACHINES[machine], 2, tmp_path)


LONG = [
    pytest.param(name, machine, threads, marks=pytest.mark.long)
    for name in models.LIGHT_MODELS
    for machine in MACHINES
    for threads in ((1, 2) if machine in EMULATED else (2,))
]


@pytest.mark.parametrize(("name", "machine", "threads"), LONG)
def test_a_light_model(name: str, machine: str, threads: int, kernel_cache: None, tmp_path: Path) -> None:
    _compare(_whole(name), MACHINES[machine], threads, tmp_path)
    for made in tmp_path.iterdir():
        made.unlink()
