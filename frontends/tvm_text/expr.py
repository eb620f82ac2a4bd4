"""Relay's expressions as TVM's Python has them: light nodes that share their operands.

They say what is written and no more: types, checks and meaning are those of our IR, which they become when a module
or a function is formed (`to_ir.py`). Nodes may be lazy: they take in their operands when somebody looks at them. What
a node is asked and does not know, its type or its text, those answer who stand above it (`answer`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from lamina.dialects.dtypes import dtype_of, numpy_dtype
from lamina.errors import InputError, UsageError
from lamina.frontends.tvm_text.operators import fusion_kind
from lamina.frontends.tvm_text.ty import TensorType, Type, written

Array = np.ndarray[Any, np.dtype[Any]]


_answers: dict[str, Callable[..., Any]] = {}


def answer(**answers: Callable[..., Any]) -> None:
    """Let functions answer what nodes are asked.

    `type(node)`; `text(node, show_meta_data)`; `array(values)`, which holds them; of operators `op_attr(name, key)`,
    `register_op_attr(name, key, value, level)` and `reset_op_attr(name, key)`.
    """
    _answers.update(answers)


class Attrs(Mapping[str, Any]):
    """The attributes of a call or a function: `attrs.axis`, `attrs["axis"]`."""

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self.values_by_name = dict(values or {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "values_by_name":
            raise AttributeError(name)
        if name not in self.values_by_name:
            raise AttributeError(f"no attribute {name!r}; there are {', '.join(self.values_by_name) or 'none'}")
        return self.values_by_name[name]

    def __getitem__(self, name: str) -> Any:
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)

    def get_int(self, name: str) -> int:
        return int(self[name])

    def get_str(self, name: str) -> str:
        return str(self[name])

    def get_int_tuple(self, name: str) -> tuple[int, ...]:
        return tuple(int(v) for v in self[name])

    def __repr__(self) -> str:
        return repr(self.values_by_name)


class Expr:
    """Base of the expressions. Two are the same when they are one object (`tvm.ir.structural_equal` compares)."""

    span: Any = None
    """The origin of the node: a location of our IR."""

    @classmethod
    def lazy(cls, load: Callable[[Any], None], **known: Any) -> Any:
        """A node whose fields are filled in by `load` when the first of them is asked for."""
        node = cls.__new__(cls)
        node.__dict__.update(known, _load=load)
        return node

    def __getattr__(self, name: str) -> Any:
        load = self.__dict__.pop("_load", None)
        if load is not None:
            load(self)
            return getattr(self, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @property
    def checked_type(self) -> Any:
        """The type. Raises LaminaError where operands do not fit, or a variable's type is not known."""
        found = self.__dict__.get("_type")
        if found is None:
            found = _answers["type"](self)
        return found

    @property
    def _checked_type_(self) -> Any:
        return self.__dict__.get("_type")

    def astype(self, dtype: object) -> Call:
        return make_call("cast", [self], {"dtype": dtype_of(cast("str", dtype))})

    def __call__(self, *args: Any) -> Call:
        return Call(self, [as_expr(a) for a in args])

    def astext(self, show_meta_data: bool = True, annotate: object = None) -> str:
        return _answers["text"](self, show_meta_data)

    def __str__(self) -> str:
        return self.astext(show_meta_data=False) if "text" in _answers else super().__repr__()

    __repr__ = __str__

    def same_as(self, other: object) -> bool:
        return self is other

    def __neg__(self) -> Call:
        return make_call("negative", [self])

    def __add__(self, other: Any) -> Call:
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Call:
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> Call:
        return _binary("subtract", self, other)

    def __rsub__(self, other: Any) -> Call:
        return _binary("subtract", other, self)

    def __mul__(self, other: Any) -> Call:
        return _binary("multiply", self, other)

    def __rmul__(self, other: Any) -> Call:
        return _binary("multiply", other, self)

    def __truediv__(self, other: Any) -> Call:
        return _binary("divide", self, other)

    def __rtruediv__(self, other: Any) -> Call:
        return _binary("divide", other, self)

    def __lt__(self, other: Any) -> Call:
        return _binary("less", self, other)

    def __le__(self, other: Any) -> Call:
        return _binary("less_equal", self, other)

    def __gt__(self, other: Any) -> Call:
        return _binary("greater", self, other)

    def __ge__(self, other: Any) -> Call:
        return _binary("greater_equal", self, other)


