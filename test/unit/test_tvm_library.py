"""Libraries of `relay.build`: exported and loaded, their graph and weights; targets, and modules cut for compilers."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay
from lamina.compat.tvm.contrib import graph_executor
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError

sys.path[:0] = [str(Path(__file__).parent)]

from external_programs import needs_openblas  # noqa: E402

Array = np.ndarray[Any, np.dtype[Any]]

WEIGHT = np.linspace(-1, 1, 48, dtype=np.float32).reshape(6, 8)
GIVEN = np.linspace(-1, 2, 32, dtype=np.float32).reshape(4, 8)
EXPECTED = np.exp(np.maximum(np.tanh(GIVEN) @ WEIGHT.T, 0))


def net() -> Any:
    x, w = relay.var("x", shape=(4, 8)), relay.var("w", shape=(6, 8))
    body = relay.exp(relay.nn.relu(relay.nn.dense(relay.tanh(x), w)))
    return tvm.IRModule.from_expr(relay.Function([x, w], body))


def built(target: Any = "llvm", mod: Any = None) -> Any:
    return relay.build(net() if mod is None else mod, target=target, params={"w": WEIGHT})


def result_of(lib: Any, **params: Any) -> Array:
    module = graph_executor.GraphModule(lib["default"](tvm.cpu(0)))
    module.set_input("x", GIVEN)
    module.set_input(**params)
    module.run()
    return module.get_output(0).numpy()


# -- export and load -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["net.tar", "net.so", "deploy"])
def test_a_library_is_exported_and_loaded(tmp_path: Path, name: str) -> None:
    lib = built()
    lib.export_library(str(tmp_path / name))
    begins = (tmp_path / name).read_bytes()[:4]
    assert (begins == b"\x7fELF") == (name == "net.so")
    loaded = tvm.runtime.load_module(str(tmp_path / name))
    np.testing.assert_allclose(result_of(lib), EXPECTED, rtol=1e-5)
    np.testing.assert_array_equal(result_of(loaded), result_of(lib))
    assert loaded.get_graph_json() == lib.get_graph_json()
    loaded.export_library(str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / name).read_bytes()


def test_the_name_of_the_module_is_kept(tmp_path: Path) -> None:
    lib = relay.build(net(), target="llvm", params={"w": WEIGHT}, mod_name="mine")
    lib.export_library(tmp_path / "net.so")
    loaded = tvm.runtime.load_module(tmp_path / "net.so")
    assert loaded["mine"](tvm.cpu(0)).library is loaded
    with pytest.raises(UsageError, match=r"no 'yours'; its program is lib\[\"default\"\]"):
        loaded["yours"]


@needs_openblas
def test_a_library_with_an_external_compiler_is_loaded(tmp_path: Path) -> None:
    lib = built("openblas, llvm")
    lib.export_library(tmp_path / "net.tar")
    loaded = tvm.runtime.load_module(tmp_path / "net.tar")
    assert "openblas.dense_relu" in loaded.executable.placement
    np.testing.assert_array_equal(result_of(loaded), result_of(lib))


def test_the_three_parts_of_old_programs(tmp_path: Path) -> None:
    """graph, lib, params = relay.build(...), each saved by itself."""
    graph, lib, params = built()
    lib.export_library(str(tmp_path / "deploy_lib.tar"))
    (tmp_path / "deploy_graph.json").write_text(graph)
    (tmp_path / "deploy_param.params").write_bytes(relay.save_param_dict(params))
    loaded = tvm.runtime.load_module(str(tmp_path / "deploy_lib.tar"))
    module = graph_executor.create((tmp_path / "deploy_graph.json").read_text(), loaded, tvm.cpu())
    module.load_params((tmp_path / "deploy_param.params").read_bytes())
    module.run(x=tvm.nd.array(GIVEN))
    np.testing.assert_allclose(module.get_output(0).numpy(), EXPECTED, rtol=1e-5)


def test_other_weights_than_those_in_the_program_are_refused(tmp_path: Path) -> None:
    lib = built()
    lib.export_library(tmp_path / "net.tar")
    for each in (lib, tvm.runtime.load_module(tmp_path / "net.tar")):
        np.testing.assert_allclose(result_of(each, w=WEIGHT.copy()), EXPECTED, rtol=1e-5)
        with pytest.raises(InputError, match="the weight 'w' is part of the program and has another value there"):
            result_of(each, w=WEIGHT + 1)


def test_programs_with_control_flow_are_exported(tmp_path: Path) -> None:
    text = """#[version = "0.0.5"]
