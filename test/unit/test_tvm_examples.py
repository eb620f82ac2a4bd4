"""The programs of examples/tvm: what they compute, against numpy, onnxruntime and integer arithmetic."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.errors import LaminaError

pytestmark = pytest.mark.slow

relay: Any = _relay
FOLDER = Path(__file__).parents[2] / "examples" / "tvm"


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"tvm_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def shufflenet(folder: Path) -> Path:
    """A model of the onnx package's in a file."""
    import onnx

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from models import light_model

    path = folder / "shufflenet.onnx"
    onnx.save(light_model("shufflenet"), str(path))  # pyright: ignore[reportUnknownMemberType]
    return path


@pytest.mark.slow
def test_an_onnx_model_is_imported_built_and_run(tmp_path: Path) -> None:
    ort = pytest.importorskip("onnxruntime")
    path = shufflenet(tmp_path)
    found = example("onnx_resnet").main(str(path), repeats=1)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, {session.get_inputs()[0].name: found["input"]})
    np.testing.assert_allclose(found["output"], wanted, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
def test_the_tutorial_of_autotvm_tunes(tmp_path: Path) -> None:
    path = shufflenet(tmp_path)
    tune = example("tune_resnet")
    found = tune.main(str(path), tuner="xgb_rank_knob", trials=3, most=2)
    np.testing.assert_allclose(found["after"], found["before"], rtol=1e-3, atol=1e-6)
    assert len(Path(found["records"]).read_text().splitlines()) >= 6
    kinds = [
        type(tune.tuner_for(None, name)).__name__ for name in ("ga", "random", "gridsearch", "xgb_rank_binary_curve")
    ]
    assert kinds == ["GATuner", "RandomTuner", "GridSearchTuner", "XGBTuner"]
    with pytest.raises(ValueError, match="Invalid tuner: bayes"):
        tune.tuner_for(None, "bayes")


def test_the_fragment_is_partitioned_and_computes_the_same() -> None:
    mod, changed = example("qnn_fragment").partitioned()
    names = [g.name_hint for g in changed.get_global_vars()]
    assert names == ["main", "tvmgen_default_ethos_n_main_0"]
    region = changed["tvmgen_default_ethos_n_main_0"]
    assert region.attrs["Compiler"] == "ethos-n" and region.attrs["global_symbol"] == names[1]
    composite = region.body.op
    assert composite.attrs.Composite == "ethos-n.qnn_conv2d"
    assert composite.attrs.PartitionedFromPattern == "nn.pad_qnn.conv2d_nn.bias_add_qnn.requantize_"
    assert changed["main"].body.op.name_hint == names[1] and changed["main"].body.args[0].op.name == "qnn.quantize"
    data = np.random.default_rng(1).standard_normal((1, 3, 32, 32)).astype("float32")
    outputs = [relay.create_executor("vm", m).evaluate()(data).numpy() for m in (mod, changed)]
    assert np.array_equal(*outputs) and len(np.unique(outputs[0])) > 20


def test_the_fragment_computes_what_integers_do() -> None:
    mod, _ = example("qnn_fragment").partitioned()
    data = np.random.default_rng(2).standard_normal((1, 3, 32, 32)).astype("float32")
    found = relay.create_executor("vm", mod).evaluate()(data).numpy()
    calls = {n.op.name: n for n in nodes(mod["main"].body) if isinstance(n, relay.Call)}
    weight, bias = (calls[op].args[1].data.numpy().astype("int64") for op in ("qnn.conv2d", "nn.bias_add"))
    scale = np.float32(0.0186579)
    q = np.clip(np.round(data / scale) + 114, 0, 255).astype("int64") - 114
    q = np.pad(q, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(q, (3, 3), (2, 3))[:, :, ::2, ::2]
    sums = np.einsum("bchwij,ocij->bohw", windows, weight) + bias[:, None, None]
    # The scale as a 31-bit fraction and a shift, products rounded half up, as TVM's UPWARD has it.
    ratio = float(np.float32(5.39136e-05)) / float(np.float32(0.0150183))
    mantissa, exponent = np.frexp(ratio)
    multiplier = round(float(mantissa) * 2**31)
    shift = 31 - int(exponent)
    wanted = np.clip((sums * multiplier + (1 << (shift - 1))) >> shift, 0, 255)
    assert np.array_equal(found, wanted)


def nodes(expr: Any) -> list[Any]:
    found: list[Any] = []
    relay.analysis.post_order_visit(expr, found.append)
    return found


def test_callbacks_fold_the_weight_and_remove_the_clip() -> None:
    before, after = example("qnn_fragment").rewritten()
    assert relay.analysis.list_op_freqs(before) == {
        "qnn.quantize": 1, "qnn.dense": 1, "qnn.requantize": 1, "clip": 1,
    }  # fmt: skip
    assert relay.analysis.list_op_freqs(after) == {"qnn.dense": 1, "qnn.requantize": 1}
    dense = after["main"].body.args[0]
    assert dense.args[1].data.numpy().tolist() == [[64, -32, 96], [127, 0, -64]]
    assert after["main"].params == before["main"].params
    x = np.array([[3, 200, 9], [0, 1, 255]], "uint8")
    outputs = [relay.create_executor("vm", m).evaluate()(x).numpy() for m in (before, after)]
    assert np.array_equal(*outputs)


def test_passes_change_the_program_and_not_what_it_computes() -> None:
    found = example("build_and_passes").main()
    folded, merged, fused, level_2, level_3, without, _ = found["modules"]
    counts = [relay.analysis.list_op_freqs(m) for m in (folded, merged)]
    assert counts == [{"nn.conv2d": 1, "add": 4}, {"nn.conv2d": 1, "add": 3}]
    primitive = [[n for n in nodes(m["main"]) if isinstance(n, relay.Function) and n.attrs.get("Primitive")]
                 for m in (fused, level_2, level_3, without)]  # fmt: skip
    assert [len(p) for p in primitive] == [4, 1, 1, 1]
    assert relay.analysis.list_op_freqs(level_3)["add"] == 3 and relay.analysis.list_op_freqs(level_2)["add"] == 4
    assert relay.analysis.list_op_freqs(without)["add"] == 4

    data, weight = found["inputs"]
    windows = np.lib.stride_tricks.sliding_window_view(data, (3, 3), (2, 3))
    conv = np.einsum("bchwij,ocij->bohw", windows, weight, optimize=True)
    c = np.broadcast_to(np.linspace(-1, 1, 54), (1, 64, 54, 54))
    plain, at_level_3, tripled = found["outputs"]
    for output in (plain, at_level_3):
        np.testing.assert_allclose(output, 2 * (conv + 4 * c + c), rtol=1e-3, atol=1e-3)
    # Each constant is three times what it was: c, and the 2 that multiplies.
    np.testing.assert_allclose(tripled, 2 * (conv + 6 * c * 6 + 3 * c), rtol=1e-3, atol=1e-3)


def test_weights_are_parameters_where_they_are_not_frozen() -> None:
    from onnx import TensorProto, helper, numpy_helper

    weight = np.random.default_rng(0).standard_normal((40, 30)).astype("float32")
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [2, 40]), ("y", [2, 30]))]
    graph = helper.make_graph([node], "g", ports[:1], ports[1:], [numpy_helper.from_array(weight, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    data = np.random.default_rng(1).standard_normal((2, 40)).astype("float32")
    for freeze in (True, False):
        mod, params = relay.frontend.from_onnx(model, {"x": (2, 40)}, freeze_params=freeze)
        assert (list(params) == []) is freeze
        assert [p.name_hint for p in mod["main"].params] == (["x"] if freeze else ["x", *params])
        run = relay.create_executor("graph", mod, params=params).evaluate()
        np.testing.assert_allclose(run(data).numpy(), data @ weight, rtol=1e-4)
    assert isinstance(mod, tvm.IRModule)


@pytest.mark.slow
def test_a_classifier_runs_from_the_three_files_it_is_saved_in(tmp_path: Path) -> None:
    found = example("deploy_classifier").main(8, 16, str(tmp_path))
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "deploy_params", "deploy_resnet_graph.json", "deploy_resnet_lib.tar",
    ]  # fmt: skip
    assert np.array_equal(found["output"], found["again"])
    plain = relay.create_executor("vm", found["module"], params=found["params"]).evaluate()(data=found["input"]).numpy()
    assert plain.shape == (1, 1000) and plain.argmax() == found["output"].argmax()
    np.testing.assert_allclose(found["output"], plain, rtol=1e-3, atol=1e-6)


def test_a_list_of_layers_is_folded_over() -> None:
    found = example("recursive_list").main()
    wanted = found["input"]
    for weight in found["weights"]:
        wanted = np.maximum(wanted @ weight.T, 0)
    np.testing.assert_allclose(found["output"], wanted, rtol=1e-4)
    assert (found["depth"], found["squared"]) == (6, "Cons(4., Cons(9., Nil))")


def onnx_sum(dtype: int) -> Any:
    from onnx import helper

    ports = [helper.make_tensor_value_info(n, dtype, [3]) for n in "xyz"]
    nodes = [helper.make_node("Add", ["x", "y"], ["s"]), helper.make_node("Neg", ["s"], ["z"], name="last")]
    return helper.make_model(
        helper.make_graph(nodes, "g", ports[:2], ports[2:]), opset_imports=[helper.make_opsetid("", 17)]
    )


def test_the_options_of_the_importer_are_tvms(tmp_path: Path) -> None:
    import onnx

    model = onnx_sum(onnx.TensorProto.FLOAT)
    mod, _ = relay.frontend.from_onnx(model, {"x": (3,)}, dtype={"x": "int32", "y": "int32"}, convert_config={})
    assert [p.checked_type.dtype for p in mod["main"].params] == ["int32", "int32"]
    mod, _ = relay.frontend.from_onnx(model, dtype="float64")
    assert [p.checked_type.dtype for p in mod["main"].params] == ["float32", "float32"]
    path = tmp_path / "renamed.onnx"
    relay.frontend.from_onnx(model.SerializeToString(), export_node_renamed_model_path=str(path))
    assert [n.name for n in onnx.load(str(path)).graph.node] == ["Add_0", "last"]  # pyright: ignore[reportUnknownMemberType]
    assert [n.name for n in model.graph.node] == ["", "last"]
    mod, _ = relay.frontend.from_onnx(model, opset=14)
    found = relay.create_executor("vm", mod).evaluate()(*(np.full(3, v, "float32") for v in (1, 2)))
    assert found.numpy().tolist() == [-3, -3, -3]
    with pytest.raises(LaminaError, match="99"):
        relay.frontend.from_onnx(model, opset=99)
    with pytest.raises(LaminaError, match="input 'x': an extent stays open; give it a number"):
        relay.frontend.from_onnx(model, {"x": (relay.Any(),)})


def test_arrays_are_shared_with_other_libraries() -> None:
    values = np.arange(6, dtype="float32").reshape(2, 3)
    shared, own = tvm.nd.numpyasarray(values), tvm.nd.array(values)
    values[0, 0] = 7
    assert shared.numpy()[0, 0] == 7 and own.numpy()[0, 0] == 0
    again = tvm.nd.from_dlpack(shared)
    np.from_dlpack(own)
    again[1, 2] = 9
    assert values[1, 2] == 9 and shared.same_as(shared) and not shared.same_as(own)
    assert (own.size, own.ndim, tvm.nd.array(np.float32(3)).asscalar()) == (6, 2, 3)
    assert tvm.nd.device("llvm") == tvm.nd.cpu() == own.device and not tvm.nd.cuda().exist
