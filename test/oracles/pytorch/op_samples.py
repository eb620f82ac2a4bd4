"""Every sample of torch's operators (`op_db`) imported and run, against torch: what is the same, refused or wrong.

    python test/oracles/pytorch/op_samples.py --dtype float32                     each sample by the ops' oracles
    python test/oracles/pytorch/op_samples.py --dtype float32 --compiled          by machine code
    python test/oracles/pytorch/op_samples.py --dtype float32 --torch-compile     as users call it, the rest eager
    python test/oracles/pytorch/op_samples.py --dtype float32 --script            traced as TorchScript, by its reader
    python test/oracles/pytorch/op_samples.py --only softmax topk --most 4 -v     a few operators, four samples of each

A sample is traced as AOTAutograd traces it, torch's decompositions for what the table has no row for. Its operator is
`same` where all samples are, `drawn` where one draws random numbers, of which the types are compared (test_random.py
looks at the distributions), `refused` where one is not imported, with the reason; `wrong` never ought to be.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

import lamina
from lamina.errors import LaminaError
from lamina.frontends.aten.fx_graph import array_of, graph_of
from lamina.frontends.aten.graph import Input
from lamina.frontends.aten.importer import RANDOM_KEY, import_graph
from lamina.frontends.torchscript.script import traced_graph
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.torch.decompositions import decompositions

ORDER = ("wrong", "crash", "refused", "traced", "complex", "drawn", "same", "nothing")
"""Outcomes, the first that a sample has being that of its operator."""
LINALG = re.compile(
    r"linalg|cholesky|svd|lu_|^lu$|^qr$|geqrf|ormqr|pinverse|triangular_solve|matrix_exp|eig|pca_lowrank|logdet"
)
RANDOM = re.compile(
    r"aten\.(bernoulli|rand|multinomial|normal|fractional|rrelu)|prims\.(normal|uniform)|exponential|cauchy|geometric"
)
BY_VALUES = re.compile(
    r"nonzero|masked_select|unique|repeat_interleave\.Tensor|_local_scalar_dense|equal\.default|mask"
)
MEMORY = re.compile(r"^(new_)?empty|empty_like|^resize_")


@dataclass
class Outcome:
    """The outcomes of an operator's samples."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    said: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The worst one."""
        return next(k for k in ORDER if self.counts[k] or k == "nothing")

    @property
    def reason(self) -> str:
        """The class of an operator that is not compiled wholly."""
        said = " ".join(self.said.values())
        if LINALG.search(self.name):
            return "decomposes matrices"
        if self.kind == "complex" or "complex" in said or self.name.startswith("fft."):
            return "complex"
        if MEMORY.search(self.name):
            return "memory that nothing has written"
        if RANDOM.search(said):
            return "draws random numbers"
        return "shape depends on values" if BY_VALUES.search(said) else "no row"


def traced(op: Any, sample: Any) -> tuple[Any, list[Any], Any]:
    """A function of a sample's tensors, and these."""
    flat, spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
    places = [k for k, v in enumerate(flat) if isinstance(v, torch.Tensor)]

    def call(*tensors: Any) -> Any:
        full = list(flat)
        for k, t in zip(places, tensors, strict=True):
            full[k] = t
        args, kwargs = pytree.tree_unflatten(full, spec)
        return [v for v in pytree.tree_leaves(op(*args, **kwargs)) if isinstance(v, torch.Tensor)]

    return call, [flat[k].detach().clone() for k in places], spec


def graph(call: Any, tensors: list[Any], label: str) -> Any:
    """The graph of a function as data."""
    functional = torch.func.functionalize(call, remove="mutations_and_views")
    with torch.no_grad():
        gm = make_fx(functional, decomposition_table=decompositions(), tracing_mode="real")(
            *(t.clone() for t in tensors)
        )

    def get(target: str) -> Any:
        found = gm
        for part in target.split("."):
            found = getattr(found, part)
        return found

    return graph_of(list(gm.graph.nodes), label, {}, lambda k: f"y{k}", get)


def script_graph(call: Any, tensors: list[Any]) -> tuple[Any, list[Any]]:
    """The graph of a function as TorchScript has it, read from a file, and what torch makes of that."""
    with NamedTemporaryFile(suffix=".pt") as file, torch.no_grad():
        made = torch.jit.trace(lambda *t: tuple(call(*t)), tuple(t.clone() for t in tensors), check_trace=False)
        torch.jit.save(made, file.name)
        inputs = [Input(f"x{k}", tuple(t.shape), str(t.dtype).removeprefix("torch.")) for k, t in enumerate(tensors)]
        wanted = torch.jit.load(file.name)(*(t.clone() for t in tensors))
        return traced_graph(file.name, {}, inputs=inputs), pytree.tree_leaves(wanted)