class Op(Expr):
    """An operator by TVM's name; one object for each name (`get_op`)."""

    def __init__(self, name: str) -> None:
        self.name = name

    @staticmethod
    def get(op_name: str) -> Op:
        """The operator of a name. Raises UsageError where there is none."""
        return get_op(op_name)

    def get_attr(self, attr_name: str) -> Any:
        """TVM's registry: `TOpPattern`, and what was registered; None for what there is not."""
        if attr_name == "TOpPattern":
            return int(fusion_kind(self.name))
        return _answers["op_attr"](self.name, attr_name)

    def has_attr(self, attr_name: str) -> bool:
        return self.get_attr(attr_name) is not None

    def set_attr(self, attr_name: str, value: Any, plevel: int = 10) -> None:
        """Give the operator an attribute."""
        _answers["register_op_attr"](self.name, attr_name, value, plevel)

    def reset_attr(self, attr_name: str) -> None:
        """Take an attribute back."""
        _answers["reset_op_attr"](self.name, attr_name)

    @property
    def checked_type(self) -> Any:
        raise UsageError(f"the operator {self.name} has a type for each use", hint="ask a call of it")

    def __repr__(self) -> str:
        return f"Op({self.name})"

    __str__ = __repr__


_OPS: dict[str, Op] = {}


def get_op(name: str) -> Op:
    """The operator of a name. Raises UsageError where there is none."""
    found = _OPS.get(name)
    if found is None:
        fusion_kind(name)
        found = _OPS[name] = Op(name)
    return found


class Var(Expr):
    """A parameter, or what a let binds."""

    def __init__(self, name_hint: str, type_annotation: Type | None = None) -> None:
        self.name_hint = name_hint
        type_annotation = written(type_annotation)
        self.type_annotation = type_annotation
        if type_annotation is not None:
            self.__dict__["_type"] = type_annotation

    @property
    def vid(self) -> Var:
        return self


class GlobalVar(Expr):
    """The name of a function of a module."""

    def __init__(self, name_hint: str) -> None:
        self.name_hint = name_hint


class Constant(Expr):
    """A tensor that is known, of a copy of the values unless those are an array's of TVM's kind."""

    values: Array
    """The values themselves, not a copy."""

    def __init__(self, data: Any) -> None:
        held = getattr(data, "numpy_view", None)
        if held is not None:
            self.__dict__["_data"] = data
        self.values = held if held is not None else np.array(data, order="C")

    @property
    def data(self) -> Any:
        """The NDArray that holds the values."""
        if "_data" not in self.__dict__:
            self.__dict__["_data"] = _answers["array"](self.values)
        return self.__dict__["_data"]


class Call(Expr):
    """A call of an operator, a function, a global one or a constructor."""

    def __init__(
        self, op: Expr, args: Sequence[Expr], attrs: Any = None, type_args: Sequence[Type] = (), span: Any = None
    ) -> None:
        self.op = op
        self.args = list(args)
        self.attrs = attrs if isinstance(attrs, Attrs) else Attrs(attrs)
        self.type_args = list(type_args or ())
        if span is not None:
            self.span = span


class Tuple(Expr):
    """Several values as one."""

    def __init__(self, fields: Sequence[Expr], span: Any = None) -> None:
        self.fields = [as_expr(f) for f in fields]

    def __getitem__(self, index: int) -> Expr:
        if not -len(self.fields) <= index < len(self.fields):
            raise IndexError(f"no field {index} in a tuple of {len(self.fields)}")
        return self.fields[index]

    def __len__(self) -> int:
        return len(self.fields)

    def __iter__(self) -> Iterator[Expr]:
        return iter(self.fields)

    def astype(self, dtype: object) -> Call:
        raise TypeError("astype cannot be used on a tuple")


class TupleGetItem(Expr):
    """A field of a tuple."""

    def __init__(self, tuple_value: Expr, index: int, span: Any = None) -> None:
        self.tuple_value = tuple_value
        self.index = index


class TupleWrapper:
    """The result of an operator with several results: unpacks like a tuple, and is used as one by `astuple()`."""

    def __init__(self, tuple_value: Expr, size: int) -> None:
        self.tuple_value = tuple_value
        self.size = size

    def astuple(self) -> Expr:
        return self.tuple_value

    def astext(self) -> str:
        return self.tuple_value.astext()

    def __getitem__(self, index: int) -> TupleGetItem:
        if not -self.size <= index < self.size:
            raise IndexError(f"no result {index} of {self.size}")
        return TupleGetItem(self.tuple_value, index % self.size)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[TupleGetItem]:
        return (self[i] for i in range(self.size))

    def __repr__(self) -> str:
        return f"TupleWrapper({self.tuple_value!r}, {self.size})"


class Let(Expr):
    """A value by a name."""

    def __init__(self, variable: Var, value: Expr, body: Expr, span: Any = None) -> None:
        self.var = variable
        self.value = as_expr(value)
        self.body = as_expr(body)


