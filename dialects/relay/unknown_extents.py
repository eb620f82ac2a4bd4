"""Type inference where extents are unknown.

An op's `infer_type` computes with numbers. With a `?` among the operands it is asked for many choices of the unknown
extents, and what all its answers have in common is the type: an extent that is always the same number is that
number, one that always equals the extent called n is n, any other is unknown. A choice that the op refuses says
nothing, unless all are refused; then the message is the user's.

    %y = relay.add %x, %b : (tensor<?x3xf32, #relay.dims<n, _>>, tensor<3xf32>) -> tensor<?x3xf32, #relay.dims<n, _>>

The choices are finitely many, so the answer is a claim, not a proof. It need not be one: whoever computes with such a
module (`lamina.runtime.vm`) infers every type again from the shapes that there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from lamina.dialects.dtypes import dtype_name
from lamina.dialects.relay.base import TensorInfo, TypeMismatch
from lamina.dialects.relay.value_types import UNNAMED, dims_problem, dynamic_tensor, extents

MOST_CHOICES = 400
"""All combinations of the candidates are tried up to so many, else a selection."""
LARGE = (5040 * 11, 5040 * 13, 5040 * 17, 5040 * 19)
"""Larger than windows and divisible by what reshapes and groups divide by."""

Infer = Callable[[Sequence[Any]], Sequence[Any]]
"""The TensorInfo of the results for those of the operands. Raises TypeMismatch."""


def infer_dynamic(
    operand_types: Sequence[Attribute], infer: Infer, numbers: Sequence[int] = ()
) -> tuple[TensorType[Any], ...]:
    """The result types of an op for tensor types with `?`; `numbers` are those in its attributes.

    Raises TypeMismatch where no choice of the unknown extents fits, or the rank of a result depends on the choice.
    """
    tensors: list[TensorType[Any]] = []
    for type_ in operand_types:
        if not isinstance(type_, TensorType):
            raise TypeMismatch(f"expects tensors, got {type_}")
        tensor = cast("TensorType[Any]", type_)
        problem = dims_problem(tensor)
        if problem is not None:
            raise TypeMismatch(problem)
        tensors.append(tensor)
    dims = [_own_names(extents(t), n) for n, t in enumerate(tensors)]
    dtypes = [_dtype(t) for t in tensors]
    symbols = list(dict.fromkeys(d for shape in dims for d in shape if isinstance(d, str)))
    known = {d for shape in dims for d in shape if isinstance(d, int)}
    accepted: list[dict[str, int]] = []
    answers: list[Sequence[TensorInfo]] = []
    refusal: TypeMismatch | None = None
    for values in _choices(symbols, known, numbers):
        infos = [
            TensorInfo(tuple(values[d] if isinstance(d, str) else d for d in shape), dtype)
            for shape, dtype in zip(dims, dtypes, strict=True)
        ]
        try:
            answers.append(infer(infos))
            accepted.append(values)
        except TypeMismatch as e:
            refusal = refusal or e
    if not answers:
        assert refusal is not None
        given = ", ".join(map(str, operand_types))
        raise TypeMismatch(f"no extents for ? fit in {given}; for instance {refusal}")
    return tuple(_common(column, accepted) for column in zip(*answers, strict=True))


def _own_names(dims: tuple[int | str, ...], operand: int) -> tuple[int | str, ...]:
    """Extents without a name get one that cannot be written, each its own."""
    return tuple(f"{UNNAMED}{operand}.{a}" if d == UNNAMED else d for a, d in enumerate(dims))


def _dtype(type_: TensorType[Any]) -> str:
    try:
        return dtype_name(type_.element_type)
    except ValueError as e:
        raise TypeMismatch(str(e)) from None


def _choices(symbols: Sequence[str], known: set[int], numbers: Sequence[int]) -> Iterator[dict[str, int]]:
    """Extents for the symbols: equal ones, different ones, 1, and the numbers that the op itself has."""
    scale = prod(abs(n) for n in numbers if 1 < abs(n) < 100)
    large = [v * (scale if 0 < scale < 10**6 else 1) for v in LARGE]
    small = sorted({e for e in known if e > 0} | {abs(n) for n in numbers if 0 < abs(n) < 10**6} | {1})
    candidates = [*large[:2], *small[:8]]
    for value in large[:2]:
        yield dict.fromkeys(symbols, value)
    if len(candidates) ** len(symbols) <= MOST_CHOICES:
        for values in product(candidates, repeat=len(symbols)):
            yield dict(zip(symbols, values, strict=True))
        return
    for value in candidates:
        yield dict.fromkeys(symbols, value)
    distinct = {s: large[n % len(large)] * (1 + n // len(large)) for n, s in enumerate(symbols)}
    yield distinct
    for symbol in symbols:
        for value in candidates:
            yield distinct | {symbol: value}
            yield dict.fromkeys(symbols, large[0]) | {symbol: value}


def _common(answers: Sequence[TensorInfo], choices: Sequence[dict[str, int]]) -> TensorType[Any]:
    """What the answers for one result have in common."""
    first = answers[0]
    if any(len(a.shape) != len(first.shape) or a.dtype != first.dtype for a in answers):
        raise TypeMismatch("the rank of the result depends on extents that are unknown; say which axes are meant")
    dims: list[int | str] = []
    for axis in range(len(first.shape)):
        column = [a.shape[axis] for a in answers]
        equal = [s for s in choices[0] if all(c[s] == e for c, e in zip(choices, column, strict=True))]
        if len(set(column)) == 1 and (not equal or len(choices) > 1):
            dims.append(column[0])
        else:
            dims.append(next((s for s in equal if not s.startswith(UNNAMED)), UNNAMED))
    return dynamic_tensor(dims, first.dtype)
