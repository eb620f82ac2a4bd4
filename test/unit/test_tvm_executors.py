"""TVM's virtual machine and its debug executor: what they give, node by node and function by function."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.contrib import graph_executor
from lamina.compat.tvm.contrib.debugger import debug_executor
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError

relay: Any = _relay
VirtualMachine: Any = tvm.runtime.vm.VirtualMachine
Report: Any = tvm.runtime.profiling.Report
DATA = np.random.default_rng(0).standard_normal((2, 8)).astype("float32")
WEIGHT = np.random.default_rng(1).standard_normal((4, 8)).astype("float32")


def network() -> Any:
    """A dense layer with an activation, its softmax, and how much it is."""
    x = relay.var("x", shape=(2, 8))
    y = relay.nn.relu(relay.nn.dense(x, relay.var("w", shape=(4, 8))))
    return tvm.IRModule.from_expr(relay.Tuple([relay.nn.softmax(y), relay.sum(y)]))


def expected() -> tuple[Any, Any, Any]:
    y = np.maximum(DATA @ WEIGHT.T, 0)
    grown = np.exp(y - y.max(-1, keepdims=True))
    return y, grown / grown.sum(-1, keepdims=True), y.sum()


def library() -> Any:
    with tvm.transform.PassContext(opt_level=3):
        return relay.build(network(), "llvm", params={"w": WEIGHT})


def test_each_node_has_its_outputs_and_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lib = library()
    m = debug_executor.create(lib.get_graph_json(), lib, tvm.cpu(), dump_root=str(tmp_path))
    m.set_input("x", DATA)
    m.run(number=2)
    printed = capsys.readouterr().out
    y, soft, whole = expected()
    names = m.debug_datum.get_graph_nodes_list()
    assert names == [n["name"] for n in json.loads(lib.get_graph_json())["nodes"]]
    dense, softmax = (next(n for n in names if w in n) for w in ("dense", "softmax"))
    np.testing.assert_allclose(m.debug_get_output(dense).numpy(), y, rtol=1e-5)
    np.testing.assert_allclose(m.get_node_output(softmax).numpy(), soft, rtol=1e-5)
    np.testing.assert_allclose(m.get_output(1).numpy(), whole, rtol=1e-5)
    out = tvm.nd.empty((2, 4))
    m.debug_get_output(names.index(dense), out)
    np.testing.assert_allclose(out.numpy(), y, rtol=1e-5)
    assert all(n in printed for n in (dense, softmax, "Total_time")) and "p0" not in printed
    # The inputs and the weights take no time, every call does.
    times = m.run_individual(number=1, repeat=3)
    assert [len(t) for t in times] == [3] * len(names)
    assert [all(s > 0 for s in t) for t in times] == [name.startswith("fused") for name in names]
    # Another input gives other outputs.
    m.set_input("x", -DATA)
    np.testing.assert_allclose(m.execute_node(dense).numpy(), y, rtol=1e-5)
    np.testing.assert_allclose(m.debug_get_output(dense).numpy(), np.maximum(-DATA @ WEIGHT.T, 0), rtol=1e-5)

    folder = tmp_path / "_tvmdbg_device_CPU_0"
    graph = json.loads((folder / "_tvmdbg_graph_dump.json").read_text())
    assert [n["name"] for n in graph["nodes"]] == names and graph["nodes"][0]["op"] == "param"
    saved = relay.load_param_dict((folder / "output_tensors.params").read_bytes())
    place = names.index(dense)
    np.testing.assert_allclose(saved[f"{dense}____topo-index:{place}____output-num:0"].numpy(), y, rtol=1e-5)
    events = json.loads((folder / "_tvmdbg_execution_trace.json").read_text())["traceEvents"]
    assert {e["name"] for e in events} == {n for n in names if n.startswith("fused")}
    assert [e["ts"] for e in events] == sorted(e["ts"] for e in events)


def test_a_profile_is_a_table_and_json() -> None:
    lib = library()
    report = debug_executor.GraphModuleDebug(lib["default"](tvm.cpu())).profile(x=DATA)
    assert isinstance(report, Report) and len(report.calls) == 3
    shares = [c["Percent"].percent for c in report.calls]
    assert sum(shares) == pytest.approx(100) and all(c["Duration (us)"].microseconds > 0 for c in report.calls)
    assert report.calls[0]["Argument Shapes"].startswith("float32[2, 8], ")
    read = json.loads(report.json())
    assert [c["Name"]["string"] for c in read["calls"]] == [c["Name"] for c in report.calls]
    assert read["calls"][0]["Count"] == {"count": 1} and set(read["device_metrics"]) == {"cpu(0)"}
    assert len(report.csv().splitlines()) == 4
    lines = str(report).splitlines()
    assert lines[-1].split()[1:] == ["100.00", "3", "Sum"]
    durations = [float(line.split()[0].replace(",", "")) for line in lines[1:-1]]
    assert durations == sorted(durations, reverse=True)


def test_parts_of_external_compilers_are_nodes() -> None:
    lib = relay.build(network(), "openblas, llvm", params={"w": WEIGHT})
    m = debug_executor.create(None, lib, tvm.cpu())
    m.set_input("x", DATA)
    m.run_individual(1)
    (name,) = [n for n in m.debug_datum.get_graph_nodes_list() if "openblas" in n]
    np.testing.assert_allclose(m.debug_get_output(name).numpy(), expected()[0], rtol=1e-5)


def test_mistakes_of_the_debug_executor_are_named(tmp_path: Path) -> None:
    lib = library()
    m = debug_executor.create(lib.get_graph_json(), lib, tvm.cpu())
    with pytest.raises(UsageError, match="there is no node 'fused_nn_softmx'; did you mean 'fused_nn_softmax'"):
        m.debug_get_output("fused_nn_softmx")
    with pytest.raises(UsageError, match="there is no node 99"):
        m.debug_get_output(99)
    lib.export_library(str(tmp_path / "net.tar"))
    with pytest.raises(UnsupportedError, match="loaded from a file is not run node by node"):
        debug_executor.create(None, tvm.runtime.load_module(str(tmp_path / "net.tar")), tvm.cpu())


# -- the virtual machine --------------------------------------------------------------------------------------------


def test_a_program_runs_on_the_virtual_machine() -> None:
    with tvm.transform.PassContext(opt_level=3):
        exe = relay.vm.compile(network(), target="llvm", params={"w": WEIGHT})
    machine = VirtualMachine(exe, tvm.cpu())
    _, soft, whole = expected()
    for found in (machine.run(DATA), machine.invoke("main", x=tvm.nd.array(DATA))):
        np.testing.assert_allclose(found[0].numpy(), soft, rtol=1e-5)
        np.testing.assert_allclose(found[1].numpy(), whole, rtol=1e-5)
    machine.set_input("main", -DATA)
    machine.invoke_stateful("main")
    assert len(machine.get_outputs()) == 2
    np.testing.assert_allclose(machine.get_outputs()[1].numpy(), np.maximum(-DATA @ WEIGHT.T, 0).sum(), rtol=1e-5)
    assert exe.globals == ["main"] and exe.get_function_params("main") == ["x"] and "relay.nn.dense" in exe.bytecode
    times = machine.benchmark(tvm.cpu(), DATA, repeat=2, number=1)
    assert isinstance(times, graph_executor.BenchmarkResult) and len(times.results) == 2 and times.min > 0


LOOP = """
def @main(%n: int32, %x: Tensor[(?), float32]) -> Tensor[(?), float32] {
  if (%n == 0) { %x } else { @main(%n - 1, @twice(%x)) }
}
def @twice(%y: Tensor[(?), float32]) -> Tensor[(?), float32] { add(%y, %y) }
def @count(%xs: List[int32]) -> (int32, Option[int32]) {
  match (%xs) { Cons(%h, _) => (@length(%xs), Some(%h)), Nil => (0, None) }
}
"""


def test_functions_with_control_flow_and_data_are_invoked() -> None:
    mod = relay.prelude.Prelude().mod
    exe = relay.vm.compile(tvm.parser.parse(LOOP, init_module=mod), "llvm")
    machine = VirtualMachine(exe, [tvm.cpu()], "naive")
    for size in (3, 5):
        x = np.arange(size, dtype="float32")
        assert np.array_equal(machine.run(4, x).numpy(), x * 16)
        assert np.array_equal(machine.invoke("twice", x).numpy(), x * 2)
    assert exe.get_function_params("count") == ["xs"]
    _, cons, nil = mod.get_type("List")
    xs = relay.create_executor(mod=mod).evaluate(cons(relay.const(7), cons(relay.const(8), nil())))
    count, first = machine.invoke("count", xs)
    assert count.numpy() == 2 and first.constructor.name_hint == "Some" and first.fields[0].numpy() == 7
    count, first = machine.invoke("count", xs[1][1])
    assert count.numpy() == 0 and (first.tag, len(first)) == (1, 0)


def test_one_input_is_set_at_a_time() -> None:
    from lamina.compat.tvm.runtime.vm import VirtualMachine as Imported  # type: ignore[import-not-found]

    assert Imported is VirtualMachine
    machine = VirtualMachine(relay.vm.compile(network(), "llvm"), tvm.cpu())
    assert [machine.get_input_index(n) for n in ("x", "w", "v")] == [0, 1, -1]
    machine.set_one_input("main", "w", WEIGHT)
    machine.set_one_input("main", x=DATA)
    machine.invoke_stateful("main")
    np.testing.assert_allclose(machine.get_outputs()[1].numpy(), expected()[2], rtol=1e-5)


def test_a_compiler_goes_step_by_step() -> None:
    compiler = relay.vm.VMCompiler()
    with pytest.raises(UsageError, match=r"no program yet; lower\(mod, target\) comes before"):
        compiler.get_exec()
    compiler.set_params({"w": WEIGHT})
    optimized, _ = compiler.optimize(network(), "llvm")
    assert relay.analysis.extract_fused_functions(optimized)
    compiler.lower(network(), "llvm")
    compiler.codegen()
    found = VirtualMachine(compiler.get_exec(), tvm.cpu()).run(DATA)
    np.testing.assert_allclose(found[0].numpy(), expected()[1], rtol=1e-5)


VM_MISTAKES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda m: m.invoke("mian", DATA), "no function 'mian'; did you mean 'main'"),
    (lambda m: m.run(DATA, WEIGHT, DATA), "main takes 2 arguments, 3 are given"),
    (lambda m: m.run(DATA), "main is called without 'w'"),
    (lambda m: m.run(DATA, x=DATA), "'x' is given twice"),
    (lambda m: m.run(DATA, v=DATA), "'v' is no parameter of main"),
    (lambda m: m.run(DATA, DATA), "argument 1"),
    (lambda m: m.get_outputs(), "there is no output yet"),
    (lambda m: VirtualMachine(m, None), "runs an executable, not a VirtualMachine"),
]


@pytest.mark.parametrize(("call", "said"), VM_MISTAKES)
def test_mistakes_of_the_virtual_machine_are_named(call: Callable[[Any], Any], said: str) -> None:
    machine = VirtualMachine(relay.vm.compile(network(), "llvm"), tvm.cpu())
    with pytest.raises(LaminaError) as caught:
        call(machine)
    assert said in str(caught.value)


def test_values_of_cells_and_data_go_in_again() -> None:
    x = relay.var("x", shape=(), dtype="int32")
    cell = relay.create_executor().evaluate(relay.Function([x], relay.RefCreate(x)))(3)
    assert cell.value.numpy() == 3
    r = relay.Var("r", relay.RefType(relay.scalar_type("int32")))
    assert relay.create_executor().evaluate(relay.Function([r], relay.RefRead(r) + relay.const(1)))(cell).numpy() == 4
    with pytest.raises(InputError, match="argument 0 of @main is a"):
        relay.create_executor().evaluate(relay.Function([r], relay.RefRead(r)))(3)