def run(imported: Any, arrays: list[Any], compiled: bool) -> list[Any]:
    """The results on arrays."""
    if compiled:
        exe = lamina.compile(imported, threads=1, cache=False)
        return list(exe.run({p.name: a for p, a in zip(exe.inputs, arrays, strict=True)}).values())
    return [np.asarray(v) for v in run_relay(main_function(imported.module), arrays, imported.store)]


def difference(got: Any, wanted: Any) -> str:
    """The first difference of a result, empty where there is none."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"{got.dtype}{list(got.shape)} for {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype.kind in "iub":
        bad = got != wanted
    else:
        x, y = got.astype(np.float64), wanted.astype(np.float64)
        largest = np.max(np.abs(y), where=np.isfinite(y), initial=1.0)
        near = {"float16": 4e-3, "bfloat16": 3e-2}.get(str(wanted.dtype), 1e-5)
        bad = ~np.isclose(x, y, rtol=10 * near, atol=near * largest, equal_nan=True)
    if not bad.any():
        return ""
    place = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{got[place]} for {wanted[place]} at {list(place)} ({np.count_nonzero(bad)} of {bad.size})"


TIES = ("topk", "kthvalue", "sort", "argsort", "median", "nanmedian", "masked.median", "masked.argmax", "masked.argmin")
"""Operators that may tell the place of any of several equal elements."""


def same_elements(array: Any, got: Any, wanted: Any) -> bool:
    """Whether places along some axis are those of equal elements."""
    for axis in range(array.ndim):
        try:
            kept = [i if i.ndim == array.ndim else np.expand_dims(i, axis) for i in (got, wanted)]
            taken = [np.take_along_axis(array, i, axis) for i in kept]
        except (ValueError, IndexError):
            continue
        if np.array_equal(taken[0], taken[1], equal_nan=array.dtype.kind == "f"):
            return True
    return False


def called(call: Any, tensors: list[Any], seed: int = 0) -> list[Any]:
    """The results of a function, which draws from the same seed each time."""
    torch.manual_seed(seed)
    with torch.no_grad():
        return call(*(t.clone() for t in tensors))


def plain(tensor: Any) -> Any:
    """The array of a tensor; complex numbers are pairs along an axis more, sparse tensors full of zeros."""
    tensor = tensor.detach()
    tensor = tensor.dequantize() if tensor.is_quantized else tensor
    tensor = tensor.to_dense() if tensor.layout != torch.strided else tensor
    tensor = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
    return array_of(tensor.resolve_neg().contiguous())


def through_torch_compile(op: Any, call: Any, tensors: list[Any], wanted: list[Any]) -> tuple[str, str]:
    """The outcome of a sample by `torch.compile`: what has no row is computed by torch."""
    torch._dynamo.reset()
    try:
        got = called(torch.compile(call, backend="lamina", dynamic=False), tensors)
    except Exception as e:
        return "crash", f"{type(e).__name__}: {e}"
    results = [plain(v) for v in got], [plain(v) for v in wanted]
    if any(difference(plain(v), w) for v, w in zip(called(call, tensors, 1), results[1], strict=True)):
        return drawn(*results)
    return compared(op, plain(tensors[0]), *results)


def drawn(got: list[Any], wanted: list[Any]) -> tuple[str, str]:
    """`drawn`, or `wrong` where results that are drawn have other types."""
    same = [(g.dtype, g.shape) for g in got] == [(w.dtype, w.shape) for w in wanted]
    return ("drawn", "") if same else ("wrong", "types of what is drawn")


def compared(op: Any, first: Any, got: list[Any], wanted: list[Any]) -> tuple[str, str]:
    """`same` or `wrong`, with the first difference; `first` is the array of the first operand."""
    if len(got) != len(wanted):
        return "wrong", f"{len(got)} results of {len(wanted)}"
    for k, (g, w) in enumerate(zip(got, wanted, strict=True)):
        said = difference(g, w)
        tied = op.name in TIES and g.dtype.kind == "i" and g.shape == w.shape
        if said and not (tied and same_elements(first, g, w)):
            return "wrong", f"result {k}: {said}"
    return "same", ""


def outcome(op: Any, sample: Any, way: str) -> tuple[str, str]:
    """The outcome of a sample, and what there is to say of it."""
    call, tensors, _ = traced(op, sample)
    try:
        wanted = called(call, tensors)
    except Exception as e:  # torch itself does not take it
        return "nothing", str(e)
    if not wanted or not tensors:
        return "nothing", ""
    if way == "torch.compile":
        return through_torch_compile(op, call, tensors, wanted)
    if any(t.is_complex() or t.layout != torch.strided or t.is_quantized for t in (*tensors, *wanted)):
        return "complex", ""
    try:
        if way == "script":
            made, wanted = script_graph(call, tensors)
        else:
            made = graph(call, tensors, op.name)
        imported = import_graph(made, draws=True)
        draws = any(p.name == RANDOM_KEY for p in imported.inputs)
        arrays = [np.ascontiguousarray(array_of(t.contiguous())).reshape(tuple(t.shape)) for t in tensors]
        key = [np.random.default_rng(0).integers(0, 2**63, 10, np.uint64)] if draws else []
        got = run(imported, [*arrays, *key], way == "compiled")
    except LaminaError as e:
        return "refused", str(e)
    except Exception as e:
        return (
            "traced" if "torch/" in str(e.__traceback__ and e.__traceback__.tb_next) else "crash"
        ), f"{type(e).__name__}: {e}"
    expected = [array_of(w.contiguous()) for w in wanted]
    return drawn(got, expected) if draws else compared(op, arrays[0], got, expected)


def outcomes(dtype: Any, most: int, way: str, only: list[str], part: int = 0, parts: int = 1) -> list[Outcome]:
    """The outcomes of all operators that take an element type; `way` is oracles, compiled, torch.compile or script."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: list[Outcome] = []
    for n, op in enumerate(op_db):
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        if n % parts != part or dtype not in op.supported_dtypes("cpu"):
            continue
        if only and not {op.name, op.name.split(".")[-1]} & {*only}:
            continue
        torch.manual_seed(0)
        row = Outcome(name)
        found.append(row)
        try:
            for k, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=False)):
                if k >= most:
                    break
                kind, said = outcome(op, sample, way)
                row.counts[kind] += 1
                row.said.setdefault(kind, said.split("\n")[0][:200])
        except Exception as e:  # what draws the samples fails
            row.said.setdefault("samples", str(e)[:100])
    return found


