"""Instruments and contexts of programs written for TVM: they see Relay's functions."""

# Programs are written as users write them: with lambdas, and modules that have no types.
# pyright: standard, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lamina.compat.tvm.ir.instrument import PassTimingInstrument, pass_instrument  # type: ignore[import-not-found]

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.errors import UnsupportedError, UsageError

relay: Any = _relay


def net() -> Any:
    x = relay.var("x", shape=(2, 3))
    weight = relay.const(np.arange(12, dtype="float32").reshape(4, 3))
    return tvm.IRModule.from_expr(relay.nn.dense(relay.nn.relu(x), weight) + (relay.const(1.0) + relay.const(2.0)))


@pass_instrument
class Seen:
    """What a pass gets and gives, as TVM's tutorial counts it."""

    def __init__(self) -> None:
        self.before: list[tuple[str, int]] = []
        self.modules: list[Any] = []

    def run_before_pass(self, mod: Any, info: Any) -> None:
        calls: list[Any] = []
        relay.analysis.post_order_visit(mod["main"], lambda n: calls.append(n) if isinstance(n, relay.Call) else None)
        self.before.append((info.name, len(calls)))

    def run_after_pass(self, mod: Any, info: Any) -> None:
        self.modules.append(mod)


def test_hooks_are_given_modules_of_functions_that_do_not_change() -> None:
    seen = Seen()
    steps = tvm.transform.Sequential([relay.transform.FoldConstant(), relay.transform.FuseOps(fuse_opt_level=2)])
    with tvm.transform.PassContext(opt_level=3, instruments=[seen]):
        fused = steps(net())
    assert seen.before == [("FoldConstant", 4), ("FuseOps", 3)]
    assert [isinstance(m, tvm.IRModule) for m in seen.modules] == [True, True]
    assert "Primitive" not in str(seen.modules[0]) and "Primitive" in str(seen.modules[1])
    assert tvm.ir.structural_equal(seen.modules[1], fused)
    (weight,) = (n for n in nodes(seen.modules[0]["main"]) if isinstance(n, relay.Constant) and n.data.ndim == 2)
    assert weight.data.numpy()[3, 2] == 11


def nodes(function: Any) -> list[Any]:
    found: list[Any] = []
    relay.analysis.post_order_visit(function, found.append)
    return found


def test_what_is_built_is_seen_on_its_way() -> None:
    seen = Seen()
    with tvm.transform.PassContext(opt_level=3, instruments=[seen]):
        relay.optimize(net(), "llvm")
    names = [name for name, _ in seen.before]
    assert {"FoldConstant", "SimplifyExpr", "AlterOpLayout"} <= set(names)


def test_passes_are_timed_and_printed_in_relays_text(capsys: pytest.CaptureFixture[str]) -> None:
    timing = PassTimingInstrument()
    context = tvm.transform.PassContext.current()
    assert context is tvm.transform.PassContext.current()
    context.override_instruments([timing, tvm.instrument.PrintAfterAll()])
    try:
        relay.transform.FoldConstant()(net())
    finally:
        context.override_instruments([])
    relay.transform.InferType()(net())
    assert "FoldConstant" in timing.render() and "InferType" not in timing.render()
    assert "def @main(%x: Tensor[(2, 3), float32])" in capsys.readouterr().err
    tvm.transform.PrintIR("here")(net())
    assert "// here\n" in (text := capsys.readouterr().err) and "nn.dense(" in text


def test_an_instrument_may_refuse_a_pass_by_its_module() -> None:
    class Small(tvm.instrument.PassInstrument):
        def should_run(self, mod: Any, info: Any) -> bool:
            return len(relay.analysis.list_op_freqs(mod)) > 9

    with tvm.transform.PassContext(instruments=[Small()]):
        assert relay.analysis.list_op_freqs(relay.transform.FoldConstant()(net()))["add"] == 2


