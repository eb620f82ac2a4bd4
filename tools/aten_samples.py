"""Writes `test/frontends/aten/samples/*.fx`: calls of ATen's operators as torch prints them, with what they give.

    python -m tools.aten_samples          write the samples of rows of `frontends/aten` that have none
    python -m tools.aten_samples --all    write all of them afresh

It needs torch (`make setup-frontends`) and takes the inputs from torch's own samples of its operators, `op_db`, one
small graph for each row of the table that one of them reaches. The tests read the samples without torch.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

from lamina.errors import LaminaError
from lamina.frontends.aten import table
from lamina.frontends.aten.equations import AtenEquation
from lamina.frontends.aten.fx_graph import array_of
from lamina.frontends.aten.fx_text import read_graph
from lamina.frontends.aten.importer import import_graph
from lamina.frontends.aten.table import names
from lamina.torch.decompositions import decompositions

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "test" / "frontends" / "aten" / "samples"
MOST_ELEMENTS = 130
MOST_CALLS = 4
MOST_SAMPLES = 6
"""Of an operator and an element type."""


def line(name: str, array: Any) -> str:
    """An array as a comment: `# x: float32[2] 0.5 nan`."""
    values = " ".join(map(str, array.reshape(-1)))
    return f"# {name}: {array.dtype}{list(array.shape)} {values}".rstrip()


@contextmanager
def rows_used() -> Generator[set[str]]:
    """The rows of the table that imports use while it lasts."""
    used: set[str] = set()
    apply, lookup = AtenEquation.apply, table.converter_of

    def applied(self: AtenEquation, *args: Any) -> Any:
        found = apply(self, *args)
        if found is not None:
            used.add(repr(self))
        return found

    def looked_up(call: Any, row: Any) -> Any:
        found = lookup(call, row)
        if found is not None:
            used.add(found[0].__name__ + " " + call.packet)
        return found

    AtenEquation.apply, table.converter_of = applied, looked_up  # type: ignore[method-assign]
    try:
        yield used
    finally:
        AtenEquation.apply, table.converter_of = apply, lookup  # type: ignore[method-assign]


def traces(torch: Any, function: Callable[..., Any], tensors: list[Any]) -> Iterator[Any]:
    """The graph of a function: as torch.export has it, and as AOTAutograd has it."""

    class Module(torch.nn.Module):
        """The function as a module."""

        def forward(self, *given: Any) -> Any:
            return function(*given)

    try:
        yield torch.export.export(Module(), tuple(tensors)).graph_module
    except Exception:  # whatever torch cannot trace has no sample
        pass
    functional = torch.func.functionalize(function, remove="mutations_and_views")
    make_fx = import_module("torch.fx.experimental.proxy_tensor").make_fx
    try:
        with torch.no_grad():
            yield make_fx(functional, decomposition_table=decompositions(), tracing_mode="real")(*tensors)
    except Exception:
        pass


def samples(torch: Any) -> Iterator[tuple[str, Callable[..., Any], list[Any]]]:
    """Functions of tensors, each with its inputs."""
    pytree = import_module("torch.utils._pytree")
    op_db = import_module("torch.testing._internal.common_methods_invocations").op_db
    for op in op_db:
        for dtype in (torch.float32, torch.int64, torch.bool):
            if dtype not in op.supported_dtypes("cpu") or op.name.startswith(("linalg.", "fft.", "empty")):
                continue
            given = list(zip(range(MOST_SAMPLES), op.sample_inputs("cpu", dtype), strict=False))
            for _, sample in given:
                flat, spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
                places = [k for k, v in enumerate(flat) if isinstance(v, torch.Tensor)]

                def call(*tensors: Any, op: Any = op, flat: Any = flat, spec: Any = spec, places: Any = places) -> Any:
                    full = list(flat)
                    for k, t in zip(places, tensors, strict=True):
                        full[k] = t
                    args, kwargs = pytree.tree_unflatten(full, spec)
                    return [v for v in pytree.tree_leaves(op(*args, **kwargs)) if isinstance(v, torch.Tensor)]

                yield op.name, call, [flat[k].detach().clone() for k in places]


def plain_samples(torch: Any) -> Iterator[tuple[str, Callable[..., Any], list[Any]]]:
    """Calls of the table's operators on one to three matrices, whether they take them or not."""
    for name in names():
        packet = getattr(torch.ops.aten, name.partition(".")[0], None)
        for count in (1, 2, 3):
            tensors = [torch.rand(3, 3) * 0.9 for _ in range(count)]

            def call(*given: Any, packet: Any = packet) -> Any:
                return [packet(*given)]

            if packet is not None:
                yield name.replace(".", "_"), call, tensors


def text_of(torch: Any, gm: Any, function: Callable[..., Any], tensors: list[Any]) -> str | None:
    """A sample, None where it is too large or not dense."""
    calls = [n for n in gm.graph.nodes if n.op == "call_function"]
    if len(calls) > MOST_CALLS or any(n.op == "get_attr" for n in gm.graph.nodes):
        return None
    with torch.no_grad():
        results = function(*(t.clone() for t in tensors))
    dense = [t for t in (*tensors, *results) if t.layout is torch.strided and not t.is_complex()]
    if not results or len(dense) != len(tensors) + len(results):
        return None
    if sum(t.numel() for t in dense) > MOST_ELEMENTS:
        return None
    inputs = [n.name for n in gm.graph.nodes if n.op == "placeholder"]
    if len(inputs) != len(tensors):
        return None
    arrays = [array_of(t.contiguous()) for t in dense]
    heads = [*inputs, *(f"output_{k}" for k in range(len(results)))]
    code = gm.print_readable(print_output=False)
    kept = [row.rstrip() for row in code.split("\n") if row.strip() and not row.lstrip().startswith("#")]
    body = [row[4:] for row in kept if not row.startswith("class ")]
    return "\n".join([*map(line, heads, arrays), *body]) + "\n"


def main() -> int:
    """Write the samples."""
    warnings.filterwarnings("ignore")
    torch = import_module("torch")
    torch.manual_seed(0)
    FOLDER.mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()
    for path in sorted(FOLDER.glob("*.fx")):
        if "--all" in sys.argv:
            path.unlink()
            continue
        with rows_used() as used:
            import_graph(read_graph(path.read_text("utf-8"), path.name))
        seen |= used
    counts: dict[str, int] = {}
    for name, function, tensors in chain(plain_samples(torch), samples(torch)):
        for gm in traces(torch, function, tensors):
            try:
                text = text_of(torch, gm, function, tensors)
            except Exception:  # it takes no such inputs, or their memory has no copies
                continue
            if text is None:
                continue
            try:
                with rows_used() as used:
                    import_graph(read_graph(text, name))
            except LaminaError:
                continue
            if not used <= seen:
                stem = name.replace(".", "_")
                counts[stem] = counts.get(stem, 0) + 1
                seen |= used
                (FOLDER / f"{stem}_{counts[stem]}.fx").write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
