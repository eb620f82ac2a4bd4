"""Programs call external backends, fall back without them, and say so."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

import lamina
from lamina.errors import InputError, UsageError
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline
from lamina.passes.relay.partition import external_backends, pattern_tables
from lamina.passes.relay.partition.external_backends import Refusal, is_declaration
from lamina.passes.relay.partition.external_kernels import JsonBackend, Kernel
from lamina.passes.relay.partition.json_graphs import Graph, Node, Type, Value
from lamina.passes.relay.partition.pattern_tables import PatternTable

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "test" / "unit")]

import models  # noqa: E402
from external_programs import Array, arrays_for, compiled, needs_openblas  # noqa: E402
from pattern_programs import program  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _forgets_backends() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Backends that a test makes are gone behind it."""
    backends = external_backends._BACKENDS  # pyright: ignore[reportPrivateUsage]
    tables = pattern_tables._TABLES  # pyright: ignore[reportPrivateUsage]
    before = dict(backends), dict(tables)
    yield
    for now, then in zip((backends, tables), before, strict=True):
        for name in set(now) - set(then):
            if name not in ("openblas", "dnnl", "bnns", "ethos-n"):
                del now[name]


# -- placement, fallback, programs on disk -------------------------------------------------------------------------

CHAIN = """
func.func @main(%x: tensor<3x4xf32>, %w: tensor<4x4xf32>) -> tensor<3x4xf32> {
  %a = relay.exp %x : tensor<3x4xf32>
  %b = relay.nn.dense %a, %w : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %c = relay.abs %b : tensor<3x4xf32>
  %r = relay.tanh %c : tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
"""


def chain(x: Array, w: Array) -> Array:
    return np.tanh(np.abs(np.exp(x) @ w.T))


def unary(name: str, *ops: str) -> tuple[JsonBackend, list[str]]:
    """A backend that runs some ops by NumPy, and the list of what it has run."""
    PatternTable(name).takes(*ops)
    backend = JsonBackend(name)
    ran: list[str] = []

    @backend.op(*ops)
    def make(node: Node) -> Kernel:
        function: Any = getattr(np, node.name)

        def run(x: Array, out: Array) -> None:
            ran.append(f"{name}.{node.name}")
            function(x, out=out)

        return run

    assert make is not None
    return backend, ran


def test_the_first_backend_has_priority(tmp_path: Path) -> None:
    _, first = unary("first", "exp", "abs")
    _, second = unary("second", "abs", "tanh")
    for target, expected in (
        ("first, second, cpu", [["first.exp", "first.abs"], ["second.tanh"]]),
        ("second, first, cpu", [["first.exp"], ["second.abs", "second.tanh"]]),
    ):
        first.clear()
        second.clear()
        exe = compiled(tmp_path, CHAIN, target)
        x, w = arrays_for(exe)
        np.testing.assert_allclose(exe(x, w), chain(x, w), rtol=1e-5)
        assert [first, second] == expected
        assert "nn.dense (%b): no pattern of" in exe.placement


def test_regions_run_between_kernels_on_the_buffers_of_the_arena(tmp_path: Path) -> None:
    """First, last and in the middle of a program, also alone, and timed one by one."""
    for ops in (("exp",), ("abs",), ("tanh",), ("exp", "tanh"), ("exp", "abs", "tanh")):
        _, ran = unary("numpy", *ops)
        exe = compiled(tmp_path, CHAIN, "numpy, cpu")
        x, w = arrays_for(exe)
        np.testing.assert_allclose(exe(x, w), chain(x, w), rtol=1e-5)
        assert ran == [f"numpy.{op}" for op in ops]
        assert "tvmgen_default_numpy_main_0" in exe.profile({"x": x, "w": w}, repeats=2).table()


def test_refused_function_is_compiled_by_us(tmp_path: Path) -> None:
    backend, _ = unary("picky", "exp", "abs", "tanh")

    @backend.op("abs")
    def refuse(node: Node) -> Kernel:
        raise Refusal(f"not on {node.types[0].dtype}")

    exe = compiled(tmp_path, CHAIN, "picky, cpu")
    x, w = arrays_for(exe)
    np.testing.assert_allclose(exe(x, w), chain(x, w), rtol=1e-5)
    assert exe.placement.splitlines() == [
        "picky: 1 region, 1 op (1 exp)",
        "left: 3 ops",
        "  nn.dense (%b): no pattern of picky has it",
        "  abs (%c): picky refused it: not on float32",
        "  tanh (%r): picky refused it: not on float32",
    ]
    assert refuse is not None


