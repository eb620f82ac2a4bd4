"""TVM's modules as programs import and ask them: names that are missing, targets, errors, executors."""

# Programs are written as users write them: with lambdas, and modules that have no types.
# pyright: standard, reportAttributeAccessIssue=false

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.contrib import graph_executor
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError

relay: Any = _relay
ROOT = "lamina.compat.tvm"


# -- imports -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, hint",
    [
        ("meta_schedule", "tvm.meta_schedule is not bridged; use "),
        ("autotvm.graph_tuner", "tvm.autotvm.graph_tuner is not bridged; use `lamina tune`"),
        ("meta_schedule.runner", "tvm.meta_schedule is not bridged; use "),
        ("relay.quantize", "tvm.relay.quantize is not bridged; use a quantised ONNX model"),
        ("relay.frontend.from_paddle", "tvm.relay.frontend.from_paddle is not bridged; use paddle2onnx"),
        ("relay.transform.FoldConstan", "did you mean 'FoldConstant'"),
        ("relay.nn.conv2", "did you mean 'conv2d'"),
        ("ir.instrumen", "did you mean 'instrument'"),
        ("contrib.ndk", "tvm.contrib.ndk is not bridged; use a compiler for the device"),
        ("relay.op.strategy", "tvm.relay.op.strategy is not bridged; use a schedule"),
        ("tir.call_packed", "tvm.tir.call_packed is not bridged; use statements"),
        ("topi.generic", "topi has no generic; use te.create_schedule"),
        ("driver.build", "tvm.driver.build is not bridged; use tvm.build"),
        ("topi.nn.relu6", "topi has no nn.relu6; did you mean 'nn.relu'"),
        ("te.placeholde", "did you mean 'placeholder'"),
    ],
)
def test_importing_a_name_that_is_missing_says_what_to_use(name: str, hint: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=hint):
        import_module(f"{ROOT}.{name}")
    parent, _, last = name.rpartition(".")
    if parent.partition(".")[0] != "meta_schedule":
        with pytest.raises(ImportError, match=hint):
            __import__(f"{ROOT}.{parent}".rstrip("."), fromlist=[last])


@pytest.mark.parametrize(
    "name",
    [
        "ir.instrument", "ir.transform", "runtime.vm", "relay.qnn.transform", "relay.qnn.op", "relay.op.nn", "topi.nn",
        "topi.nn.utils", "topi.utils", "contrib.graph_runtime", "contrib.utils", "relay.vm", "relay.op.op",
        "relay.op.contrib.register", "error",
    ],
)  # fmt: skip
def test_modules_of_tvm_are_imported_though_no_file_stands_there(name: str) -> None:
    at: Any = tvm
    for part in name.split("."):
        at = getattr(at, part)
    found = import_module(f"{ROOT}.{name}")
    assert found is at or set(dir(found)) >= set(getattr(at, "__all__", ()))


def test_the_registry_is_found_where_tvm_keeps_it() -> None:
    reg, register = (import_module(f"{ROOT}.{n}") for n in ("relay.op.op", "relay.op.contrib.register"))
    assert reg.get("nn.relu").name == "nn.relu" and reg.register_legalize is relay.op.register_legalize
    assert register.get_pattern_table("dnnl") and tvm.testing.enabled_targets()[0][1].exist


def test_other_packages_find_no_other_errors() -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named 'lamina.nothing'"):
        import_module("lamina.nothing")


# -- targets and errors --------------------------------------------------------------------------------------


def test_a_target_tells_its_kind_and_options() -> None:
    target = tvm.target.Target("llvm -mcpu=nehalem -num-cores=1 -keys=x86,cpu -mattr=+popcnt,-avx512f", host="llvm")
    assert isinstance(target, tvm.target.Target) and target.kind.name == "llvm" == str(target.kind)
    assert (target.mcpu, target.keys, target.mattr) == ("nehalem", ["x86", "cpu"], ["+popcnt", "-avx512f"])
    assert target.attrs["num-cores"] == 1 and target.max_num_threads == 1 and target.libs == []
    assert target.host is not None and target.host.kind.name == "llvm"
    assert tvm.target.Target(target) == target == tvm.target.Target(target.export())
    assert tvm.target.Target(target.export()).host is not None
    gpu = tvm.target.cuda(arch="sm_86")
    assert (gpu.arch, gpu.keys, gpu.thread_warp_size, gpu.host) == ("sm_86", ["cuda", "gpu"], 32, None)
    assert tvm.target.Target("llvm").mcpu and tvm.target.Target("openblas, llvm").kind.name == "openblas, llvm"
    assert tvm.target.Target.list_kinds() == ["cuda", "llvm", "nvptx", "opencl", "rocm"]


