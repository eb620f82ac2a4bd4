"""Real topologies against onnxruntime: values before the softmax and ten inner tensors, within 1e-4 of the largest.

The long tests (all models at every level) run with `make test-models`; `make test` takes the rest.
"""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest

import lamina
from lamina.driver.pipelines import FUSION, LEVELS, Pipeline
from lamina.transform import OPT_LEVELS, PassContext

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))

import models  # noqa: E402

pytestmark = pytest.mark.slow

ort: Any = pytest.importorskip("onnxruntime")

TOLERANCE = 1e-4
SMALL = ("squeezenet", "densenet121", "resnet50")


def _cases(*short: tuple[str, int]) -> list[Any]:
    """The models at every level, those that are given marked as short tests."""
    return [
        pytest.param(name, level, marks=pytest.mark.slow if (name, level) in short else pytest.mark.long)
        for name in models.LIGHT_MODELS
        for level in OPT_LEVELS
    ]


def _session(model: onnx.ModelProto) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 3
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


class Reference(NamedTuple):
    """A model with the outputs that are compared, an input, and what onnxruntime computes of it."""

    model: onnx.ModelProto
    inputs: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]


def _reference(model: onnx.ModelProto, names: list[str]) -> Reference:
    """A model that also gives some inner tensors, and all of these as onnxruntime computes them."""
    model = models.with_extra_outputs(model, names)
    inputs = models.random_input(model)
    return Reference(model, inputs, dict(zip(names, _session(model).run(names, inputs), strict=True)))


# The levels of a model follow each other, and the largest takes half a gigabyte.
@lru_cache(maxsize=1)
def _inside(name: str) -> Reference:
    """A light model with ten inner tensors and the values before the softmax."""
    model = models.light_model(name)
    names = list(dict.fromkeys([*models.named_inner_tensors(model), models.before_softmax(model)]))
    assert len(names) == 11
    return _reference(model, names)


@cache
def _encoder() -> Reference:
    model = models.encoder_block()
    return _reference(model, [*models.named_inner_tensors(model), model.graph.output[0].name])


def _compare(reference: Reference, opt_level: int) -> None:
    exe = lamina.compile(reference.model, threads=1, opt_level=opt_level)
    found = exe.run(reference.inputs)
    wrong: list[str] = []
    for name, expected in reference.expected.items():
        largest = float(np.abs(expected).max())
        difference = float(np.abs(found[name].astype(np.float64) - expected).max())
        assert largest > 0
        if not difference <= TOLERANCE * largest:
            wrong.append(f"{name}: {difference:.2e} of {largest:.2e}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("name", "opt_level"), _cases(("squeezenet", 0), ("shufflenet", 3), ("resnet50", 3)))
def test_values_agree_with_onnxruntime(name: str, opt_level: int, kernel_cache: None) -> None:
    _compare(_inside(name), opt_level)


@pytest.mark.parametrize(("name", "opt_level"), _cases(("shufflenet", 3)))
def test_stored_outputs(name: str, opt_level: int, kernel_cache: None) -> None:
    """The models as the onnx package ships them, with the outputs that it stores."""
    exe = lamina.compile(models.shipped_with_sums(name), threads=1, opt_level=opt_level)
    models.assert_stored_outputs(name, list(exe.run(models.stored_input(name)).values()))


@pytest.mark.parametrize(
    "opt_level", [pytest.param(n, marks=pytest.mark.slow if n in (0, 3) else pytest.mark.long) for n in OPT_LEVELS]
)
def test_encoder_block(opt_level: int, kernel_cache: None) -> None:
    _compare(_encoder(), opt_level)


@cache
def _small(name: str) -> Reference:
    """A model for small images, and the values before the softmax."""
    model = models.small_model(name)
    return _reference(model, [models.before_softmax(model)])


def _graph_passes(context: int | PassContext) -> set[str]:
    """The graph passes that compile a model. What follows them is no context's to leave out."""
    return {p.name for p in Pipeline(context).graph}


def _small_cases() -> list[Any]:
    quick = ("squeezenet", "relay-simplify-expr")
    return [
        pytest.param(n, p, marks=pytest.mark.slow if (n, p) == quick else pytest.mark.long)
        for n in SMALL
        for p in sorted(_graph_passes(OPT_LEVELS[-1]))
    ]


@pytest.mark.parametrize(("name", "disabled"), _small_cases())
def test_no_pass_is_needed_for_the_result(name: str, disabled: str, kernel_cache: None) -> None:
    """Every graph pass left out in turn, at the level that runs them all."""
    context = PassContext(OPT_LEVELS[-1], disabled_pass=[disabled])
    if disabled == FUSION:  # it stays, and gives each op a function of its own
        assert Pipeline(context).graph_texts()[-1] == f"{FUSION}{{fuse-opt-level=0}}"
    else:
        assert _graph_passes(context) == _graph_passes(OPT_LEVELS[-1]) - {disabled}
    model, inputs, all_expected = _small(name)
    found = lamina.compile(model, threads=1, opt_level=context).run(inputs)
    ((output, expected),) = all_expected.items()
    np.testing.assert_allclose(found[output], expected, rtol=0, atol=TOLERANCE * float(np.abs(expected).max()))


@pytest.mark.parametrize(
    "name",
    ["encoder", *(pytest.param(n, marks=pytest.mark.long) for n in models.LIGHT_MODELS)],
)
def test_stage_texts(name: str, tmp_path: Path) -> None:
    """opt-tool makes each text from relay.mlir byte for byte; the last one runs to the same output."""
    from lamina.opt_tool.command import run_opt_tool

    model = models.encoder_block(heads=2, width=32, length=8) if name == "encoder" else models.light_model(name)
    exe = lamina.compile(model, threads=1, cache=False)
    exe.save_texts(tmp_path)
    so_far: list[str] = []
    for level in LEVELS[1:]:
        so_far.append(Pipeline(exe.opt_level).text(level))
        status, out, err = run_opt_tool([str(tmp_path / "relay.mlir"), "-p", ",".join(so_far)])
        assert status == 0, err
        assert out == (tmp_path / f"{level}.mlir").read_text(), level
    for level in ("relay", "te", "tir", "llvm"):
        path = tmp_path / f"{level}.mlir"
        status, out, err = run_opt_tool([str(path), *(["--print-debuginfo"] if level == "relay" else [])])
        assert status == 0 and out == path.read_text(), f"{level} does not round-trip: {err}"
    inputs = models.random_input(model)
    np.savez(tmp_path / "x.npz", allow_pickle=False, **inputs)
    words = ["--run", "@main", "--input", str(tmp_path / "x.npz"), "--output", str(tmp_path / "y.npz")]
    status, _, err = run_opt_tool([str(tmp_path / "llvm.mlir"), *words])
    assert status == 0, err
    with np.load(tmp_path / "y.npz") as stored:
        for output, array in exe.run(inputs).items():
            np.testing.assert_array_equal(stored[output], array)


def test_a_chain_of_nodes_needs_no_recursion(kernel_cache: None) -> None:
    model = models.chain_model(3000)
    _compare(_reference(model, ["y"]), 3)