def test_refused_function_goes_to_the_next_backend(tmp_path: Path) -> None:
    backend, first = unary("first", "exp", "abs", "tanh")
    _, second = unary("second", "tanh", "exp")

    @backend.op("abs")
    def refuse(node: Node) -> Kernel:
        raise Refusal("never")

    exe = compiled(tmp_path, CHAIN, "first, bnns, second, cpu")
    x, w = arrays_for(exe)
    np.testing.assert_allclose(exe(x, w), chain(x, w), rtol=1e-5)
    assert (first, second) == (["first.exp"], ["second.tanh"])
    assert exe.placement.splitlines() == [
        "first: 1 region, 1 op (1 exp)",
        "bnns: 0 regions, 0 ops",
        "second: 1 region, 1 op (1 tanh)",
        "left: 2 ops",
        "  nn.dense (%b): bnns refused it: there is a pattern table of bnns, but no backend that makes and runs code",
        "  abs (%c): first refused it: never",
    ]
    assert refuse is not None


def test_failing_codegen_falls_back(tmp_path: Path) -> None:
    backend, _ = unary("broken", "exp")

    def fail(function: Any) -> Any:
        raise KeyError("no such node")

    backend.compile = fail
    exe = compiled(tmp_path, CHAIN, "broken, cpu")
    x, w = arrays_for(exe)
    np.testing.assert_allclose(exe(x, w), chain(x, w), rtol=1e-5)
    assert "exp (%a): broken refused it: it failed: KeyError: 'no such node'" in exe.placement


def test_absent_library_falls_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lamina.backends.byoc.openblas import codegen

    monkeypatch.setattr(codegen, "load", lambda: "there is no OpenBLAS here")
    exe = compiled(tmp_path, CHAIN, "openblas, cpu")
    x, w = arrays_for(exe)
    np.testing.assert_allclose(exe(x, w), chain(x, w), rtol=1e-5)
    assert "nn.dense (%b): openblas refused it: there is no OpenBLAS here" in exe.placement


def test_table_without_a_backend_falls_back(tmp_path: Path) -> None:
    exe = compiled(tmp_path, CHAIN, "bnns, cpu")
    x, w = arrays_for(exe)
    np.testing.assert_allclose(exe(x, w), chain(x, w), rtol=1e-5)
    assert "nn.dense (%b): bnns refused it: there is a pattern table of bnns, but no backend" in exe.placement


def test_module_that_was_partitioned_by_hand_runs_its_backends(tmp_path: Path) -> None:
    """As in TVM: MergeComposite to PartitionGraph first, then a build for the plain target."""
    from lamina import transform

    _, ran = unary("numpy", "exp", "abs")
    (tmp_path / "net.mlir").write_text(CHAIN)
    steps = [transform.AnnotateTarget(["numpy"]), transform.MergeCompilerRegions(), transform.PartitionGraph("mine")]
    exe = lamina.compile(transform.Sequential(steps)(lamina.load(tmp_path / "net.mlir")), cache=False)
    x, w = arrays_for(exe)
    np.testing.assert_allclose(exe(x, w), chain(x, w), rtol=1e-5)
    assert ran == ["numpy.exp", "numpy.abs"]
    assert exe.placement.startswith("numpy: 2 regions, 2 ops")
    assert "tvmgen_mine_numpy_main_1" in exe.text("te")


def test_failure_while_running_names_backend_and_node(tmp_path: Path) -> None:
    backend, _ = unary("late", "exp")

    @backend.op("exp")
    def make(node: Node) -> Kernel:
        def run(x: Array, out: Array) -> None:
            raise RuntimeError("device lost")

        return run

    exe = compiled(tmp_path, CHAIN, "late, cpu")
    with pytest.raises(InputError, match="external backend 'late' failed: RuntimeError: device lost"):
        exe(*arrays_for(exe))
    assert make is not None


