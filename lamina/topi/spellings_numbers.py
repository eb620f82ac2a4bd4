"""`topi.utils` and `topi.nn.utils`: extents as numbers, and paddings on both sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from lamina.te.expr import Expr, FloatImm, IntImm, as_expr, fail


def get_const_int(expr: Any) -> int:
    """The integer that an expression is. Raises InputError for one that is not known."""
    found = as_expr(expr)
    if not isinstance(found, IntImm):
        raise fail(f"a constant integer is wanted, not {expr!r}")
    return int(found)


def get_const_float(expr: Any) -> float:
    """The number that an expression is. Raises InputError for one that is not known."""
    found = as_expr(expr)
    if not isinstance(found, (IntImm, FloatImm)):
        raise fail(f"a constant number is wanted, not {expr!r}")
    return float(cast("Any", found).value)


def get_const_tuple(in_tuple: Sequence[Any]) -> tuple[Any, ...]:
    """Extents as integers; variables stay what they are."""
    return tuple(e if isinstance(e, Expr) and not isinstance(e, IntImm) else get_const_int(e) for e in in_tuple)


def equal_const_int(expr: Any, value: int) -> bool:
    """Whether an expression is a known integer of that value."""
    return isinstance(expr, (int, IntImm)) and int(expr) == value


def both_sides(padding: Any, taps: Sequence[int]) -> tuple[int, ...]:
    """Padding before each axis, then after each: of numbers, or of `VALID` (none) or `SAME` at stride 1.

    An odd padding has the larger half before, as in TVM. Raises InputError for other words and numbers.
    """
    rank = len(taps)
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise fail(f"padding is a list of numbers, 'SAME' or 'VALID', not {padding!r}")
        total = [t - 1 if padding.upper() == "SAME" else 0 for t in taps]
        before = [(n + 1) // 2 for n in total]
        return (*before, *(n - b for n, b in zip(total, before, strict=True)))
    listed: list[Any] = list(cast("Sequence[Any]", padding)) if isinstance(padding, (list, tuple)) else [padding]
    found = [get_const_int(p) for p in listed]
    if len(found) == 1:
        found *= rank
    if len(found) == rank:
        found *= 2
    if len(found) != 2 * rank:
        raise fail(f"padding of {rank} axes is 1, {rank} or {2 * rank} numbers, not {padding!r}")
    return tuple(found)


def _pad_tuple(rank: int) -> Callable[[Any, Any], tuple[int, ...]]:
    def get_pad_tuple(padding: Any, kernel: Any) -> tuple[int, ...]:
        taps = list(cast("Sequence[Any]", kernel)) if isinstance(kernel, (list, tuple)) else [kernel]
        return both_sides(padding, [get_const_int(t) for t in taps])

    get_pad_tuple.__doc__ = f"Padding before each of {rank} axes, then after each, for a (dilated) kernel."
    return get_pad_tuple


NUMBER_SPELLINGS: dict[str, Callable[..., Any]] = {
    "utils.equal_const_int": equal_const_int,
    "utils.get_const_float": get_const_float,
    "utils.get_const_int": get_const_int,
    "utils.get_const_tuple": get_const_tuple,
    "nn.utils.get_pad_tuple": _pad_tuple(2),
    "nn.utils.get_pad_tuple1d": _pad_tuple(1),
    "nn.utils.get_pad_tuple3d": _pad_tuple(3),
}