def test_the_target_of_the_innermost_with_is_the_current_one() -> None:
    with pytest.raises(ValueError, match="target"):
        tvm.target.Target.current(allow_none=False)
    with tvm.target.Target("llvm -num-cores=1") as outer, tvm.target.Target("cuda") as inner:
        assert tvm.target.Target.current() is inner and outer is not inner
        with pytest.raises(UnsupportedError, match="models are not compiled for 'cuda'"):
            relay.build(exponential())
    assert tvm.target.Target.current() is None


def test_errors_are_caught_by_tvms_classes() -> None:
    assert issubclass(tvm.TVMError, RuntimeError) and tvm.error.TVMError is tvm.TVMError is LaminaError
    with pytest.raises(tvm.error.OpNotImplemented):
        tvm.ir.register_op_attr("nn.relu", "FTVMStrategy", max)
    with pytest.raises(tvm.error.DiagnosticError):
        relay.add(relay.var("x", shape=(2,)), relay.var("y", shape=(3,))).checked_type  # noqa: B018
    assert not issubclass(tvm.error.OpNotImplemented, tvm.error.DiagnosticError)


# -- modules and executors -----------------------------------------------------------------------------------


def exponential() -> Any:
    return tvm.IRModule.from_expr(relay.exp(relay.var("x", shape=(2, 3))))


def test_global_variables_find_their_functions_after_any_pass() -> None:
    mod = exponential()
    main = mod.get_global_var("main")
    steps = [
        relay.transform.FuseOps(), relay.transform.ToANormalForm(), relay.transform.InferType(),
        tvm.transform.module_pass(lambda m, _: m, opt_level=0, name="same"),
    ]  # fmt: skip
    for step in steps:
        changed = step(mod)
        assert changed[main].body is not None and main in changed
    assert relay.transform.FoldConstant()(relay.transform.FuseOps()(mod)).get_global_var("main") is main
    assert relay.GlobalVar("other") not in mod


def test_evaluate_casts_numbers_as_set_input_does() -> None:
    run = relay.create_executor("vm", exponential()).evaluate()
    wide = np.arange(6.0).reshape(2, 3)
    for given in (wide, tvm.nd.array(wide), wide.astype("int64")):
        found = run(given).numpy()
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, np.exp(wide), rtol=1e-5)
    with pytest.raises(InputError, match=r"argument 0 of @main is float32\[3, 2\]"):
        run(wide.T)


def test_functions_of_a_program_share_what_is_set() -> None:
    program = relay.build(exponential(), "llvm")["default"](tvm.cpu())
    given = np.ones((2, 3), np.float32)
    program["set_input"]("x", given)
    program["run"]()
    np.testing.assert_allclose(program["get_output"](0).numpy(), np.exp(given), rtol=1e-6)
    module = graph_executor.GraphModule(program)
    module.set_input("x", 2 * given)
    times = module.module.time_evaluator("run", tvm.cpu(), number=2, repeat=3)()
    assert len(times.results) == 3 and times.mean > 0
    np.testing.assert_allclose(module["get_output"](0).numpy(), np.exp(2 * given), rtol=1e-6)
    with pytest.raises(UsageError, match="the program has no function 'rum'; did you mean 'run'"):
        module.module.time_evaluator("rum")


def test_values_are_converted() -> None:
    found = tvm.runtime.convert([1, (2.5, "text"), {"a": 3}, None, max])
    assert (found[0].dtype, found[1][0].dtype) == ("int32", "float32") and found[1][1] == "text"
    assert int(found[2]["a"]) == 3 and found[3:] == [None, max] and tvm.convert is tvm.runtime.convert
    attrs = tvm.ir.make_node("DictAttrs", Primitive=1)
    assert relay.Function([], relay.const(1.0), attrs=attrs).attrs.Primitive == 1
    with pytest.raises(UsageError, match="'Call'"):
        tvm.ir.make_node("Call")


def test_quantised_operators_become_integer_arithmetic() -> None:
    from lamina.compat.tvm.relay.qnn.transform import CanonicalizeOps, Legalize  # type: ignore[import-not-found]

    x, w = relay.var("x", shape=(1, 4), dtype="int8"), relay.var("w", shape=(5, 4), dtype="int8")
    scalars = [relay.const(v) for v in (1, 0, 0.5, 0.25)]
    mod = tvm.IRModule.from_expr(relay.qnn.op.dense(x, w, *scalars, units=5))
    for step in (CanonicalizeOps(), Legalize()):
        assert not [op for op in relay.analysis.list_op_freqs(step(mod)) if op.startswith("qnn.")]
    assert Legalize().info.opt_level == 1