def test_unknown_backend_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no pattern table 'openblass'; did you mean 'openblas'"):
        compiled(tmp_path, CHAIN, "openblass, cpu")
    with pytest.raises(UsageError, match="'cpu, openblas': the machine stands last; as in 'openblas, cpu'"):
        compiled(tmp_path, CHAIN, "cpu, openblas")
    with pytest.raises(UsageError, match="unknown target 'openblas'; .* backend; as in 'openblas, cpu'"):
        compiled(tmp_path, CHAIN, "openblas")


@needs_openblas
def test_programs_on_disk_call_their_backends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("LAMINA_CACHE", raising=False)
    model = models.encoder_block(heads=2, width=16, length=8)
    first = lamina.compile(model, "openblas, cpu")
    second = lamina.compile(model, "openblas, cpu")
    assert (first.cached, second.cached) == (False, True)
    assert not lamina.compile(model, "cpu").cached
    assert second.placement == first.placement != ""
    inputs = models.random_input(model)
    for name, expected in first.run(inputs).items():
        np.testing.assert_array_equal(second.run(inputs)[name], expected)


@needs_openblas
def test_program_on_disk_names_the_backend_that_is_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lamina.backends.byoc.openblas import codegen

    model, path = models.encoder_block(heads=2, width=16, length=8), tmp_path / "program"
    lamina.compile(model, "openblas, cpu", cache=False).save(path)
    monkeypatch.setattr(codegen, "load", lambda: "there is no OpenBLAS here")
    with pytest.raises(InputError, match="the program needs the external backend 'openblas': there is no OpenBLAS"):
        lamina.Executable.load(path)

    def find_none(name: str) -> None:
        return None

    monkeypatch.setattr(external_backends, "find_backend", find_none)
    with pytest.raises(InputError, match="needs the external backend 'openblas', which is not here; install"):
        lamina.Executable.load(path)


@needs_openblas
def test_program_is_compiled_anew_where_its_backend_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lamina.backends.byoc.openblas import codegen

    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("LAMINA_CACHE", raising=False)
    (tmp_path / "net.mlir").write_text(CHAIN)
    assert "1 nn.dense" in lamina.compile(tmp_path / "net.mlir", "openblas, cpu").placement
    monkeypatch.setattr(codegen, "load", lambda: "there is no OpenBLAS here")
    exe = lamina.compile(tmp_path / "net.mlir", "openblas, cpu")
    assert "openblas refused it: there is no OpenBLAS here" in exe.placement
    x, w = arrays_for(exe)
    np.testing.assert_allclose(exe(x, w), chain(x, w), rtol=1e-5)


