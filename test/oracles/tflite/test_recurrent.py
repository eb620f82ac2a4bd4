"""Recurrent layers give LiteRT's results, run after run."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import draw, interpreter, run, same  # noqa: E402
from tflite_build import Graph, Op, T, build  # noqa: E402

import lamina  # noqa: E402

N, I, U, P = 2, 5, 4, 3  # noqa: E741


def runs(data: bytes, shape: Sequence[int], count: int = 3) -> None:
    """Several runs, each from the state that the one before has left."""
    session, theirs = lamina.compile(data, cache=False).session(), interpreter(data)
    for k in range(count):
        x = draw(shape, seed=10 + k)
        y: Any = session(x)
        same([*y] if isinstance(y, tuple) else [y], run(theirs, [x]))


def w(*shape: int, seed: int) -> T:
    return T.of(draw(shape, seed=seed, low=-0.7, high=0.7))


def state(*shape: int) -> T:
    return T(shape, is_variable=True)


def one_of(
    op: str, x: T, operands: Sequence[T | None], shape: Sequence[int], outputs: int = 1, **options: Any
) -> bytes:
    results = [T(shape) for _ in range(outputs)]
    return build(Graph([x], results, [Op(op, [x, *operands], results, options)]))


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("has_bias", [True, False])
def test_svdf(rank: int, has_bias: bool) -> None:
    filters, memory = U * rank, 3
    operands = [w(filters, I, seed=1), w(filters, memory, seed=2), w(U, seed=3) if has_bias else None]
    data = one_of("SVDF", T((N, I)), [*operands, state(N, memory * filters)], (N, U), rank=rank,
                  fused_activation_function="RELU")  # fmt: skip
    runs(data, (N, I), 5)


def test_rnn() -> None:
    cell = [w(U, I, seed=1), w(U, U, seed=2), w(U, seed=3)]
    data = one_of("RNN", T((N, I)), [*cell, state(N, U)], (N, U), fused_activation_function="TANH")
    runs(data, (N, I))


@pytest.mark.parametrize("time_major", [True, False])
def test_sequence_rnn(time_major: bool) -> None:
    cell = [w(U, I, seed=1), w(U, U, seed=2), w(U, seed=3), state(N, U)]
    shape = (6, N, I) if time_major else (N, 6, I)
    data = one_of("UNIDIRECTIONAL_SEQUENCE_RNN", T(shape), cell, (*shape[:2], U), time_major=time_major,
                  fused_activation_function="TANH")  # fmt: skip
    runs(data, shape)


@pytest.mark.parametrize("merge", [True, False])
def test_bidirectional_rnn(merge: bool) -> None:
    sides = [[w(U, I, seed=s + 1), w(U, U, seed=s + 2), w(U, seed=s + 3), state(N, U)] for s in (0, 10)]
    shape = (N, 3, I)
    out = (N, 3, U * 2) if merge else (N, 3, U)
    data = one_of("BIDIRECTIONAL_SEQUENCE_RNN", T(shape), [*sides[0], *sides[1], *[None] * 3], out, 1 if merge else 2,
                  merge_outputs=merge, fused_activation_function="TANH")  # fmt: skip
    runs(data, shape, 2)


def lstm_operands(kind: str, out: int, seed: int = 0) -> list[T | None]:
    """The 17 operands of a cell; `kind` names what it has."""
    coupled, peephole, projection = "coupled" in kind, "peephole" in kind, "projection" in kind
    inputs: list[T | None] = [w(U, I, seed=seed + k) for k in range(4)]
    recurrent: list[T | None] = [w(U, out, seed=seed + 4 + k) for k in range(4)]
    holes: list[T | None] = [w(U, seed=seed + 8 + k) if peephole else None for k in range(3)]
    bias: list[T | None] = [w(U, seed=seed + 12 + k) for k in range(4)]
    if coupled:
        inputs[0] = recurrent[0] = holes[0] = bias[0] = None
    projections = [w(out, U, seed=seed + 16), w(out, seed=seed + 17)] if projection else [None, None]
    return [*inputs, *recurrent, *holes, *bias, *projections]


LSTMS = ["plain", "coupled", "peephole", "projection", "coupled peephole projection", "norm", "norm peephole clip"]


@pytest.mark.parametrize("kind", LSTMS)
@pytest.mark.parametrize("time_major", [True, False])
def test_sequence_lstm(kind: str, time_major: bool) -> None:
    out = P if "projection" in kind else U
    shape = (3, N, I) if time_major else (N, 3, I)
    norm = [w(U, seed=30 + k) for k in range(4)] if "norm" in kind else [None] * 4
    clips: dict[str, Any] = {"cell_clip": 0.3, "proj_clip": 0.2} if "clip" in kind else {}
    operands = [*lstm_operands(kind, out), state(N, out), state(N, U), *norm]
    data = one_of("UNIDIRECTIONAL_SEQUENCE_LSTM", T(shape), operands, (*shape[:2], out), time_major=time_major,
                  fused_activation_function="TANH", **clips)  # fmt: skip
    runs(data, shape, 2)


def test_lstm_of_one_step() -> None:
    operands = [*lstm_operands("peephole", U), state(N, U), state(N, U), *[None] * 4]
    data = one_of("LSTM", T((N, I)), operands, (N, U), fused_activation_function="TANH")
    runs(data, (N, I))


@pytest.mark.parametrize("merge", [True, False])
def test_bidirectional_lstm(merge: bool) -> None:
    # Of a batch whose results are merged LiteRT puts all but the first sequence into wrong places.
    batch = 1 if merge else N
    states = [state(batch, U) for _ in range(4)]
    operands = [*lstm_operands("plain", U), *lstm_operands("plain", U, 50), *states, *[None] * 9]
    out = (batch, 3, U * 2) if merge else (batch, 3, U)
    data = one_of("BIDIRECTIONAL_SEQUENCE_LSTM", T((batch, 3, I)), operands, out, 1 if merge else 2,
                  merge_outputs=merge, time_major=False, fused_activation_function="TANH")  # fmt: skip
    runs(data, (batch, 3, I), 2)
