"""Every op's numpy oracle as a NumPy program: traced, compiled, and compared with itself on the op's own samples.

    python test/frontends/numpy/np_refs.py                    all ops, their samples compiled
    python test/frontends/numpy/np_refs.py --only exp conv    ops with these in their names
    python test/frontends/numpy/np_refs.py --samples 1        one sample of each

An op counts where all its samples are traced, compiled and equal. Where an oracle asks for the numbers of operands, as
of a scale or of indices, those of one element are constants of the program, or else all but one that has more. Exit
status 1 where a value is wrong.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from lamina.dialects import lazy
from lamina.dialects.dtypes import is_float
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.meaning import draw, full_attrs
from lamina.dialects.relay.op_index import OPS
from lamina.errors import LaminaError
from lamina.frontends.numpy.creation import WRAPPED
from lamina.numpy.jit import CompiledFunction, JitOptions

SECONDS = 20
"""The most that a sample may take."""
OPTIONS = JitOptions(threads=1, cache=False)
RTOL = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-4, "float64": 1e-8}


@dataclass
class Found:
    """The outcome of an op's samples."""

    name: str
    samples: int = 0
    with_constants: int = 0
    """Samples of which some operands are constants: those of one element, or all but one that has more."""
    refused: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])


def run_op(name: str, op_type: Any, most: int) -> Found:
    """Trace, compile and compare the oracle of an op on its samples."""
    found = Found(name)
    samples = [s for s in op_type.samples() if s.error is None][:most]
    for n, s in enumerate(samples):
        found.samples += 1
        random = np.random.default_rng([n, *name.encode()])
        ranges = s.ranges or (None,) * len(s.operands)
        arrays = [draw(o, r, s.finite, random) for o, r in zip(s.operands, ranges, strict=True)]
        given = full_attrs(op_type, {k: v for k, v in s.attrs.items() if v is not None})

        with np.errstate(all="ignore"):
            expected = _listed(op_type.np_ref(*[a.copy() for a in arrays], **given))
        got, refusal = _traced(op_type, arrays, given, [True] * len(arrays))
        alone = ([n == k for n in range(len(arrays))] for k, a in enumerate(arrays) if a.size > 1)
        for traced in ([a.size > 1 for a in arrays], *alone):
            if refusal and any(traced) and not all(traced):
                got, again = _traced(op_type, arrays, given, traced)
                found.with_constants += not again
                refusal = again and refusal
        if refusal:
            found.refused.append(f"sample {n}: {refusal}")
            continue
        said = next((d for g, e in zip(got, expected, strict=True) if (d := difference(g, e))), "")
        if said:
            found.wrong.append(f"sample {n} {s.operands} {s.attrs}: {said}")
    return found


def _traced(
    op_type: Any, arrays: Sequence[Any], attrs: dict[str, Any], traced: Sequence[bool]
) -> tuple[list[Any], str]:
    """The results of an oracle, compiled with some of its operands as arguments and the others as constants.

    Where that is refused there are none, and a line that says why.
    """
    given = [a for a, is_traced in zip(arrays, traced, strict=True) if is_traced]

    def oracle(*operands: Any) -> Any:
        rest = iter(operands)
        return op_type.np_ref(
            *(next(rest) if is_traced else a for a, is_traced in zip(arrays, traced, strict=True)), **attrs
        )

    _forget()
    try:
        with _within(SECONDS):
            return _listed(CompiledFunction(oracle, OPTIONS)(*given)), ""
    except (LaminaError, TimeoutError) as e:
        return [], str(e)


@contextmanager
def _within(seconds: int) -> Generator[None]:
    """Raise TimeoutError after so many seconds: a loop over elements is a program with an op for each."""

    def over(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _forget() -> None:
    """Let the op files look NumPy's functions up anew: those that make arrays are others while a function is traced."""
    for name in (*WRAPPED, "vectorize"):
        cast(dict[str, Any], vars(lazy.np)).pop(name, None)


def _listed(results: Any) -> list[Any]:
    found: list[Any] = list(results) if isinstance(results, (tuple, list)) else [results]  # pyright: ignore[reportUnknownArgumentType]
    return [np.asarray(r) for r in found]


def difference(got: Any, expected: Any) -> str:
    """How two arrays differ, in one line; empty where they do not."""
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return f"{got.dtype}{list(got.shape)} for {expected.dtype}{list(expected.shape)}"
    if not is_float(expected.dtype.name):
        return "" if np.array_equal(got, expected) else f"{np.count_nonzero(got != expected)} elements differ"
    a, b = got.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(np.isnan(a), np.isnan(b)) or not np.array_equal(a[np.isinf(b)], b[np.isinf(b)]):
        return "NaN or infinities stand elsewhere"
    rtol = RTOL[expected.dtype.name]
    scale = np.max(np.abs(b[finite]), initial=0.0)
    off = np.abs(a - b)[finite] > rtol * (np.abs(b[finite]) + scale)
    return f"{np.count_nonzero(off)} of {off.size} elements are off" if off.any() else ""


def ops(only: Sequence[str] = ()) -> list[tuple[str, Any]]:
    """The ops that have an oracle and samples."""
    found: list[tuple[str, Any]] = []
    for name in OPS:
        op_type: Any = find_op(name)
        if issubclass(op_type, RelayOp) and hasattr(op_type, "np_ref") and hasattr(op_type, "samples"):
            if not only or any(o in name for o in only):
                found.append((name, op_type))
    return found


def main() -> int:
    """Run the ops and print what is refused, what is wrong, and the share."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="ops with these in their names")
    parser.add_argument("--samples", type=int, default=1000, metavar="N", help="samples of each op, at most")
    args = parser.parse_args()
    whole = wrong = samples = refused = constants = 0
    every = ops(args.only)
    for name, op_type in every:
        found = run_op(name, op_type, args.samples)
        samples += found.samples
        refused += len(found.refused)
        wrong += len(found.wrong)
        constants += bool(found.with_constants)
        whole += not found.refused and not found.wrong
        for kind, lines in (("refused", found.refused), ("wrong", found.wrong)):
            if lines:
                print(f"{kind} {name}: {len(lines)} of {found.samples} samples; {lines[0]}")
    share = 100 * whole / max(len(every), 1)
    print(f"{whole} of {len(every)} ops wholly ({share:.0f} %), {constants} of them with operands as constants")
    print(f"{samples} samples: {samples - refused - wrong} equal, {refused} refused, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
