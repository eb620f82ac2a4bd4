"""`make demo`: ResNet-50 from ONNX to machine code, its results and its speed beside onnxruntime's.

Leaves the text of every level in build/demo: relay.mlir te.mlir tir.mlir llvm.mlir kernels.ll kernels.s.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test"))

TOLERANCE = 1e-4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="resnet50", help="a light model of the onnx package (default: resnet50)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "demo")
    parser.add_argument("--seconds", type=float, default=6.0, help="how long to measure")
    args = parser.parse_args()

    import models

    import lamina
    from lamina.cli.progress import StageProgress
    from lamina.measure.timing import compare, largest_difference, onnxruntime_session, random_inputs

    folder: Path = args.folder
    folder.mkdir(parents=True, exist_ok=True)
    print(f"1. the model: light_{args.model} of the onnx package, with random weights")
    proto = models.light_model(args.model)
    path = folder / f"{args.model}.onnx"
    path.write_bytes(proto.SerializeToString())
    print(lamina.load(path))

    print("\n2. compile, one thread, from nothing (no cache)")
    start = perf_counter()
    with StageProgress(sys.stdout, lines=True) as progress:
        exe = lamina.compile(path, threads=1, progress=progress, cache=False)
    print(f"total   {perf_counter() - start:7.2f} s")
    lamina.compile(path, threads=1)
    start = perf_counter()
    cached = lamina.compile(path, threads=1)
    print(f"again   {perf_counter() - start:7.2f} s   {'from the cache' if cached.cached else 'no cache'}")
    print(exe)

    print("\n3. the same numbers as onnxruntime: values before the softmax, and tensors inside")
    logits = models.before_softmax(proto)
    names = [*models.named_inner_tensors(proto), logits]
    opened = models.with_extra_outputs(proto, names)
    inputs = random_inputs(exe.inputs)
    expected_session = onnxruntime_session(opened.SerializeToString(), 1)
    expected = dict(
        zip((o.name for o in expected_session.get_outputs()), expected_session.run(None, inputs), strict=True)
    )
    found = lamina.compile(opened, threads=1).run(inputs)
    worst = 0.0
    for name in names:
        difference = largest_difference(found[name], expected[name])
        worst = max(worst, difference)
        kind = "logits" if name == logits else "inner"
        shape = "x".join(map(str, expected[name].shape))
        print(f"  {kind:<7}{name:<40}{shape:<16}{difference:.1e} of the largest value")
    print(f"  {'within' if worst <= TOLERANCE else 'NOT within'} {TOLERANCE:g}")

    print("\n4. the same speed: by turns with onnxruntime, one thread each")
    print(compare(exe.run, onnxruntime_session(str(path), 1), inputs, seconds=args.seconds))
    print("\nthe slowest kernels, by the model's nodes")
    print(exe.profile(inputs).table(6))

    print("\n5. every level is a text file")
    for file in exe.save_texts(folder):
        print(f"  {file.relative_to(ROOT) if file.is_relative_to(ROOT) else file}  {file.stat().st_size:,} bytes")
    print("  try: opt-tool build/demo/relay.mlir -p relay-fold-scale-axis --print-ir-diff")
    if worst > TOLERANCE:
        print("error: the results differ from onnxruntime's")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
