"""Operators of scripts on numbers, lists and strings, which are computed when a script is read."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from lamina.errors import UnsupportedError

DTYPES = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", None, None, None, "bool", None,
          None, None, "bfloat16")  # fmt: skip
"""Element types by the numbers of c10::ScalarType."""
MOST = 1 << 20
"""Elements of a list or a text that is made of others."""


def _fits(length: int) -> None:
    if length > MOST:
        raise ValueError("the result is too long")


def _times(x: Any, y: Any) -> Any:
    if isinstance(x, (list, str)):
        _fits(len(x) * y)  # pyright: ignore[reportUnknownArgumentType]
    return x * y


def _plus(x: Any, y: Any, *_: Any) -> Any:
    if isinstance(x, (list, str)):
        _fits(len(x) + len(y))  # pyright: ignore[reportUnknownArgumentType]
    return x + y


def _extend(items: Any, others: Any) -> None:
    _fits(len(items) + len(others))
    items.extend(others)


def _extended(items: Any, others: Any) -> Any:
    _extend(items, others)
    return items


def _append(items: Any, item: Any) -> Any:
    items.append(item)
    return items


def _insert(items: Any, place: int, item: Any) -> Any:
    items.insert(place, item)
    return items


def _set_item(items: Any, place: Any, item: Any) -> None:
    items[place] = item


def _delete(items: Any, place: Any) -> None:
    del items[place]


def _sort(items: Any, reverse: bool = False) -> None:
    items.sort(reverse=reverse)


def _count(x: Any, item: Any, *bounds: int) -> int:
    """The times of an item in a list, or of a text in a part of another; torch ends that at -1 where it is whole."""
    return x.count(item, *(b for b in bounds if b != -1)) if isinstance(x, str) else x.count(item)


def _split(text: str, separator: str | None = None, most: int = -1) -> list[str]:
    return text.split(separator, most)


def _join(separator: str, parts: list[str]) -> str:
    _fits(len(separator) * len(parts) + sum(map(len, parts)))
    return separator.join(parts)


def _replace(text: str, old: str, new: str, most: int = -1) -> str:
    _fits((len(text) + 1) * (len(new) + 1))
    return text.replace(old, new, most)


def _percent_format(text: str, *values: Any) -> str:
    if re.search(r"%[^a-z%]*(\d{4}|\*)", text):
        raise ValueError("the width is too large")
    return text % values


def _format(text: str, *values: Any) -> str:
    """The values in the places of `{}`."""
    first, *rest = text.split("{}")
    if len(rest) != len(values):
        raise ValueError(f"{len(values)} values of {len(rest)}")
    return first + "".join(f"{v}{part}" for v, part in zip(values, rest, strict=True))


def _find(text: str, part: str, *bounds: int) -> int:
    return text.find(part, *(b for b in bounds if b != -1))


def _round(x: Any) -> Any:
    return float(round(x)) if isinstance(x, float) else x


def _to(x: Any, *given: Any) -> Any:
    """A number as another type; the type has a number itself, behind a device or none."""
    dtype = next((v for v in given[:2] if isinstance(v, int) and not isinstance(v, bool)), None)
    if dtype is None:
        return x
    name = DTYPES[dtype] if 0 <= dtype < len(DTYPES) else None
    if name is None:
        raise ValueError(f"the element type {dtype} is not supported")
    return bool(x) if name == "bool" else float(x) if "float" in name else int(x)


def _power(x: Any, y: Any) -> Any:
    if abs(y) > 1024:
        raise ValueError("the exponent is too large")
    return x**y


def _shifted(x: int, y: int) -> int:
    if y > 64:
        raise ValueError("the shift is too large")
    return x << y


def _method_of_text(name: str) -> Callable[..., Any]:
    def call(text: str, *given: Any) -> Any:
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError("is of a text")
        return getattr(text, name)(*given)

    return call


_OF_MATH = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "copysign", "cos", "cosh", "degrees", "erf", "erfc"),
    *("exp", "expm1", "fabs", "fmod", "frexp", "gamma", "gcd", "hypot", "isfinite", "isinf", "isnan", "ldexp"),
    *("lgamma", "log10", "log1p", "log2", "modf", "radians", "sin", "sinh", "tan", "tanh", "trunc"),
)
"""Functions of Python's math by their names."""
_OF_TEXTS = (
    *("capitalize", "endswith", "isalnum", "isalpha", "isdigit", "islower", "isspace", "isupper", "lower"),
    *("lstrip", "rfind", "rstrip", "startswith", "strip", "title", "upper"),
)
"""Methods of Python's texts by their names."""
NUMBERS: dict[str, Callable[..., Any]] = {
    "add": _plus,
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
    "__and__": lambda x, y: x & y,
    "__or__": lambda x, y: x | y,
    "__xor__": lambda x, y: x ^ y,
    "__lshift__": _shifted,
    "__rshift__": lambda x, y: x >> y,
    "bitwise_not": lambda x: ~x,
    "__contains__": lambda x, y: y in x if isinstance(x, (list, dict, str)) else x in y,
    "__getitem__": lambda x, y: x[y],
    "len": len,
    "__range_length": lambda first, end, step: len(range(first, end, step)),
    "__derive_index": lambda k, first, step: first + k * step,
    "append": _append,
    "insert": _insert,
    "extend": _extend,
    "add_": _extended,
    "_set_item": _set_item,
    "Delete": _delete,
    "pop": lambda x, *given: x.pop(*given),
    "remove": lambda x, y: x.remove(y),
    "clear": lambda x: x.clear(),
    "reverse": lambda x: x.reverse(),
    "sort": _sort,
    "sorted": sorted,
    "index": lambda x, y: x.index(y),
    "count": _count,
    "dict": lambda *x: dict(*x),
    "get": lambda x, *given: x.get(*given),
    "update": lambda x, y: x.update(y),
    "setdefault": lambda x, *given: x.setdefault(*given),
    "list": list,
    "sum": lambda x, *_: sum(x),
    "any": any,
    "all": all,
    "copy": lambda x, *_: x.copy(),
    "keys": lambda x: list(x.keys()),
    "values": lambda x: list(x.values()),
    "items": lambda x: list(x.items()),
    "floor": math.floor,
    "ceil": math.ceil,
    "sqrt": math.sqrt,
    "log": math.log,
    "abs": abs,
    "round": _round,
    **{name: getattr(math, name) for name in _OF_MATH},
    "mathremainder": math.remainder,
    "divmod": divmod,
    "ord": ord,
    "chr": chr,
    "hex": hex,
    "oct": oct,
    "bin": bin,
    **{name: _method_of_text(name) for name in _OF_TEXTS},
    "split": _split,
    "find": _find,
    "join": _join,
    "replace": _replace,
    "percentFormat": _percent_format,
    "format": _format,
    "warn": lambda *_, **__: None,
    "prim.unchecked_cast": lambda x: x,
    "prim.abs": abs,
    "prim.min": lambda *v: min(v[0] if len(v) == 1 else v),
    "prim.max": lambda *v: max(v[0] if len(v) == 1 else v),
    "prim.NumToTensor": lambda x: x,
    "Int": int,
    "Float": float,
    "Bool": bool,
    "ScalarImplicit": lambda x: x,
    "detach": lambda x: x,
    "to": _to,
    "IntImplicit": lambda x: x,
    "prim.device": lambda *_: None,
    "device": lambda *_: None,
    "slice": lambda x, start=None, end=None, step=1: x[slice(start, end, step)],
}  # fmt: skip
"""Operators by their names; one of a tensor is no number."""


def computed(operator: str, args: list[Any], where: str) -> Any:
    """The value of an operator on numbers. Raises UnsupportedError where it has none."""
    try:
        found = NUMBERS[operator](*args)
        if isinstance(found, int) and not -(1 << 63) <= found < 1 << 63:
            raise ValueError("the result has more than 64 bits")
        return found
    except (ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as e:
        said = f"torch.{operator} of these numbers is not supported: {e}"
        raise UnsupportedError(said[:200], where=where) from None
