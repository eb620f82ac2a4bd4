"""Type inference where extents are unknown.

An op's `infer_type` computes with numbers. With a `?` among the operands it is asked for many choices of the unknown
extents, and what all its answers have in common is the type: an extent that is always the same number is that
number, one that always equals the extent called n is n, any other is unknown. A choice that the op refuses says
nothing, unless all are refused; then the message is the user's. With more than two extents unknown not all can be
tried: where none was found that fits, the op is what its text says, until it runs.

    %y = relay.add %x, %b : (tensor<?x3xf32, #relay.dims<n, _>>, tensor<3xf32>) -> tensor<?x3xf32, #relay.dims<n, _>>

The choices are finitely many, so the answer is a claim, not a proof. It need not be one: whoever computes with such a
module (`lamina.vm.vm`) infers every type again from the shapes that there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import prod
from random import Random
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from lamina.dialects.dtypes import dtype_name
from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.relay.value_types import UNNAMED, dims_problem, dynamic_tensor, extents

LARGE = (5040 * 11, 5040 * 13)
"""Larger than windows and divisible by what reshapes and groups divide by."""
MEDIUM = (240, 336, 432, 528, 624, 816, 912)
"""Different ones for different extents: what grows with their product stays small. Blocks divide them."""
MOST_DRAWS = 2000
"""The most choices that are drawn where none by plan fits."""
MOST_STUCK = 7
MOST_STARTS = 6
"""From so many that fit one and two extents are changed, to see what depends on what."""

Infer = Callable[[Sequence[Any]], Sequence[Any]]
"""The TensorInfo of the results for those of the operands. Raises TypeMismatch."""


def infer_dynamic(
    operand_types: Sequence[Attribute], infer: Infer, numbers: Sequence[int] = ()
) -> tuple[TensorType[Any], ...]:
    """The result types of an op for tensor types with `?`; `numbers` are those in its attributes.

    Raises TypeMismatch where no choice of the unknown extents fits, or the rank of a result depends on the choice.
    """
    tensors = [checked_tensor(t) for t in operand_types]
    dims = [_own_names(extents(t), n) for n, t in enumerate(tensors)]
    dtypes = [_dtype(t) for t in tensors]
    symbols = list(dict.fromkeys(d for shape in dims for d in shape if isinstance(d, str)))
    known = {d for shape in dims for d in shape if isinstance(d, int)}
    search = _Search(symbols, _candidates(known, numbers, len(symbols)))
    refusal: TypeMismatch | None = None

    def ask(values: Mapping[str, int]) -> Sequence[TensorInfo] | None:
        nonlocal refusal
        shapes = [tuple(values[d] if isinstance(d, str) else d for d in shape) for shape in dims]
        try:
            return infer([TensorInfo(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)])
        except TypeMismatch as e:
            refusal = refusal or e
            return None

    search.run(ask)
    if not search.answers:
        assert refusal is not None
        given = ", ".join(map(str, operand_types))
        kind = Undecided if len(symbols) > 2 else TypeMismatch
        raise kind(f"no extents for ? fit in {given}; for instance {refusal}")
    # Extents that have had one value only may be bound to each other in a way that was not found.
    stuck = len(symbols) > 3 and any(len({v[s] for v in search.accepted}) == 1 for s in symbols)
    return tuple(_common(column, search.accepted, not stuck) for column in zip(*search.answers, strict=True))


def checked_tensor(type_: Attribute) -> TensorType[Any]:
    """A tensor type whose extents are named as they may be. Raises TypeMismatch."""
    if not isinstance(type_, TensorType):
        raise TypeMismatch(f"expects tensors, got {type_}")
    tensor = cast("TensorType[Any]", type_)
    problem = dims_problem(tensor)
    if problem is not None:
        raise TypeMismatch(problem)
    return tensor


def _own_names(dims: tuple[int | str, ...], operand: int) -> tuple[int | str, ...]:
    """Extents without a name get one that cannot be written, each its own."""
    return tuple(f"{UNNAMED}{operand}.{a}" if d == UNNAMED else d for a, d in enumerate(dims))


def _dtype(type_: TensorType[Any]) -> str:
    try:
        return dtype_name(type_.element_type)
    except ValueError as e:
        raise TypeMismatch(str(e)) from None


def _candidates(known: set[int], numbers: Sequence[int], count: int) -> list[int]:
    """Extents to try: large ones, 1, and the numbers that the op itself has."""
    scale = prod(abs(n) for n in numbers if 1 < abs(n) < 100)
    large = [v * (scale if 0 < scale < 10**6 else 1) for v in LARGE]
    small = (
        set(range(1, 17 if count < 3 else 9 if count == 3 else 5))
        | {e for e in known if e > 0}
        | {abs(n) for n in numbers if 0 < abs(n) < 10**6}
    )
    return [*MEDIUM[:2], *large, *sorted(small)[:24]]


class Undecided(TypeMismatch):
    """No choice was found that fits, and there are more than were tried."""

    decided: ClassVar[bool] = False


class _Search:
    """Looks for extents that an op takes: by plan, else by chance, then around those found."""

    def __init__(self, symbols: Sequence[str], candidates: Sequence[int]) -> None:
        self.symbols = symbols
        self.candidates = candidates
        self.accepted: list[dict[str, int]] = []
        self.answers: list[Sequence[TensorInfo]] = []
        self._asked: set[tuple[int, ...]] = set()

    def run(self, ask: Callable[[Mapping[str, int]], Sequence[TensorInfo] | None]) -> None:
        for values in self._planned():
            self._try(values, ask)
        if not self.accepted:
            draw = Random(len(self.symbols))
            for _ in range(MOST_DRAWS):
                self._try({s: draw.choice(self.candidates) for s in self.symbols}, ask)
                if len(self.accepted) >= MOST_STARTS:
                    break
        # Those with the most different extents tell most.
        starts = sorted(self.accepted, key=lambda v: -len(set(v.values())))[:MOST_STARTS]
        for start in starts:
            for values in self._around(start):
                self._try(values, ask)

    def _try(self, values: dict[str, int], ask: Callable[[Mapping[str, int]], Sequence[TensorInfo] | None]) -> None:
        key = tuple(values.values())
        if key in self._asked:
            return
        self._asked.add(key)
        found = ask(values)
        if found is not None:
            self.accepted.append(values)
            self.answers.append(found)

    def _planned(self) -> Iterator[dict[str, int]]:
        for value in self.candidates:
            yield dict.fromkeys(self.symbols, value)
        for turn in range(2):
            yield {s: MEDIUM[(n + turn) % len(MEDIUM)] * (1 + n // len(MEDIUM)) for n, s in enumerate(self.symbols)}
        if len(self.symbols) <= 2:
            for values in product(self.candidates, repeat=len(self.symbols)):
                yield dict(zip(self.symbols, values, strict=True))

    def _around(self, start: dict[str, int]) -> Iterator[dict[str, int]]:
        for symbol in self.symbols:
            for value in (*self.candidates, *MEDIUM[2:4]):
                yield start | {symbol: value}
        for value in set(start.values()):  # what is equal may have to be
            for other in (*MEDIUM[:4], *self.candidates[4:7]):
                yield start | {s: other for s, v in start.items() if v == value}
        for pair in combinations(self.symbols, 2):
            for value in (*MEDIUM[2:4], 1):
                yield start | dict.fromkeys(pair, value)
        # Those that have had one value only may be bound to each other.
        stuck = [s for s in self.symbols if len({v[s] for v in self.accepted}) == 1][:MOST_STUCK]
        for size in range(3, len(stuck) + 1):
            for group in combinations(stuck, size):
                for value in MEDIUM[2:4]:
                    yield start | dict.fromkeys(group, value)


def _common(answers: Sequence[TensorInfo], choices: Sequence[dict[str, int]], sure: bool) -> TensorType[Any]:
    """The type that the answers for one result have in common; the rank alone where that may be chance."""
    first = answers[0]
    if any(len(a.shape) != len(first.shape) or a.dtype != first.dtype for a in answers):
        raise TypeMismatch("the rank of the result depends on extents that are unknown; say which axes are meant")
    dims: list[int | str] = []
    for axis in range(len(first.shape)):
        column = [a.shape[axis] for a in answers]
        equal = [s for s in choices[0] if all(c[s] == e for c, e in zip(choices, column, strict=True))]
        if min(column) < 0 or not sure:
            dims.append(UNNAMED)  # the op itself says that types do not tell
        elif len(set(column)) == 1 and (not equal or len(choices) > 1):
            dims.append(column[0])
        else:
            dims.append(next((s for s in equal if not s.startswith(UNNAMED)), UNNAMED))
    return dynamic_tensor(dims, first.dtype)
