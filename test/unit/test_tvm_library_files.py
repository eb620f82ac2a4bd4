"""Files of libraries by suffix: archives that TVM's users expect, objects, graphs, the model library format."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay
from lamina.compat.tvm.contrib import graph_executor, graph_runtime
from lamina.compat.tvm.driver import tvmc
from lamina.compat.tvm.micro import export_model_library_format
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.runtime.exported import ExportedNet

ROOT = Path(__file__).parents[2]
CC = shutil.which("cc")
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler `cc`")
Array = np.ndarray[Any, np.dtype[Any]]

WEIGHT = np.linspace(-1, 1, 48, dtype=np.float32).reshape(6, 8)
GIVEN = np.linspace(-1, 2, 32, dtype=np.float32).reshape(4, 8)
EXPECTED = np.maximum(GIVEN @ WEIGHT.T, 0)
AARCH64 = "llvm -mtriple=aarch64-linux-gnu -num-cores=1"


def built(target: str = "llvm -num-cores=1", name: str = "default") -> Any:
    x, w = relay.var("x", shape=(4, 8)), relay.var("w", shape=(6, 8))
    mod = tvm.IRModule.from_expr(relay.Function([x, w], relay.nn.relu(relay.nn.dense(x, w))))
    return relay.build(mod, target=target, params={"w": WEIGHT}, mod_name=name)


@pytest.fixture(scope="module")
def lib() -> Any:
    return built()


def result_of(lib: Any) -> Array:
    module = graph_executor.GraphModule(lib["default"](tvm.cpu(0)))
    module.run(x=GIVEN)
    return module.get_output(0).numpy()


def run_by_c(library: Path, name: str, folder: Path) -> Array:
    """The output of `run_net.c`."""
    assert CC is not None
    source, header = ROOT / "examples" / "deploy" / "c" / "run_net.c", ROOT / "lamina" / "runtime" / "include"
    words = [CC, "-std=c11", "-D_GNU_SOURCE", "-I", str(header), str(source), "-o", str(folder / "run_net"), "-ldl"]
    subprocess.run(words, check=True)
    GIVEN.tofile(folder / "x.raw")
    words = ["./run_net", str(library), name, "1", "1", "x.raw", "y.raw"]
    subprocess.run(words, check=True, cwd=folder, capture_output=True)
    return np.fromfile(folder / "y.raw", np.float32).reshape(4, 6)


# -- archives --------------------------------------------------------------------------------------------------


def test_an_archive_holds_the_object(lib: Any, tmp_path: Path) -> None:
    lib.export_library(tmp_path / "net.tar")
    with tarfile.open(tmp_path / "net.tar") as archive:
        assert archive.getnames() == ["lib0.o"]
        archive.extract("lib0.o", tmp_path)
    loaded = tvm.runtime.load_module(tmp_path / "net.tar")
    np.testing.assert_allclose(result_of(loaded), EXPECTED, rtol=1e-5)
    np.testing.assert_array_equal(result_of(tvm.runtime.load_module(tmp_path / "lib0.o")), result_of(loaded))
    assert loaded.get_graph_json() == lib.get_graph_json()
    lib.export_library(tmp_path / "again.tar")
    assert (tmp_path / "again.tar").read_bytes() == (tmp_path / "net.tar").read_bytes()
    lib.export_library(tmp_path / "net.so")
    linked = tmp_path / "linked" / "net.so"
    linked.parent.mkdir()
    tvm.contrib.cc.create_shared(linked, [tmp_path / "lib0.o"])
    assert ExportedNet(linked, verify=True).file.code_bytes == ExportedNet(tmp_path / "net.so").file.code_bytes
    np.testing.assert_array_equal(result_of(tvm.runtime.load_module(linked)), result_of(lib))


@needs_cc
def test_a_linker_makes_a_library_of_the_object_in_an_archive(tmp_path: Path) -> None:
    built(name="mine").export_library(tmp_path / "net.tar")
    with tarfile.open(tmp_path / "net.tar") as archive:
        archive.extract("lib0.o", tmp_path)
    subprocess.run([str(CC), "-shared", "-o", "linked.so", "lib0.o", "-lm"], cwd=tmp_path, check=True)
    np.testing.assert_allclose(run_by_c(tmp_path / "linked.so", "mine", tmp_path), EXPECTED, rtol=1e-5)
    assert b"lamina_mine" in (tmp_path / "linked.so").read_bytes()
    said = subprocess.run(
        ["readelf", "-S", "-W", "linked.so"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ".lamina.description" not in said.stdout  # linkers leave it out


def test_a_loaded_library_is_written_again(lib: Any, tmp_path: Path) -> None:
    for name in ("net.tar", "net.o", "net.so"):
        lib.export_library(tmp_path / name)
    (tmp_path / "two").mkdir()
    for source in ("net.tar", "net.o", "net.so"):
        loaded = tvm.runtime.load_module(tmp_path / source)
        loaded.export_library(tmp_path / source)  # onto itself: it stays
        for wanted in ("net.tar", "net.o", "net.so"):
            path = tmp_path / "two" / wanted
            if source == "net.so" != wanted:
                with pytest.raises(
                    UnsupportedError, match=r"loaded from net.so is not written as \.(tar|o); build it ag"
                ):
                    loaded.export_library(path)
                continue
            loaded.export_library(path)
            if wanted == source or wanted != "net.so":
                assert path.read_bytes() == (tmp_path / wanted).read_bytes()
            np.testing.assert_array_equal(result_of(tvm.runtime.load_module(path)), result_of(lib))
        with pytest.raises(UnsupportedError, match=r"is not written as \.a"):
            loaded.export_library(tmp_path / "net.a")


def test_damaged_archives_are_refused_before_any_code_runs(lib: Any, tmp_path: Path) -> None:
    lib.export_library(tmp_path / "net.tar")
    whole = (tmp_path / "net.tar").read_bytes()
    size = int(whole[124:135], 8)
    random = np.random.default_rng(0)
    path = tmp_path / "damaged.tar"
    for n in range(60):
        data = bytearray(whole)
        if n % 6 == 0:
            data = data[: 512 + int(random.integers(0, size))]
        else:
            data[512 + int(random.integers(0, size))] ^= int(random.integers(1, 256))
        path.write_bytes(data)
        with pytest.raises(LaminaError, match=r"damaged\.tar"):
            tvm.runtime.load_module(path)
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo("other.o"), io.BytesIO())
    with pytest.raises(InputError, match=r"damaged\.tar: holds neither lib0\.o nor lib0\.lamina"):
        tvm.runtime.load_module(path)


def test_programs_that_are_no_objects_are_in_an_archive_too(tmp_path: Path) -> None:
    text = """#[version = "0.0.5"]
