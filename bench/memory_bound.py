"""Operators that move memory more than they compute, one a model, by turns with onnxruntime on one thread.

    python bench/memory_bound.py [PART OF A NAME...] [--rounds 15] [--json FILE]

Times are the processor's for the thread, medians; GB/s counts what must be read and written once. A model is the
operator alone: its data comes in plain layouts, and every call has the cost of entering the program in it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import thread_time_ns
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

OPSET = 17
Arrays = dict[str, Any]


def single(
    ops: Sequence[tuple[str, Sequence[str], dict[str, Any]]], inputs: Arrays, constants: Arrays | None = None
) -> tuple[ModelProto, Arrays]:
    """A model of ops in a chain: each gives `t0`, `t1` ...; the last ones are the outputs."""
    nodes = [
        helper.make_node(name, list(taken), [f"t{n}"] if name != "Split" else ["t0", "s1"], **attrs)
        for n, (name, taken, attrs) in enumerate(ops)
    ]
    types = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64}
    graph = helper.make_graph(
        nodes,
        "op",
        [helper.make_tensor_value_info(n, types[str(a.dtype)], a.shape) for n, a in inputs.items()],
        [helper.make_empty_tensor_value_info(o) for o in nodes[-1].output],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8), inputs


def data(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


def pool(kind: str, shape: Sequence[int], kernel: int, stride: int, pad: int = 0) -> tuple[ModelProto, Arrays]:
    attrs = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
    return single([(kind, ["x"], attrs)], {"x": data(*shape)})


def resize(mode: str, shape: Sequence[int], scale: float, coordinates: str) -> tuple[ModelProto, Arrays]:
    attrs = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        attrs["nearest_mode"] = "floor"
    scales = np.array([1, 1, scale, scale], "float32")
    return single([("Resize", ["x", "", "scales"], attrs)], {"x": data(*shape)}, {"scales": scales})


def transpose(shape: Sequence[int], perm: Sequence[int]) -> tuple[ModelProto, Arrays]:
    return single([("Transpose", ["x"], {"perm": list(perm)})], {"x": data(*shape)})


def gather(shape: Sequence[int], count: int, axis: int) -> tuple[ModelProto, Arrays]:
    rows = np.random.default_rng(1).integers(0, shape[axis], count)
    return single([("Gather", ["table", "rows"], {"axis": axis})], {"rows": rows}, {"table": data(*shape)})


def unary(*names: str, shape: Sequence[int] = (1, 64, 112, 112)) -> tuple[ModelProto, Arrays]:
    ops = [(name, [f"t{n - 1}" if n else "x"], dict[str, Any]()) for n, name in enumerate(names)]
    return single(ops, {"x": data(*shape)})


def binary(name: str, left: Sequence[int], right: Sequence[int]) -> tuple[ModelProto, Arrays]:
    return single([(name, ["x", "y"], {})], {"x": data(*left), "y": data(*right)})


def plain(name: str, shape: Sequence[int], constants: Arrays | None = None, **attrs: Any) -> tuple[ModelProto, Arrays]:
    return single([(name, ["x", *(constants or {})], attrs)], {"x": data(*shape)}, constants)


def chain() -> tuple[ModelProto, Arrays]:
    """A scale, a shift, a sum with another tensor, and a clamp: one pass over memory where they are one kernel."""
    ops: list[Any] = [
        ("Mul", ["x", "scale"], {}),
        ("Add", ["t0", "shift"], {}),
        ("Add", ["t1", "y"], {}),
        ("Relu", ["t2"], {}),
    ]
    shape = (1, 64, 112, 112)
    constants = {"scale": data(1, 64, 1, 1), "shift": data(1, 64, 1, 1)}
    return single(ops, {"x": data(*shape), "y": data(*shape)}, constants)


BIG = (1, 64, 112, 112)
CASES: dict[str, Callable[[], tuple[ModelProto, Arrays]]] = {
    "max pool 2x2 s2": partial(pool, "MaxPool", BIG, 2, 2),
    "max pool 3x3 s2": partial(pool, "MaxPool", BIG, 3, 2, 1),
    "max pool 3x3 s1": partial(pool, "MaxPool", (1, 256, 28, 28), 3, 1, 1),
    "average pool 2x2 s2": partial(pool, "AveragePool", BIG, 2, 2),
    "average pool 3x3 s1": partial(pool, "AveragePool", (1, 256, 28, 28), 3, 1, 1),
    "global average pool": partial(plain, "GlobalAveragePool", (1, 2048, 7, 7)),
    "global max pool": partial(plain, "GlobalMaxPool", (1, 2048, 7, 7)),
    "resize nearest x2": partial(resize, "nearest", (1, 64, 56, 56), 2, "asymmetric"),
    "resize linear x2": partial(resize, "linear", (1, 64, 56, 56), 2, "half_pixel"),
    "resize linear to half": partial(resize, "linear", BIG, 0.5, "half_pixel"),
    "resize cubic x2": partial(resize, "cubic", (1, 3, 112, 112), 2, "half_pixel"),
    "transpose matrix": partial(transpose, (1024, 1024), (1, 0)),
    "transpose to channels last": partial(transpose, (1, 64, 56, 56), (0, 2, 3, 1)),
    "transpose to channels first": partial(transpose, (1, 56, 56, 64), (0, 3, 1, 2)),
    "transpose three channels": partial(transpose, (1, 224, 224, 3), (0, 3, 1, 2)),
    "transpose heads": partial(transpose, (1, 128, 12, 64), (0, 2, 1, 3)),
    "transpose heads and rows": partial(transpose, (1, 128, 12, 64), (0, 2, 3, 1)),
    "transpose outer": partial(transpose, (16, 64, 784), (1, 0, 2)),
    "gather rows": partial(gather, (30522, 768), 128, 0),
    "gather columns": partial(gather, (768, 3072), 1024, 1),
    "add": partial(binary, "Add", BIG, BIG),
    "add channel": partial(binary, "Add", BIG, (1, 64, 1, 1)),
    "add row": partial(binary, "Add", (128, 3072), (3072,)),
    "multiply outer": partial(binary, "Mul", (1024, 1), (1, 1024)),
    "divide": partial(binary, "Div", BIG, BIG),
    "relu": partial(unary, "Relu"),
    "exp": partial(unary, "Exp"),
    "tanh": partial(unary, "Tanh"),
    "sigmoid": partial(unary, "Sigmoid"),
    "erf": partial(unary, "Erf"),
    "log": partial(unary, "Abs", "Log"),
    "sqrt": partial(unary, "Abs", "Sqrt"),
    "chain of four": chain,
    "softmax rows": partial(plain, "Softmax", (12, 128, 128), axis=-1),
    "softmax columns": partial(plain, "Softmax", (64, 1000, 8), axis=1),
    "mean of rows": partial(plain, "ReduceMean", (1024, 1024), axes=[1]),
    "mean of columns": partial(plain, "ReduceMean", (1024, 1024), axes=[0]),
    "sum of middle": partial(plain, "ReduceSum", (64, 128, 128), {"axes": np.array([1])}),
    "maximum of all": partial(plain, "ReduceMax", (1024, 1024)),
    "arg max of rows": partial(plain, "ArgMax", (128, 1000), axis=1),
    "concat channels": partial(
        single, [("Concat", ["x", "y"], {"axis": 1})], {"x": data(1, 64, 56, 56), "y": data(1, 32, 56, 56)}
    ),
    "concat last": partial(single, [("Concat", ["x", "y"], {"axis": 1})], {"x": data(1024, 500), "y": data(1024, 300)}),
    "split channels": partial(
        single, [("Split", ["x", "parts"], {"axis": 1})], {"x": data(*BIG)}, {"parts": np.array([24, 40])}
    ),
    "slice with steps": partial(
        plain, "Slice", BIG,
        {"a": np.array([0, 0]), "b": np.array([112, 112]), "c": np.array([2, 3]), "d": np.array([2, 2])},
    ),
    "pad": partial(plain, "Pad", BIG, {"pads": np.array([0, 0, 1, 1, 0, 0, 1, 1])}),
    "depth to space": partial(plain, "DepthToSpace", (1, 128, 56, 56), blocksize=2),
    "space to depth": partial(plain, "SpaceToDepth", BIG, blocksize=2),
    "tile": partial(plain, "Tile", (1, 64, 56, 56), {"r": np.array([1, 2, 1, 2])}),
    "expand": partial(plain, "Expand", (1, 64, 1, 112), {"shape": np.array(BIG)}),
    "cumulative sum": partial(plain, "CumSum", (1024, 1024), {"axis": np.array(1)}),
    "instance norm": partial(
        plain, "InstanceNormalization", BIG, {"s": np.ones(64, "float32"), "b": np.zeros(64, "float32")}
    ),
    "cast to integer and back": partial(
        single, [("Cast", ["x"], {"to": TensorProto.INT32}), ("Cast", ["t0"], {"to": 1})], {"x": data(*BIG)}
    ),
    "vector times matrix": partial(plain, "MatMul", (1, 1024), {"w": data(1024, 1024)}),
    "vector times wide matrix": partial(plain, "MatMul", (1, 768), {"w": data(768, 3072)}),
    "convolve transposed 2x2 s2": partial(
        plain, "ConvTranspose", (1, 64, 64, 64), {"w": data(64, 32, 2, 2)}, strides=[2, 2]
    ),
}  # fmt: skip


def measure(name: str, rounds: int) -> dict[str, Any]:
    """Both sides by turns; the largest difference relative to the largest value."""
    import lamina
    from lamina.measure.timing import onnxruntime_session

    model, inputs = CASES[name]()
    exe = lamina.compile(model, threads=1, cache=False)
    session: Any = onnxruntime_session(model.SerializeToString(), 1)
    sides: list[Callable[[], list[Any]]] = [lambda: list(exe.run(inputs).values()), lambda: session.run(None, inputs)]
    times: list[list[int]] = [[], []]
    results: list[list[Any]] = [side() for side in sides]
    calls = 1 if sum(r.nbytes for r in results[0]) > 1 << 20 else 5
    for _ in range(rounds):
        for side, found in zip(sides, times, strict=True):
            start = thread_time_ns()
            for _ in range(calls):
                side()
            found.append((thread_time_ns() - start) // calls)
    ours, theirs = (float(np.median(t)) / 1e3 for t in times)
    moved = sum(a.nbytes for a in [*inputs.values(), *results[0]])
    worst = max(
        float(np.abs(a.astype("float64") - b).max(initial=0) / max(float(np.abs(b).max(initial=0)), 1e-30))
        for a, b in zip(*results, strict=True)
    )
    return {"op": name, "us": ours, "onnxruntime_us": theirs, "ratio": theirs / ours,
            "gb_per_s": moved / ours / 1e3, "difference": worst}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of names")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    chosen = [n for n in CASES if not args.names or any(part in n for part in args.names)]
    if not chosen:
        parser.error(f"no such operator; there are {', '.join(CASES)}")
    rows: list[dict[str, Any]] = []
    print(f"{'op':<30}{'us':>10}{'ort us':>10}{'ratio':>8}{'GB/s':>8}{'diff':>9}", flush=True)
    for name in chosen:
        row = measure(name, args.rounds)
        rows.append(row)
        print("{op:<30}{us:>10.1f}{onnxruntime_us:>10.1f}{ratio:>8.2f}{gb_per_s:>8.1f}{difference:>9.0e}".format(**row),
              flush=True)  # fmt: skip
    ratios = [r["ratio"] for r in rows]
    print(f"{len(rows)} ops, geometric mean {float(np.exp(np.mean(np.log(ratios)))):.2f}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
