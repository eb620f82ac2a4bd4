"""Operators of scripts on numbers, lists and strings, which are computed when a script is read."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from lamina.errors import UnsupportedError

MOST = 1 << 20
"""Elements of a list that is repeated."""


def _times(x: Any, y: Any) -> Any:
    if isinstance(x, list) and len(x) * y > MOST:  # pyright: ignore[reportUnknownArgumentType]
        raise ValueError("the list is too long")
    return x * y


def _append(items: Any, item: Any) -> Any:
    items.append(item)
    return items


def _insert(items: Any, place: int, item: Any) -> Any:
    items.insert(place, item)
    return items


def _power(x: Any, y: Any) -> Any:
    if abs(y) > 1024:
        raise ValueError("the exponent is too large")
    return x**y


NUMBERS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y, *_: x + y,
    "sub": lambda x, y, *_: x - y,
    "mul": _times,
    "div": lambda x, y: x / y,
    "floordiv": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "pow": _power,
    "neg": lambda x: -x,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "__is__": lambda x, y: x is y,
    "__isnot__": lambda x, y: x is not y,
    "__not__": lambda x: not x,
    "__and__": lambda x, y: x and y,
    "__or__": lambda x, y: x or y,
    "__contains__": lambda x, y: y in x if isinstance(x, (list, dict, str)) else x in y,
    "__getitem__": lambda x, y: x[y],
    "len": len,
    "__range_length": lambda first, end, step: len(range(first, end, step)),
    "__derive_index": lambda k, first, step: first + k * step,
    "append": _append,
    "insert": _insert,
    "extend": lambda x, y: x.extend(y),
    "list": list,
    "sum": lambda x, *_: sum(x),
    "copy": lambda x, *_: x.copy(),
    "keys": lambda x: list(x.keys()),
    "values": lambda x: list(x.values()),
    "items": lambda x: list(x.items()),
    "floor": math.floor,
    "ceil": math.ceil,
    "sqrt": math.sqrt,
    "log": math.log,
    "abs": abs,
    "round": round,
    "format": lambda text, *values: str(text).replace("{}", "%s") % values if values else text,
    "warn": lambda *_, **__: None,
    "prim.unchecked_cast": lambda x: x,
    "prim.min": lambda *v: min(v[0] if len(v) == 1 else v),
    "prim.max": lambda *v: max(v[0] if len(v) == 1 else v),
    "prim.NumToTensor": lambda x: x,
    "Int": int,
    "Float": float,
    "Bool": bool,
    "ScalarImplicit": lambda x: x,
    "IntImplicit": lambda x: x,
    "prim.device": lambda *_: None,
    "device": lambda *_: None,
    "slice": lambda x, start=None, end=None, step=1: x[slice(start, end, step)],
}  # fmt: skip
"""Operators by their names; one of a tensor is no number."""


def computed(operator: str, args: list[Any], where: str) -> Any:
    """The value of an operator on numbers. Raises UnsupportedError where it has none."""
    try:
        return NUMBERS[operator](*args)
    except (ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as e:
        said = f"torch.{operator} of these numbers is not supported: {e}"
        raise UnsupportedError(said[:200], where=where) from None