def @main(%n: int32, %x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
  if (greater(%n, 0)) { @main(subtract(%n, 1), tanh(%x)) } else { %x }
}"""
    mod = tvm.parser.fromtext(text)
    relay.build(mod, target="llvm").export_library(tmp_path / "net.tar")
    module = graph_executor.GraphModule(tvm.runtime.load_module(tmp_path / "net.tar")["default"]())
    module.run(n=np.array(2, np.int32), x=GIVEN)
    np.testing.assert_allclose(module.get_output(0).numpy(), np.tanh(np.tanh(GIVEN)), rtol=1e-5)
    relay.vm.compile(mod, target="llvm").export_library(tmp_path / "vm.tar")
    machine: Any = tvm.runtime.vm.VirtualMachine(tvm.runtime.load_module(tmp_path / "vm.tar"), tvm.cpu())
    found = machine.invoke("main", np.array(1, np.int32), GIVEN)
    np.testing.assert_allclose(found.numpy(), np.tanh(GIVEN), rtol=1e-5)
    for name in ("net.tar", "vm.tar"):
        with tarfile.open(tmp_path / name) as archive:
            assert archive.getnames() == ["lib0.lamina"]
    with pytest.raises(UnsupportedError, match=r"no kernels in a fixed order"):
        relay.build(mod, target="llvm").export_library(tmp_path / "net.o")


# -- other machines --------------------------------------------------------------------------------------------


def test_a_library_for_another_machine_is_written_and_not_run(tmp_path: Path) -> None:
    lib = built(AARCH64)
    with pytest.raises(UnsupportedError, match=r"code for aarch64\S* does not run here; lib.export_library"):
        lib["default"](tvm.cpu())
    for name in ("net.so", "net.o", "net.tar"):
        lib.export_library(tmp_path / name)
        with pytest.raises(InputError, match=rf"{name}: code for aarch64 cannot run here"):
            tvm.runtime.load_module(tmp_path / name)
    lib.export_library(tmp_path / "net.a")
    with pytest.raises(UsageError, match="a library for another machine is .so, .o, .a or .tar"):
        lib.export_library(tmp_path / "net")
    assert "fmla" in lib.get_source("asm") and json.loads(lib.get_graph_json())["arg_nodes"] == [0, 1]


def test_what_runs_here_is_refused_for_another_machine() -> None:
    te: Any = tvm.te
    x = te.placeholder((te.var("n"),), name="x")

    def element(i: Any) -> Any:
        return x[i] + 1.0

    y = te.compute(x.shape, element, name="y")
    mod = tvm.IRModule.from_expr(relay.nn.relu(relay.var("x", shape=(4, 8))))
    for use in (
        lambda: tvm.build(te.create_schedule(y.op), [x, y], AARCH64),
        lambda: relay.vm.compile(mod, AARCH64),
        lambda: relay.create_executor("graph", mod, target=AARCH64),
        lambda: tvm.autotvm.task.extract_from_program(mod, {}, AARCH64),
    ):
        with pytest.raises(UnsupportedError, match="code for aarch64 does not run here, this machine is"):
            use()


def test_an_object_that_calls_an_external_compiler_is_refused(tmp_path: Path) -> None:
    lib = built(f"openblas, {AARCH64}")
    if "1 region" not in lib.executable.placement:
        pytest.skip("OpenBLAS is not here")
    with pytest.raises(UnsupportedError, match="it calls openblas, which is Python"):
        lib.export_library(tmp_path / "net.so")


# -- graphs ----------------------------------------------------------------------------------------------------


OF_TVM: dict[str, Any] = {
    "nodes": [
        {"op": "null", "name": "x", "inputs": []},
        {"op": "null", "name": "p0", "inputs": []},
        {
            "op": "tvm_op", "name": "tvmgen_default_fused_nn_dense_nn_relu", "inputs": [[0, 0, 0], [1, 0, 0]],
            "attrs": {"num_outputs": "1", "num_inputs": "2", "flatten_data": "0", "hash": "36c5b2c4d4a51b9d",
                      "func_name": "tvmgen_default_fused_nn_dense_nn_relu"},
        },
    ],
    "arg_nodes": [0, 1],
    "heads": [[2, 0, 0]],
    "attrs": {"dltype": ["list_str", ["float32"] * 3], "storage_id": ["list_int", [0, 1, 2]],
              "shape": ["list_shape", [[4, 8], [6, 8], [4, 6]]]},
    "node_row_ptr": [0, 1, 2, 3],
}  # fmt: skip


def test_a_graph_runs_with_the_library_that_it_was_written_with(lib: Any, tmp_path: Path) -> None:
    lib.export_library(tmp_path / "net.tar")
    loaded = tvm.module.load(str(tmp_path / "net.tar"))
    graph = json.loads(lib.get_graph_json())
    for text in (lib.get_graph_json(), json.dumps(graph), json.dumps(graph).encode()):
        module = graph_runtime.create(text, loaded, tvm.cpu())
        module.load_params(bytearray(relay.save_param_dict({"w": WEIGHT})))
        module.run(x=GIVEN)
        np.testing.assert_allclose(module.get_output(0).asnumpy(), EXPECTED, rtol=1e-5)


def test_other_graphs_are_refused_by_name(lib: Any) -> None:
    with pytest.raises(
        UnsupportedError, match=r"calls 'tvmgen_default_fused_nn_dense_nn_relu', which the library does n"
    ):
        graph_executor.create(json.dumps(OF_TVM), lib, tvm.cpu())
    changed = json.loads(lib.get_graph_json())
    changed["attrs"]["shape"][1][0] = [5, 8]
    with pytest.raises(InputError, match="the graph is not that of the library"):
        graph_executor.create(json.dumps(changed), lib, tvm.cpu())
    for text in ("", "[]", "{}", '{"nodes": [1]}', "[" * 100_000):
        with pytest.raises(InputError, match="this is no graph of TVM's as JSON"):
            graph_executor.create(text, lib, tvm.cpu())
    with pytest.raises(UsageError, match="a graph is JSON, not dict"):
        graph_executor.create(OF_TVM, lib, tvm.cpu())


# -- the model library format ----------------------------------------------------------------------------------


def test_a_model_library(lib: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    path = export_model_library_format(lib, tmp_path / "model.tar")
    tvm.micro.export_model_library_format(lib, tmp_path / "again.tar")
    assert path.read_bytes() == (tmp_path / "again.tar").read_bytes()
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path)
    told = json.loads((tmp_path / "metadata.json").read_text())
    assert (told["version"], told["model_name"], told["executors"]) == (5, "default", ["graph"])
    assert told["export_datetime"] == "1970-01-02 00:00:00Z" and told["target"]["1"].startswith("llvm -mtriple=x86_64")
    sizes = {e.get("input_binding", ""): e["size_bytes"] for e in told["memory"]["sids"]}
    assert sizes["x"] == GIVEN.nbytes and sizes[""] == EXPECTED.nbytes
    (main,) = told["memory"]["functions"]["main"]
    assert main["io_size_bytes"] == GIVEN.nbytes + EXPECTED.nbytes
    assert main["constants_size_bytes"] == lib.executable.memory.weights >= WEIGHT.nbytes
    assert (tmp_path / "executor-config" / "graph" / "graph.json").read_text() == lib.get_graph_json()
    assert "nn.dense" in (tmp_path / "src" / "relay.txt").read_text()
    package = tvmc.TVMCPackage(path)
    assert package.type == "mlf" and package.lib_path is None and package.graph == lib.get_graph_json()
    with pytest.raises(UnsupportedError, match="a package in the model library format is for a program of yours"):
        tvmc.run(package)


@needs_cc
def test_a_program_is_built_from_a_model_library(lib: Any, tmp_path: Path) -> None:
    with tarfile.open(export_model_library_format(lib, tmp_path / "model.tar")) as archive:
        archive.extractall(tmp_path)
    main = """#include <stdio.h>