def test_programs_of_foreign_backends_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they depend on is not known: another version of the package may do something else."""
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("LAMINA_CACHE", raising=False)
    _, ran = unary("foreign", "exp")
    (tmp_path / "net.mlir").write_text(CHAIN)
    for _ in range(2):
        exe = lamina.compile(tmp_path / "net.mlir", "foreign, cpu")
        assert not exe.cached
        exe(*arrays_for(exe))
    assert ran == ["foreign.exp"] * 2
    files = [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]
    assert files and not any(p.read_bytes().startswith(b"lamina program") for p in files)


def test_backend_of_another_package_is_found_by_its_entry_point(tmp_path: Path) -> None:
    package = tmp_path / "site" / "plus_one"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        textwrap.dedent("""
        import numpy as np
        from lamina.passes.rules.dataflow_pattern import is_op, wildcard
        from lamina.passes.relay.partition.external_kernels import JsonBackend
        from lamina.passes.relay.partition.pattern_tables import PatternTable

        table = PatternTable("plus-one")
        table += ("plus-one.tanh_abs", is_op("tanh")(is_op("abs")(wildcard())))
        backend = JsonBackend("plus-one")

        @backend.op("plus-one.tanh_abs")
        def tanh_abs(node):
            assert [n.name for n in node.graph.nodes][1:] == ["abs", "tanh"]
            return lambda x, out: np.add(np.tanh(np.abs(x)), 1, out=out)
        """)
    )
    info = tmp_path / "site" / "plus_one-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plus-one\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lamina.backends]\nplus-one = plus_one\n")
    (tmp_path / "net.mlir").write_text(CHAIN)
    code = textwrap.dedent("""
    import sys; sys.path.insert(0, sys.argv[1])
    import numpy as np, lamina
    exe = lamina.compile(sys.argv[2], "plus-one, cpu", cache=False)
    x, w = np.full((3, 4), 0.1, np.float32), np.eye(4, dtype=np.float32)
    print(np.allclose(exe(x, w), 1 + np.tanh(np.exp(x)), rtol=1e-5))
    print(exe.placement)
    """)
    words = [sys.executable, "-c", code, str(tmp_path / "site"), str(tmp_path / "net.mlir")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[:2] == ["True", "plus-one: 1 region, 2 ops (1 plus-one.tanh_abs)"]


@needs_openblas
def test_the_command_prints_what_went_where(tmp_path: Path) -> None:
    from io import StringIO

    from lamina.cli import command as cli

    (tmp_path / "net.mlir").write_text(CHAIN)
    out, err = StringIO(), StringIO()
    path = str(tmp_path / "net.mlir")
    assert cli.run(["compile", "--no-cache", "--target", "openblas, llvm", path], out, err) == 0, err.getvalue()
    assert "openblas: 1 region, 1 op (1 nn.dense)\nleft: 3 ops\n" in out.getvalue()
    out = StringIO()
    assert cli.run(["compile", "--print-pipeline", "--target", "openblas, llvm"], out, err) == 0
    assert "relay-merge-composite{patterns=openblas},relay-annotate-target{targets=openblas}" in out.getvalue()
    assert "relay-external-codegen{targets=openblas},cpu-channels-first" in out.getvalue()


@needs_openblas
def test_sanitized_kernels_work_beside_a_backend(tmp_path: Path) -> None:
    exe = compiled(tmp_path, CHAIN, "openblas, cpu", sanitize=True)
    x, w = arrays_for(exe)
    np.testing.assert_allclose(exe(x, w), chain(x, w), rtol=1e-5)
    assert "1 nn.dense" in exe.placement


@needs_openblas
def test_programs_of_the_machine_call_backends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands between control flow is placed as a program by itself."""
    from lamina.backends.byoc.openblas import codegen

    made: list[Any] = []
    product = codegen.gemm

    def counted(*args: Any, **named: Any) -> Any:
        made.append(args)
        return product(*args, **named)

    monkeypatch.setattr(codegen, "gemm", counted)
    exe = compiled(
        tmp_path,
        """
        func.func @main(%x: tensor<3x4xf32>, %w: tensor<4x4xf32>, %c: tensor<i1>) -> tensor<3x4xf32> {
          %r = relay.if %c -> tensor<3x4xf32> {
            %b = relay.nn.dense %x, %w : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
            relay.yield %b : tensor<3x4xf32>
          } else {
            relay.yield %x : tensor<3x4xf32>
          }
          return %r : tensor<3x4xf32>
        }
        """,
        "openblas, cpu",
    )
    x, w = (np.random.default_rng(n).standard_normal((3 + n, 4)).astype(np.float32) for n in (0, 1))
    np.testing.assert_allclose(exe(x, w, np.array(True)), x @ w.T, rtol=1e-5)
    np.testing.assert_array_equal(exe(x, w, np.array(False)), x)
    assert made


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_compute_the_same_whatever_is_refused(seed: int) -> None:
    """Two backends that refuse some functions at random: by the reference after the pass, some as machine code."""
    rng = random.Random(seed)
    functions: dict[str, Any] = {"exp": np.exp, "abs": np.abs, "tanh": np.tanh, "add": np.add, "maximum": np.maximum}
    ran: list[str] = []
    for name, ops in (("one", ("exp", "abs", "add")), ("two", ("tanh", "add", "maximum"))):
        PatternTable(name).takes(*ops)
        chance = rng.choice((0.0, 0.1, 0.4))

        @JsonBackend(name).op(*ops, in_place=True)
        def make(node: Node, chance: float = chance) -> Kernel:
            if seen is None and rng.random() < chance:
                raise Refusal("by lot")

            def run(*arrays: Array) -> None:
                ran.append(node.name)
                with np.errstate(all="ignore"):
                    functions[node.name](*arrays[:-1], out=arrays[-1])

            return run

        assert make is not None
    module = program(rng, rng.choice((4, 12, 40)))
    x, y = np.array([0.1, -0.7, 1.3], np.float32), np.array([-0.2, 0.4, 0.0], np.float32)
    expected = list(run_relay(main_function(module), [x, y]))
    seen: list[str] | None = None
    partitioned, ctx = module.clone(), LaminaContext()
    names = ",".join(rng.sample(("one", "two"), 2))
    for p in parse_pipeline(
        f"relay-annotate-target{{targets={names}}},relay-merge-compiler-regions,relay-partition-graph,"
        f"relay-external-codegen{{targets={names}}}"
    ):
        p.apply(ctx, partitioned)
        partitioned.verify()
    symbols = [f.sym_name.data for f in partitioned.body.block.ops if isinstance(f, FuncOp)]
    assert len(set(symbols)) == len(symbols)
    declared = sum(map(is_declaration, partitioned.body.block.ops))
    seen = []  # from here on what was compiled is loaded, and nobody refuses
    for a, b in zip(run_relay(main_function(partitioned), [x, y]), expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert bool(ran) == bool(declared)
    if seed % 4 == 0:
        exe = lamina.compile(partitioned, cache=False)
        found = exe.run({p.name: a for p, a in zip(exe.inputs, (x, y), strict=True)})
        for a, b in zip(found.values(), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


# -- graphs --------------------------------------------------------------------------------------------------------


def random_graph(seed: int) -> Graph:
    """Inputs, and unary and binary nodes on whatever came before; some results are given."""
    rng = np.random.default_rng(seed)
    shapes = [Type((2, 3), "float32"), Type((4, 1), "float64")]
    nodes = [Node("input", f"i{n}", [shapes[n % 2]]) for n in range(4)]
    for _ in range(int(rng.integers(1, 15))):
        first = int(rng.integers(len(nodes)))
        alike = [n for n, x in enumerate(nodes) if x.types == nodes[first].types]
        inputs = [Value(first)] + [Value(int(rng.choice(alike)))] * int(rng.integers(2))
        types = nodes[first].types
        name = ("negative", "square")[int(rng.integers(2))] if len(inputs) == 1 else "add"
        nodes.append(Node("kernel", name, types, {}, inputs, None, [types[0]] * len(inputs)))
    used = {v for n in nodes for v in n.inputs}
    ends = [Value(n) for n, x in enumerate(nodes) if x.op == "kernel" and (Value(n) not in used or rng.random() < 0.2)]
    return Graph(nodes, ends)


@pytest.mark.parametrize("seed", range(60))
def test_shared_memory_changes_nothing(seed: int) -> None:
    """Results that lie over what they are made of, and temporaries that share memory, against one array each."""
    graph = random_graph(seed)
    backend = JsonBackend("planned")
    functions: dict[str, Any] = {"negative": np.negative, "square": np.square, "add": np.add}

    @backend.op(*functions, in_place=True)
    def make(node: Node) -> Kernel:
        def run(*arrays: Array) -> None:
            functions[node.name](*arrays[:-1], out=arrays[-1])

        return run

    rng = np.random.default_rng(seed)
    inputs = [rng.standard_normal(n.types[0].shape).astype(n.types[0].dtype) for n in graph.nodes[:4]]
    kept = [i.copy() for i in inputs]
    outputs = [np.empty(graph.nodes[h.node].types[0].shape, graph.nodes[h.node].types[0].dtype) for h in graph.heads]
    backend.load(graph.text(), [], 1)(inputs, outputs)
    values: list[Array] = [*kept]
    for node in graph.nodes[4:]:
        values.append(functions[node.name](*(values[v.node] for v in node.inputs)))
    for head, given in zip(graph.heads, outputs, strict=True):
        np.testing.assert_array_equal(given, values[head.node])
    for a, b in zip(inputs, kept, strict=True):
        np.testing.assert_array_equal(a, b)
    assert Graph.read(graph.text()).text() == graph.text()
    assert make is not None