def report(found: list[Outcome], verbose: bool) -> str:
    """The table: how many operators of each outcome, and why those are not compiled wholly that are not."""
    # What memory holds that nothing has written is no value.
    rows = [o for o in found if not (MEMORY.search(o.name) and o.kind == "wrong")]
    counts = Counter(o.kind for o in rows)
    samples = sum((o.counts for o in found), Counter())
    rest = [o for o in rows if o.kind not in ("same", "drawn", "nothing")]
    reasons = Counter(o.reason for o in rest)
    whole = counts["same"] + counts["drawn"]
    counted = whole + sum(
        n for r, n in reasons.items() if r in ("no row", "shape depends on values", "draws random numbers")
    )
    lines = [
        f"{len(found)} operators, {sum(samples.values())} samples: {dict(samples)}",
        f"operators: {dict(counts)}; not compiled wholly by reason: {dict(reasons)}",
        f"of dense, real ones without decompositions of matrices: {whole} of {counted} compiled wholly",
    ]
    shown = [o for o in rest if verbose or o.kind in ("wrong", "crash")]
    lines += [f"  {o.kind:8} {o.name}: {o.said.get(o.kind, '')} {dict(o.counts)}" for o in shown]
    return "\n".join(lines)


def main() -> int:
    """Run the samples; 1 where one is wrong."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    parser = argparse.ArgumentParser(description="Torch's operators against torch.")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--most", type=int, default=10**6, help="samples of an operator")
    parser.add_argument("--compiled", dest="way", action="store_const", const="compiled", default="oracles")
    parser.add_argument("--torch-compile", dest="way", action="store_const", const="torch.compile")
    parser.add_argument("--script", dest="way", action="store_const", const="script")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--part", default="0/1", help="every n-th operator: 0/2")
    parser.add_argument("--json", type=Path)
    parser.add_argument("-v", "--verbose", action="store_true", help="all that are not the same")
    args = parser.parse_args()
    part, parts = map(int, args.part.split("/"))
    found = outcomes(getattr(torch, args.dtype), args.most, args.way, args.only, part, parts)
    print(report(found, args.verbose))
    if args.json:
        rows = [{"name": o.name, "counts": dict(o.counts), "said": o.said} for o in found]
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    return int(any(o.counts["wrong"] or o.counts["crash"] for o in found if not MEMORY.search(o.name)))


if __name__ == "__main__":
    sys.exit(main())