#include <stdlib.h>
#include "lamina.h"
extern const lamina_net lamina_default;
int main(void) {
  const lamina_net *net = &lamina_default;
  float x[32], y[24];
  uint64_t bytes;
  if (fread(x, 4, 32, stdin) != 32 || net->sizes(NULL, 1, NULL, &bytes)) return 1;
  void *state = aligned_alloc(64, bytes);
  const void *in[] = {x};
  void *out[] = {y};
  if (net->start(state, NULL, 1, 0) || net->run(state, in, out)) return 2;
  net->stop(state);
  return fwrite(y, 4, 24, stdout) != 24;
}
"""
    (tmp_path / "main.c").write_text(main)
    words = [str(CC), "-I", "codegen/host/include", "main.c", "codegen/host/lib/lib0.o", "-lm", "-o", "program"]
    subprocess.run(words, cwd=tmp_path, check=True)
    said = subprocess.run([str(tmp_path / "program")], input=GIVEN.tobytes(), capture_output=True, check=True).stdout
    np.testing.assert_array_equal(np.frombuffer(said, np.float32).reshape(4, 6), result_of(lib))


def test_what_cannot_be_a_model_library(lib: Any, tmp_path: Path) -> None:
    lib.export_library(tmp_path / "net.so")
    loaded = tvm.runtime.load_module(tmp_path / "net.so")
    with pytest.raises(UnsupportedError, match="a library that was loaded from a file has no module to write"):
        export_model_library_format(loaded, tmp_path / "model.tar")
    with pytest.raises(UsageError, match="a library of relay.build is exported, not str"):
        export_model_library_format("net.so", tmp_path / "model.tar")
    assert not (tmp_path / "model.tar").exists()


@pytest.mark.parametrize("folder", ["executor-config", "runtime-config"])
def test_graph_and_weights_of_tvms_own_model_library_are_read(tmp_path: Path, folder: str) -> None:
    """Not its machine code, which is for TVM's runtime."""
    told = {"version": 5, "model_name": "default", "executors": ["graph"]}
    members = {
        "./metadata.json": json.dumps(told).encode(),
        f"./{folder}/graph/graph.json": json.dumps(OF_TVM).encode(),
        "./parameters/default.params": bytes(relay.save_param_dict({"p0": WEIGHT})),
    }
    path = tmp_path / "model.tar"
    with tarfile.open(path, "w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    package = tvmc.TVMCPackage(path)
    assert package.type == "mlf" and json.loads(package.graph) == OF_TVM
    np.testing.assert_array_equal(relay.load_param_dict(package.params)["p0"].numpy(), WEIGHT)