def test_options_of_what_is_not_here_may_say_no() -> None:
    config = {"relay.backend.use_auto_scheduler": False, "tir.disable_vectorize": False, "relay.FuseOps.max_depth": 3}
    assert list(tvm.transform.PassContext(config=config).config) == ["relay.FuseOps.max_depth"]
    with pytest.raises(UnsupportedError, match="the option 'tir.disable_vectorize' of TVM's is not bridged"):
        tvm.transform.PassContext(config={"tir.disable_vectorize": True})
    with pytest.raises(UsageError, match="has no option 'depth'"):
        tvm.transform.PassContext(config={"relay.FuseOps.depth": 3})


def test_a_compiler_that_is_a_function_of_tvms_is_refused() -> None:
    mod = relay.transform.AnnotateTarget("openblas")(net())
    mod = relay.transform.PartitionGraph()(mod)
    tvm.register_func("relay.ext.openblas", lambda function: None)
    try:
        with pytest.raises(UnsupportedError, match="relay.ext.openblas gives modules of TVM's, which are not linked"):
            relay.build(mod, "llvm")
    finally:
        from lamina.compat.tvm.global_functions import remove_global_func

        remove_global_func("relay.ext.openblas")
    assert relay.build(mod, "llvm") is not None


def test_the_gradient_of_a_function_is_a_function() -> None:
    x, y = relay.var("x", shape=(3,)), relay.var("y", shape=(3,))
    found = relay.transform.gradient(relay.Function([x, y], x * y), mode="first_order")
    given = [np.array([1, 2, 3], "float32"), np.array([4, 5, 6], "float32")]
    value, (by_x, by_y) = relay.create_executor("vm", tvm.IRModule.from_expr(found)).evaluate()(*given)
    assert value.numpy().tolist() == [4, 10, 18]
    assert by_x.numpy().tolist() == [4, 5, 6] and by_y.numpy().tolist() == [1, 2, 3]
    with pytest.raises(UsageError, match="a mode of gradients is"):
        relay.transform.gradient(found, mode="second_order")


def test_files_of_a_while_have_a_folder() -> None:
    from pathlib import Path

    from lamina.compat.tvm.contrib import utils

    temp = utils.tempdir()
    Path(temp.relpath("a.txt")).write_text("a", "utf-8")
    assert temp.listdir() == ["a.txt"] and Path(temp.path).is_dir()
    temp.remove()
    assert not Path(temp.path).exists()


def test_the_debugger_is_made_as_a_library_makes_it() -> None:
    from lamina.compat.tvm.contrib.debugger.debug_executor import GraphModuleDebug

    lib = relay.build(net(), "llvm")
    module = GraphModuleDebug(lib["debug_create"]("default", tvm.cpu()), [tvm.cpu()], lib.graph_json, dump_root=None)
    module.set_input("x", np.ones((2, 3), "float32"))
    module.run()
    assert module.get_output(0).numpy().tolist() == [[6, 15, 24, 33]] * 2


def test_programs_are_built_for_the_executor_that_there_is() -> None:
    from lamina.compat.tvm.relay.backend import Executor, Runtime

    assert relay.build(net(), "llvm", executor=Executor("graph", {"link-params": True}), runtime=Runtime("cpp"))
    for made in (lambda: Executor("aot"), lambda: Runtime("crt"), lambda: relay.build(net(), "llvm", executor="aot")):
        with pytest.raises(UnsupportedError, match="there is no (executor 'aot'|runtime 'crt')"):
            made()


def test_a_loop_runs_while_its_condition_holds() -> None:
    from lamina.compat.tvm.relay.loops import while_loop

    i, total = relay.var("i", shape=(), dtype="int32"), relay.var("total", shape=(2,))
    step = relay.const(np.array([1, 2], "float32"))
    loop = while_loop(lambda i, _: i < relay.const(1000), [i, total], lambda i, t: (i + relay.const(1), t + step))
    mod = tvm.IRModule.from_expr(relay.Function([i, total], loop(i, total)))
    count, found = relay.create_executor("vm", mod).evaluate()(0, np.zeros(2, "float32"))
    assert int(count.numpy()) == 1000 and found.numpy().tolist() == [1000, 2000]
    with pytest.raises(UsageError, match="a loop of 2 variables gives 1 next ones"):
        while_loop(lambda i, _: i < relay.const(9), [i, total], lambda i, t: i)