def @main(%n: int32, %x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
  if (greater(%n, 0)) { @main(subtract(%n, 1), tanh(%x)) } else { %x }
}"""
    lib = relay.build(tvm.parser.fromtext(text), target="llvm")
    lib.export_library(tmp_path / "net.so")
    module = graph_executor.GraphModule(tvm.runtime.load_module(tmp_path / "net.so")["default"](tvm.cpu()))
    module.run(n=np.array(2, np.int32), x=GIVEN)
    np.testing.assert_allclose(module.get_output(0).numpy(), np.tanh(np.tanh(GIVEN)), rtol=1e-5)
    with pytest.raises(UnsupportedError, match="run by the machine: it has no graph of kernels"):
        lib.get_graph_json()


def test_programs_of_the_machine_are_saved_in_two_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """#[version = "0.0.5"]
def @main(%n: int32, %x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
  if (greater(%n, 0)) { @main(subtract(%n, 1), tanh(%x)) } else { %x }
}"""
    machine: Any = tvm.runtime.vm
    code, lib = relay.vm.compile(tvm.parser.fromtext(text), target="llvm").save()
    lib.export_library(str(tmp_path / "net.so"))
    other = built()
    monkeypatch.setattr("lamina.driver.pipelines.Pipeline.run", None)
    loaded = tvm.runtime.load_module(str(tmp_path / "net.so"))
    exe = machine.Executable.load_exec(code, loaded)
    for each in (exe, loaded):
        found = machine.VirtualMachine(each, tvm.cpu()).invoke("main", np.array(2, np.int32), GIVEN)
        np.testing.assert_allclose(found.numpy(), np.tanh(np.tanh(GIVEN)), rtol=1e-5)
    with pytest.raises(InputError, match="the code is not that of the library"):
        machine.Executable.load_exec(code + b" ", loaded)
    with pytest.raises(UsageError, match="is no library of relay.vm.compile"):
        machine.Executable.load_exec(code, other)


def test_a_library_of_tvms_is_refused(tmp_path: Path) -> None:
    (tmp_path / "net.so").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(600))
    with pytest.raises(InputError, match="net.so: is no net that Lamina has exported"):
        tvm.runtime.load_module(tmp_path / "net.so")
    with pytest.raises(UsageError, match="addons cannot be exported"):
        built().export_library(tmp_path / "net.so", addons=["f.o"])


def test_weights_go_through_files(tmp_path: Path) -> None:
    path = tmp_path / "net.params"
    tvm.runtime.save_param_dict_to_file({"w": WEIGHT, "n": np.array(3, np.int64)}, path)
    found = tvm.runtime.load_param_dict_from_file(path)
    np.testing.assert_array_equal(found["w"].numpy(), WEIGHT)
    assert (
        path.read_bytes() == relay.save_param_dict(found)
        and relay.load_param_dict(path.read_bytes()).keys() == found.keys()
    )


# -- kernels ---------------------------------------------------------------------------------------------------


def scaled_sum() -> Any:
    """y = a * x + b, of a length that arrays tell, with the arguments in an order of their own."""
    te: Any = tvm.te
    n, a = te.var("n"), te.var("a", "float32")
    x, b = te.placeholder((n,), name="x"), te.placeholder((n,), name="b")

    def element(i: Any) -> Any:
        return a * x[i] + b[i]

    y = te.compute((n,), element, name="y")
    s = te.create_schedule(y.op)
    return tvm.build(s, [y, a, b, x], "llvm", name="scaled_sum")


@pytest.mark.parametrize("linked", [True, False])
def test_a_kernel_is_saved_and_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: bool) -> None:
    kernel = scaled_sum()
    if linked:
        kernel.save(str(tmp_path / "k.o"))
        tvm.contrib.cc.create_shared(str(tmp_path / "k.so"), [str(tmp_path / "k.o")])
    else:
        kernel.export_library(str(tmp_path / "k.so"))
    monkeypatch.setattr("lamina.tensor.program.run_passes", None)
    loaded = tvm.runtime.load_module(str(tmp_path / "k.so"))
    assert loaded.entry_name == "scaled_sum" and loaded["scaled_sum"] is loaded
    for length in (5, 33):
        x, b = np.arange(length, dtype=np.float32), np.ones(length, np.float32)
        y = tvm.nd.empty((length,))
        loaded(y, 3.0, tvm.nd.array(b), tvm.nd.array(x))
        np.testing.assert_array_equal(y.numpy(), 3 * x + 1)
    for mistake in ((y, 3.0, b[:4], x), (y, 3.0, b), (y, "a", b, x), (y, 3.0, b.astype("int32"), x)):
        said: list[str] = []
        for each in (kernel, loaded):
            with pytest.raises(LaminaError) as caught:
                each(*mistake)
            said.append(caught.value.what)
        assert said[0] == said[1]
    with pytest.raises(UnsupportedError, match="loaded from a file has no texts"):
        loaded.get_source()
    loaded.export_library(tmp_path / "again.so")
    assert (tmp_path / "again.so").read_bytes() == (tmp_path / "k.so").read_bytes()


def test_a_kernel_is_no_model(tmp_path: Path) -> None:
    import lamina

    scaled_sum().export_library(tmp_path / "k.lamina")
    with pytest.raises(InputError, match="k.lamina: holds a kernel, not a program or a program for the machine"):
        lamina.Executable.load(tmp_path / "k.lamina")
    built().export_library(tmp_path / "net.lamina")
    with pytest.raises(InputError, match="net.lamina: holds a program, not a kernel"):
        tvm.Module.load(tmp_path / "net.lamina")
    with pytest.raises(UnsupportedError, match="made of one saved program, not of 2 files"):
        tvm.contrib.cc.create_shared("k.so", ["a.o", "b.o"])


# -- the graph -------------------------------------------------------------------------------------------------


def test_the_graph_says_what_every_kernel_reads() -> None:
    x = relay.var("x", shape=(4, 8))
    a = relay.nn.softmax(relay.nn.dense(x, relay.const(WEIGHT)))
    lib = relay.build(tvm.IRModule.from_expr(relay.Function([x], relay.Tuple([a, relay.nn.softmax(x)]))), target="llvm")
    graph = json.loads(lib.get_graph_json())
    names = [n["name"] for n in graph["nodes"]]
    assert names[0] == "x" and len(set(names)) == len(names)
    assert [n["op"] for n in graph["nodes"]].count("null") == len(graph["arg_nodes"]) == 2
    assert [graph["nodes"][n]["name"] for n in graph["arg_nodes"]] == ["x", "p0"]
    assert len(graph["heads"]) == 2 and graph["node_row_ptr"] == list(range(len(names) + 1))
    for place, node in enumerate(graph["nodes"]):
        assert all(source < place for source, _, _ in node["inputs"])  # program order
        assert node["op"] == "null" or node["attrs"]["num_inputs"] == str(len(node["inputs"]))
    shapes, dtypes = graph["attrs"]["shape"][1], graph["attrs"]["dltype"][1]
    assert shapes[0] == [4, 8] and [shapes[h] for h, _, _ in graph["heads"]] == [[4, 6], [4, 8]]
    assert set(dtypes) == {"float32"} and len(dtypes) == len(shapes)


# -- targets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "backends"),
    [
        (None, ()),
        ("llvm", ()),
        ("llvm -mattr=+sse4.2,+popcnt -num-cores=1", ()),
        ("openblas, llvm", ("openblas",)),
        (["openblas", "llvm"], ("openblas",)),
        ([tvm.target.Target("llvm"), tvm.target.Target("openblas")], ("openblas",)),
        (tvm.target.Target("openblas, llvm"), ("openblas",)),
        ({tvm.cpu(): tvm.target.Target("llvm")}, ()),
        ({"kind": "llvm", "num-cores": "1"}, ()),
        ("dnnl, openblas, llvm", ("dnnl", "openblas")),
    ],
    ids=str,
)
def test_targets_in_all_their_spellings(target: Any, backends: tuple[str, ...]) -> None:
    from lamina.compat.tvm.composite_targets import compile_target

    found = compile_target(target)
    assert found.backend_list() == backends
    assert ("num-cores" in str(target)) <= (found.threads.data == 1)


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("openblax, llvm", "no target 'openblax'; did you mean 'openblas' or 'opencl'?"),
        ("cuda", "models are not compiled for 'cuda'"),
        (["llvm", "cuda"], "compiled for one machine, not for llvm and cuda"),
        ("llvm -mcpu=core-avx3", "no cpu 'core-avx3'"),
        ("llvm -mtriple=mips-linux-gnu", "no code is made for mips-linux-gnu"),
        ("llvm -mtriple=aarch64-linux-android", "aarch64-linux-gnu, for the GNU C library"),
        ("llvm -mtriple=aarch64-linux-gnu -mcpu=haswell", "no cpu 'haswell' of aarch64"),
        ("llvm -speed=9", "target 'llvm' has no option 'speed'"),
        ("openblas,, llvm", "a target is empty"),
    ],
)
def test_targets_that_are_refused(target: Any, what: str) -> None:
    with pytest.raises(LaminaError) as caught:
        built(target)
    assert what in str(caught.value)


@needs_openblas
def test_external_compilers_of_a_target_take_their_parts() -> None:
    lib = built("openblas, llvm")
    assert "openblas: 1 region, 2 ops (1 openblas.dense_relu)" in lib.executable.placement
    np.testing.assert_allclose(result_of(lib), EXPECTED, rtol=1e-5)
    optimized, _ = relay.optimize(net(), target="openblas, llvm", params={"w": WEIGHT})
    assert "tvmgen_default_openblas_main_0" in {g.name_hint for g in optimized.functions}


# -- partition_for_<compiler> ------------------------------------------------------------------------------------


def test_the_modules_of_compilers() -> None:
    contrib = relay.op.contrib
    for name in ("dnnl", "bnns", "ethosn", "openblas"):
        module = import_module(f"lamina.compat.tvm.relay.op.contrib.{name}")
        partition = getattr(module, f"partition_for_{name}")
        assert getattr(contrib, name) is module and getattr(contrib, f"partition_for_{name}") is partition
        table = contrib.get_pattern_table("ethos-n" if name == "ethosn" else name)
        assert [e[0] for e in module.pattern_table()] == [e[0] for e in table] != []
    with pytest.raises(AttributeError, match="relay.op.contrib.partition_for_tensorrt is not bridged"):
        contrib.partition_for_tensorrt  # noqa: B018


@pytest.mark.parametrize("compiler", ["dnnl", "openblas", "bnns"])
def test_a_partitioned_module_is_built_for_llvm(compiler: str) -> None:
    """Whether the compiler is installed or not; bnns has a table and no runtime."""
    partition = getattr(relay.op.contrib, f"partition_for_{compiler}")
    mod = partition(net(), {"w": WEIGHT}, mod_name="net")
    name = f"tvmgen_net_{compiler}_main_0"
    function = mod[name]
    assert function.attrs["Compiler"] == compiler and function.attrs["global_symbol"] == name
    assert [p.name_hint for p in function.params] == [f"{compiler}_0_i0"]  # the weight is inside
    np.testing.assert_allclose(result_of(relay.build(mod, target="llvm")), EXPECTED, rtol=1e-5)
    assert [g.name_hint for g in net().functions] == ["main"]


def test_regions_without_heavy_operators_are_pruned() -> None:
    x = relay.var("x", shape=(4, 8))
    mod = tvm.IRModule.from_expr(relay.Function([x], relay.tanh(relay.nn.relu(x))))
    kept = relay.op.contrib.partition_for_dnnl(mod, prune_subgraphs=False)
    assert len(kept.functions) == 2
    pruned = relay.op.contrib.partition_for_dnnl(mod)
    assert [g.name_hint for g in pruned.functions] == ["main"]
    assert tvm.ir.structural_equal(pruned["main"], mod["main"])
    assert len(relay.op.contrib.partition_for_dnnl(net(), {"w": WEIGHT}).functions) == 2


def test_a_mistake_in_partitioning_is_named() -> None:
    with pytest.raises(UsageError, match=r"a module is partitioned, not Function; tvm.IRModule.from_expr"):
        relay.op.contrib.partition_for_dnnl(net()["main"])


# -- annotations -----------------------------------------------------------------------------------------------


def test_annotations_as_tvm_spells_them() -> None:
    x = relay.var("x", shape=(4,))
    annotation = relay.annotation
    spelled = [
        (annotation.compiler_begin(x, "dnnl"), 'annotation.compiler_begin(%x, compiler="dnnl")'),
        (relay.op.annotation.compiler_end(x, "dnnl"), 'annotation.compiler_end(%x, compiler="dnnl")'),
        (annotation.stop_fusion(x), "annotation.stop_fusion(%x)"),
        (annotation.checkpoint(x), "annotation.checkpoint(%x)"),
        (annotation.cast_hint(x, "int8"), 'annotation.cast_hint(%x, dtype="int8")'),
        (annotation.on_device(x, tvm.cuda(1), constrain_result=True), 'virtual_device="cuda:1", constrain_result=True'),
        (annotation.on_device(x, "llvm", constrain_body=False), "on_device(%x, constrain_body=False)"),
        (relay.device_copy(x, tvm.cpu(), "cuda:1"), 'src_virtual_device="cpu:0", dst_virtual_device="cuda:1"'),
    ]
    for expression, text in spelled:
        mod = tvm.IRModule.from_expr(relay.Function([x], expression))
        assert text in mod.astext(), mod.astext()
        assert tvm.ir.structural_equal(tvm.parser.fromtext(mod.astext()), mod)
    with pytest.raises(UsageError, match="no device 'npu'"):
        annotation.on_device(x, "npu")


def test_the_options_of_the_partitioning_passes() -> None:
    x = relay.var("x", shape=(4,))
    pair = relay.Tuple([relay.exp(x), relay.abs(x)])
    body = relay.nn.relu(relay.TupleGetItem(pair, 0))
    mod = tvm.IRModule.from_expr(relay.Function([x], relay.add(body, relay.const(np.ones(4, np.float32)))))

    def parted(annotate: Any, partition: Any) -> Any:
        steps = [relay.transform.InferType(), annotate, relay.transform.MergeCompilerRegions(), partition]
        return tvm.transform.Sequential(steps)(mod)

    annotate, partition = relay.transform.AnnotateTarget, relay.transform.PartitionGraph
    whole = parted(annotate("dnnl"), partition())
    assert len(whole.functions) == 2 and len(whole["tvmgen_default_dnnl_main_0"].params) == 1
    for each in (annotate(["dnnl"], False), annotate("dnnl", include_non_call_ops=True)):
        assert len(parted(each, partition()).functions) == 2  # what is taken from a tuple is its field already
    free = parted(annotate("dnnl"), partition(mod_name="net", bind_constants=False))
    assert len(free["tvmgen_net_dnnl_main_0"].params) == 2