class If(Expr):
    """One of two values."""

    def __init__(self, cond: Expr, true_branch: Expr, false_branch: Expr, span: Any = None) -> None:
        self.cond = cond
        self.true_branch = as_expr(true_branch)
        self.false_branch = as_expr(false_branch)


class Function(Expr):
    """A function. `attrs` may be Primitive, Composite, Compiler, global_symbol."""

    def __init__(
        self,
        params: Sequence[Var],
        body: Expr,
        ret_type: Type | None = None,
        type_params: Sequence[Type] | None = None,
        attrs: Any = None,
        span: Any = None,
    ) -> None:
        self.type_params = tuple(type_params or ())
        self.params = list(params)
        for p in self.params:
            if not isinstance(p, Var):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise UsageError(f"the parameters of a function are relay.var, not {type(p).__name__}")
        self.body = as_expr(body)
        self.ret_type = written(ret_type)
        self.attrs = attrs if isinstance(attrs, Attrs) else Attrs(attrs)

    type_params: tuple[Any, ...] = ()

    def with_attr(self, attr_key_or_dict: Any, attr_value: Any = None) -> Function:
        """The function with further attributes."""
        if not isinstance(attr_key_or_dict, Mapping):
            attr_key_or_dict = {attr_key_or_dict: attr_value}
        given = {**self.attrs, **cast("Mapping[str, Any]", attr_key_or_dict)}
        return Function(self.params, self.body, self.ret_type, self.type_params, given)

    def without_attr(self, attr_key: str) -> Function:
        """The function without an attribute."""
        kept = {k: v for k, v in self.attrs.items() if k != attr_key}
        return Function(self.params, self.body, self.ret_type, self.type_params, kept)


class RefCreate(Expr):
    """A new cell."""

    def __init__(self, value: Expr, span: Any = None) -> None:
        self.value = value


class RefRead(Expr):
    """The value that a cell holds."""

    def __init__(self, ref: Expr, span: Any = None) -> None:
        self.ref = ref


class RefWrite(Expr):
    """Lets a cell hold another value; gives the empty tuple."""

    def __init__(self, ref: Expr, value: Expr, span: Any = None) -> None:
        self.ref = ref
        self.value = value


RelayExpr = Expr


def as_expr(value: Any) -> Any:
    """An expression, also of what an operator with several results gave, or a Python tuple or number."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, TupleWrapper):
        return value.tuple_value
    if isinstance(value, (tuple, list)):
        return Tuple(cast("Sequence[Expr]", value))
    return const(value)


def var(name_hint: str, type_annotation: Any = None, shape: Any = None, dtype: object = "float32") -> Var:
    """A variable: `relay.var("x", shape=(1, 3))`, `relay.var("x", relay.TensorType((1, 3), "int8"))`, `relay.var("x")`.

    A weight's type may be left out where the operator that reads it says what it has to be.
    """
    if type_annotation is not None and shape is not None:
        raise UsageError("only one of type_annotation and shape is given")
    if shape is not None:
        type_annotation = TensorType(shape, dtype)
    elif isinstance(type_annotation, str):
        type_annotation = TensorType((), type_annotation)
    elif isinstance(type_annotation, (tuple, list)):
        type_annotation = TensorType(type_annotation, dtype)
    return Var(name_hint, type_annotation)


def const(value: Any, dtype: object = None, span: Any = None) -> Constant:
    """A constant: without a dtype 64-bit numbers become 32-bit ones."""
    held: Any = getattr(value, "numpy_view", None)
    if held is None and not isinstance(value, (int, float, np.ndarray, np.generic, list, tuple)):
        raise UsageError(f"a constant is a number or an array, not {type(value).__name__}")
    raw: Any = held if held is not None else np.asarray(cast("Any", value))
    if dtype is not None:
        return Constant(np.asarray(raw, numpy_dtype(dtype_of(cast("str", dtype)))))
    if held is None:
        raw = raw.astype({"int64": np.int32, "float64": np.float32}.get(raw.dtype.name, raw.dtype))
    return Constant(raw)


def make_call(name: str, args: Sequence[Any], attrs: Mapping[str, Any] | None = None) -> Call:
    """A call of an operator by its name."""
    return Call(get_op(name), [as_expr(a) for a in args], attrs)


def _binary(name: str, lhs: Any, rhs: Any) -> Call:
    """An operator on two values, of which one may be a number: it takes the other's dtype."""
    return make_call(name, [_like(lhs, rhs), _like(rhs, lhs)])


def _like(value: Any, other: Any) -> Any:
    if isinstance(value, (Expr, TupleWrapper)) or not isinstance(other, Expr):
        return value
    try:
        found = other.checked_type
    except InputError:
        return value
    return const(value, found.dtype) if isinstance(found, TensorType) else value
