"""numerics="exact": sums differ from the model's in their order alone; from the front door to saved programs."""

# Programs are written as users write them: with lambdas, and modules that have no types.
# pyright: standard

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import lamina
from lamina.cli.command import run
from lamina.driver.pipelines import Pipeline, steps_of
from lamina.errors import UsageError
from lamina.transform import PassContext, find_pass

FAST = {"cpu-winograd", "relay-fold-scale-axis", "cpu-fuse-attention", "relay-fast-math"}
"""The graph passes that are left out."""


def scaled_convolution() -> tuple[ModelProto, np.ndarray]:
    """y = conv(x, w) * s, large enough for Winograd's kernels."""
    random = np.random.default_rng(11)
    w = random.uniform(-1, 1, (32, 16, 3, 3)).astype(np.float32)
    s = random.uniform(0.1, 3, (32, 1, 1)).astype(np.float32)
    x = random.standard_normal((1, 16, 14, 14)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), helper.make_node("Mul", ["c", "s"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 32, 14, 14))],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(s, "s")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), x


def test_exact_leaves_out_the_passes_that_say_fast() -> None:
    names = {s.name for s in steps_of("cpu").graph}
    assert {n for n in names if getattr(find_pass(n).load(), "numerics", "exact") == "fast"} == FAST
    pipelines = (Pipeline(PassContext(4, numerics=n)) for n in ("fast", "exact"))
    fast, exact = ([p.split("{")[0] for p in pipeline.graph_texts()] for pipeline in pipelines)
    assert exact == [p for p in fast if p not in FAST]
    assert {"relay-simplify-expr{exact=true}", "cpu-flat-convolutions{exact=true}"} <= set(
        Pipeline(PassContext(3, numerics="exact")).graph_texts()
    )


def test_exact_keeps_infinities_apart_from_what_does_not_read_them() -> None:
    """A window of 11 by strides of 2 has no taps that are zeros: times an infinity these are NaN."""
    random = np.random.default_rng(0)
    w = random.standard_normal((4, 8, 11, 11)).astype(np.float32)
    x = random.standard_normal((1, 4, 9, 9)).astype(np.float32)
    x[0, 1, 4, 4] = np.inf
    graph = helper.make_graph(
        [helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 8, 27, 27))],
        [numpy_helper.from_array(w, "w")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    found = lamina.compile(made, threads=1, numerics="exact", cache=False)(x)
    read = np.zeros((27, 27), bool)
    read[8:19, 8:19] = True
    assert np.isinf(found[0, :, read]).all() and np.isfinite(found[0, :, ~read]).all()


def test_exact_is_the_direct_kernel_to_the_bit() -> None:
    made, x = scaled_convolution()
    exact = lamina.compile(made, threads=1, numerics="exact")
    without = PassContext(3, disabled_pass=sorted(FAST))
    assert "winograd" not in str(exact.graph)
    assert exact(x).tobytes() == lamina.compile(made, threads=1, opt_level=without)(x).tobytes()
    fast = lamina.compile(made, threads=1)
    assert "winograd" in str(fast.graph)
    assert fast(x).tobytes() != exact(x).tobytes()
    np.testing.assert_allclose(fast(x), exact(x), rtol=0, atol=1e-5 * np.abs(exact(x)).max())


def test_programs_of_either_kind_are_kept_apart(tmp_path: Path) -> None:
    made, x = scaled_convolution()
    path = tmp_path / "scaled.onnx"
    onnx.save(made, path)
    exact = lamina.compile(path, threads=1, numerics="exact")
    fast = lamina.compile(path, threads=1)
    assert exact(x).tobytes() != fast(x).tobytes()
    again = lamina.compile(path, threads=1, opt_level=PassContext(3, numerics="exact"))
    assert again.cached and again(x).tobytes() == exact(x).tobytes()
    exact.save(tmp_path / "exact.lamina")
    loaded = lamina.Executable.load(tmp_path / "exact.lamina")
    assert loaded.context.numerics == "exact" and loaded(x).tobytes() == exact(x).tobytes()


def test_a_context_that_is_entered_says_it_for_all() -> None:
    made, _ = scaled_convolution()
    with PassContext(3, numerics="exact"):
        assert lamina.compile(made, threads=1, cache=False).context.numerics == "exact"
        assert lamina.compile(made, threads=1, cache=False, numerics="fast").context.numerics == "fast"


def test_questions_of_exact_compilation_are_not_about_winograd() -> None:
    made, _ = scaled_convolution()
    asked = {n: lamina.driver.api.questions(made, threads=1, numerics=n) for n in ("fast", "exact")}
    assert any(q.name.startswith("winograd") for q in asked["fast"])
    assert not any(q.name.startswith("winograd") for q in asked["exact"])


def test_the_command_takes_numerics(tmp_path: Path) -> None:
    made, _ = scaled_convolution()
    path = tmp_path / "scaled.onnx"
    onnx.save(made, path)
    out, err = StringIO(), StringIO()
    assert run(["compile", str(path), "--emit", "te", "--numerics", "exact", "--no-cache"], out, err) == 0
    assert "winograd" not in out.getvalue()


def test_other_numerics_are_refused() -> None:
    with pytest.raises(UsageError, match="numerics is one of fast, exact, not 'precise'"):
        PassContext(3, numerics="precise")
    context = PassContext(3, required_pass=["cpu-winograd"], numerics="exact")
    with pytest.raises(UsageError, match="cpu-winograd is required, and changes results"):
        Pipeline(context)
    err = StringIO()
    assert run(["compile", "--print-pipeline", "--numerics", "precise"], StringIO(), err) == 2
    assert err.getvalue().startswith("error: numerics is one of fast, exact, not 'precise'")
