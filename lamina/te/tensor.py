"""Tensors of a program, the operations that they are results of, and the axes that these iterate over."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from lamina.dialects.index.linear import MAX_EXTENT
from lamina.ir.location import Place, caller
from lamina.te.expr import Expr, ExprLike, ExprOp, IntImm, Var, as_expr, dtype_of, fail
from lamina.te.mistakes import checked_name
from lamina.te.reduction import Reduce, reductions_in

DATA_PAR, THREAD, REDUCE, ORDERED, OPAQUE = (
    "DataPar", "ThreadIndex", "CommReduce", "Ordered", "Opaque",
)  # fmt: skip
"""Kinds of axes, by TVM's names."""


class Range:
    """The integers from `min`, `extent` of them."""

    def __init__(self, begin: ExprLike, end: ExprLike | None = None) -> None:
        """`Range(n)` or `Range(begin, end)`."""
        if end is None:
            begin, end = 0, begin
        self.min = size_of(begin)
        self.extent = size_of(end if _is_zero(self.min) else as_expr(end) - self.min)
        if isinstance(self.extent, IntImm) and int(self.extent) < 0:
            raise fail(f"a range from {begin} to {end} ends before it begins")

    @staticmethod
    def from_min_extent(min_value: ExprLike, extent: ExprLike) -> Range:
        found = Range(extent)
        found.min = size_of(min_value)
        return found

    def __repr__(self) -> str:
        return f"range(min={self.min}, ext={self.extent})"


def _is_zero(value: Any) -> bool:
    return isinstance(value, int) and value == 0


def size_of(value: ExprLike) -> Any:
    """An extent: an IntImm, or an integer expression; a quotient of numbers may be one: 1024 / 32.

    Raises LaminaError for anything else.
    """
    found = as_expr(int(value) if isinstance(value, float) and value.is_integer() else value)
    if found.dtype not in ("int32", "int64"):
        raise fail(f"an extent is an integer, not {found.dtype}")
    return found


def shape_of(shape: Any) -> tuple[Any, ...]:
    """A shape in any of its spellings. Raises LaminaError for a negative extent."""
    items: list[Any] = list(cast("Sequence[Any]", shape)) if isinstance(shape, (list, tuple)) else [shape]
    found = tuple(size_of(e) for e in items)
    for extent in found:
        if isinstance(extent, IntImm) and int(extent) < 0:
            raise fail(f"the extent {int(extent)} of shape {list(found)} is negative")
        if isinstance(extent, IntImm) and int(extent) > MAX_EXTENT:
            raise fail(f"the extent {int(extent)} of shape {list(found)} is more than {MAX_EXTENT}")
    return found


class IterVar(ExprOp):
    """An axis: the variable that runs over it, its range where that is known, and what it is for."""

    def __init__(self, dom: Any, name: str, iter_type: str = DATA_PAR, thread_tag: str = "", var: Any = None) -> None:
        if dom is not None and not isinstance(dom, Range):
            ends = tuple(cast("Sequence[Any]", dom)) if isinstance(dom, (list, tuple)) else (dom,)
            if len(ends) not in (1, 2):
                raise fail(f"a range is (begin, end), not {dom!r}")
            dom = Range(*ends)
        self.dom: Range | None = dom
        self.var: Var = var if var is not None else Var(name)
        self.iter_type = iter_type
        self.thread_tag = thread_tag

    @property
    def name(self) -> str:
        return self.var.name

    def as_expr(self) -> Expr:
        return self.var

    def __repr__(self) -> str:
        return f"iter_var({self.name}, {self.dom}, {self.iter_type})"


class Operation:
    """An operation that makes tensors. `axis` are its dimensions, `reduce_axis` what it reduces over."""

    def __init__(self, name: str, tag: str = "", attrs: Mapping[str, Any] | None = None) -> None:
        self.name = checked_name(name)
        self.tag = tag
        if attrs is not None and not isinstance(attrs, Mapping):  # type: ignore[redundant-expr]
            raise fail(f"attrs of {name!r} is a dict, not {attrs!r}")
        self.attrs: dict[str, Any] = dict(attrs or {})
        self.axis: list[IterVar] = []
        self.reduce_axis: list[IterVar] = []
        self.place: Place | None = caller()
        self._outputs: list[Tensor] = []

    def make_outputs(self, shape: Sequence[Any], dtypes: Sequence[str]) -> list[Tensor]:
        """The results, all of one shape."""
        self.set_outputs([Tensor(self, n, tuple(shape), d) for n, d in enumerate(dtypes)])
        return self._outputs

    def set_outputs(self, outputs: Sequence[Tensor]) -> None:
        """Say what the results are."""
        self._outputs = list(outputs)

    @property
    def num_outputs(self) -> int:
        return len(self._outputs)

    def output(self, index: int) -> Tensor:
        return self._outputs[index]

    @property
    def outputs(self) -> list[Tensor]:
        return list(self._outputs)

    @property
    def input_tensors(self) -> list[Tensor]:
        """The tensors that it reads, each once, in order of appearance."""
        return []

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class PlaceholderOp(Operation):
    """A tensor that the caller brings."""


class ComputeOp(Operation):
    """Each element by an expression of the axes; `body` has one for each result."""

    def __init__(
        self, name: str, tag: str, attrs: Mapping[str, Any] | None, axis: Sequence[IterVar], body: Sequence[Expr]
    ) -> None:
        super().__init__(name, tag, attrs)
        self.axis = list(axis)
        self.body = list(body)
        first = self.body[0]
        self.reduce_axis = list(first.axis) if isinstance(first, Reduce) else []

    @property
    def input_tensors(self) -> list[Tensor]:
        return tensors_in(self.body)


class Tensor:
    """The result of an operation: indexed, it is an element; called or in arithmetic, as in TVM."""

    def __init__(self, op: Operation, value_index: int, shape: tuple[Any, ...], dtype: str) -> None:
        self.op = op
        self.value_index = value_index
        self.shape = shape
        self.dtype = dtype

    @property
    def name(self) -> str:
        return self.op.name if self.op.num_outputs < 2 else f"{self.op.name}.v{self.value_index}"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def axis(self) -> list[IterVar]:
        return self.op.axis

    def __call__(self, *indices: ExprLike) -> Expr:
        """One element."""
        if len(indices) == 1 and isinstance(indices[0], (list, tuple)):
            indices = tuple(cast("tuple[Any, ...]", indices[0]))
        if len(indices) != self.ndim:
            raise fail(f"tensor {self.name!r} has rank {self.ndim}, it is read at {len(indices)} indices")
        places = [as_expr(i) for i in indices]
        for place in places:
            if not place.dtype.startswith(("int", "uint")):
                raise fail(f"tensor {self.name!r} is read at an index of type {place.dtype}")
        return ProducerLoad(self, places)

    def __getitem__(self, indices: Any) -> TensorSlice:
        return TensorSlice(self, cast("tuple[Any, ...]", indices) if isinstance(indices, tuple) else (indices,))

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Any:
        raise TypeError(f"tensor {self.name!r} is not iterable")

    def __repr__(self) -> str:
        return f"Tensor(shape={list(self.shape)}, op.name={self.op.name}, dtype={self.dtype})"

    # -- whole tensors in arithmetic -------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return _whole("add", self, other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return _whole("add", other, self, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return _whole("subtract", self, other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return _whole("subtract", other, self, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Any:
        return _whole("multiply", self, other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return _whole("multiply", other, self, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Any:
        return _whole("divide", self, other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return _whole("divide", other, self, lambda a, b: a / b)

    def __neg__(self) -> Any:
        return compute(self.shape, lambda *i: -self(*i), f"T_negative_{self.op.name}", "elemwise")

    def astype(self, dtype: str) -> Tensor:
        """Every element converted."""
        return compute(self.shape, lambda *i: self(*i).astype(dtype), f"T_cast_{self.op.name}", "elemwise")


def _whole(name: str, a: Any, b: Any, operation: Callable[[Any, Any], Any]) -> Tensor:
    """Elementwise arithmetic that broadcasts, of two tensors or of a tensor and a scalar."""

    def element(x: Any, i: Sequence[Any]) -> Any:
        if not isinstance(x, Tensor):
            return x
        aligned = i[len(i) - x.ndim :]
        return x(*(0 if isinstance(e, IntImm) and int(e) == 1 else v for v, e in zip(aligned, x.shape, strict=True)))

    shape = broadcast_shape([t.shape for t in (a, b) if isinstance(t, Tensor)])
    return compute(shape, lambda *i: operation(element(a, i), element(b, i)), f"T_{name}", "broadcast")


def broadcast_shape(shapes: Sequence[Sequence[Any]]) -> list[Any]:
    """The common shape by numpy's rules. Raises LaminaError where there is none."""
    rank = max(map(len, shapes))
    found: list[Any] = []
    for d in range(rank):
        extent: Any = None
        for shape in shapes:
            if d < rank - len(shape):
                continue
            e = shape[d - rank + len(shape)]
            if extent is None or (isinstance(extent, IntImm) and int(extent) == 1):
                extent = e
            elif not (isinstance(e, IntImm) and int(e) == 1) and not (e is extent or same_size(e, extent)):
                raise fail(f"shapes {list(shapes[0])} and {list(shapes[-1])} do not broadcast")
        found.append(extent)
    return found


def same_size(a: Any, b: Any) -> bool:
    """Whether two extents are written alike."""
    return a is b or (repr(a) == repr(b) and _variables(a) == _variables(b))


def _variables(x: Expr) -> set[int]:
    return {id(e) for e in walk([x]) if isinstance(e, Var)}


class ProducerLoad(Expr):
    """One element of a tensor."""

    def __init__(self, producer: Tensor, indices: Sequence[Expr]) -> None:
        self.producer = producer
        self.indices = tuple(indices)
        self.dtype = producer.dtype

    def children(self) -> Sequence[Expr]:
        return self.indices

    def text(self) -> str:
        return f"{self.producer.name}[{', '.join(i.text() for i in self.indices)}]"


class TensorSlice(ExprOp):
    """`A[i]`: with as many indices as dimensions an element, else to be indexed further."""

    def __init__(self, tensor: Tensor, indices: tuple[Any, ...]) -> None:
        self.tensor = tensor
        self.indices = indices

    def __getitem__(self, indices: Any) -> TensorSlice:
        more = cast("tuple[Any, ...]", indices) if isinstance(indices, tuple) else (indices,)
        return TensorSlice(self.tensor, self.indices + more)

    def as_expr(self) -> Expr:
        return self.tensor(*self.indices)

    asobject = as_expr

    @property
    def dtype(self) -> str:
        return self.tensor.dtype

    def __repr__(self) -> str:
        return repr(self.as_expr())


# -- walking -------------------------------------------------------------------------------------------------


def walk(roots: Sequence[Expr]) -> Iterator[Expr]:
    """Every node below the roots, each once, in preorder."""
    seen: set[int] = set()
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            stack.extend(reversed(node.children()))


def operands_first(root: Expr) -> Iterator[Expr]:
    """Every node below a root, each once, after what it is made of."""
    seen: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((c, False) for c in reversed(node.children()))


def tensors_in(roots: Sequence[Expr]) -> list[Tensor]:
    """The tensors that expressions read, each once."""
    return list(dict.fromkeys(e.producer for e in walk(roots) if isinstance(e, ProducerLoad)))


# -- making them ---------------------------------------------------------------------------------------------


def var(name: str = "tindex", dtype: str = "int32") -> Var:
    """A size or a scalar that is known when the program runs."""
    return Var(name, dtype)


def placeholder(shape: Any, dtype: Any = None, name: str = "placeholder") -> Tensor:
    """A tensor that the caller brings, float32 unless told otherwise."""
    op = PlaceholderOp(name)
    return op.make_outputs(shape_of(shape), [dtype_of(dtype or "float32")])[0]


def reduce_axis(dom: Any, name: str = "rv", thread_tag: str = "", span: Any = None) -> IterVar:
    """An axis to reduce over: `(begin, end)`, or a Range."""
    return IterVar(dom, name, REDUCE, thread_tag)


def thread_axis(dom: Any = None, tag: str = "", name: str = "", span: Any = None) -> IterVar:
    """A thread index to bind loops to: `thread_axis("threadIdx.x")`, or with a range in front."""
    if isinstance(dom, str):
        dom, tag = None, dom
    if not tag:
        raise fail("a thread axis needs a tag", hint='write te.thread_axis("threadIdx.x")')
    return IterVar(dom, name or tag, THREAD, tag)


def compute(
    shape: Any,
    fcompute: Callable[..., Any],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Any:
    """The tensor whose element at (i, j, ...) is `fcompute(i, j, ...)`; a list of tensors where that is a tuple."""
    extents = shape_of(shape)
    if not callable(fcompute):
        raise fail(f"compute takes a function of the indices, not {fcompute!r}")
    names = _axis_names(fcompute, len(extents), varargs_names)
    axis = [IterVar(Range(e), n) for n, e in zip(names, extents, strict=True)]
    value: Any = fcompute(*(a.var for a in axis))
    several = isinstance(value, (list, tuple))
    body = [as_expr(v) for v in (cast("Sequence[Any]", value) if several else (value,))]
    if not body:
        raise fail("the function of a compute gives at least one expression")
    for result in body:
        inner = result.children() if isinstance(result, Reduce) else (result,)
        if reductions_in(inner):
            raise fail(
                "a reduction is the outermost operation of a compute",
                hint="give it a tensor of its own and compute with that",
            )
    first = body[0]
    if isinstance(first, Reduce):
        if any(not isinstance(b, Reduce) or b.combiner is not first.combiner for b in body):
            raise fail("the results of a compute with several results share one reduction")
    elif any(isinstance(b, Reduce) for b in body):
        raise fail("the results of a compute with several results share one reduction")
    op = ComputeOp(name, tag, attrs, axis, body)
    outputs = op.make_outputs(extents, [b.dtype for b in body])
    return outputs if several else outputs[0]


def _axis_names(fcompute: Callable[..., Any], rank: int, varargs: Sequence[str] | None) -> list[str]:
    parameters = list(inspect.signature(fcompute).parameters.values())
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        rest = rank - len(plain)
        if varargs is not None and len(varargs) != rest:
            raise fail(f"{len(varargs)} names are given for {rest} axes")
        return [*plain, *(varargs or [f"i{n}" for n in range(len(plain), rank)])]
    if len(plain) != rank:
        required = [p for p in parameters if p.default is p.empty]
        if len(required) > rank or len(plain) < rank:
            raise fail(f"the function takes {len(plain)} indices, the shape has {rank} dimensions")
    return plain[:rank]


def reading_order(outputs: Sequence[Operation]) -> list[Operation]:
    """The operations that lead to some, inputs first, each once."""
    found: dict[Operation, None] = {}
    stack: list[tuple[Operation, bool]] = [(o, False) for o in reversed(outputs)]
    while stack:
        op, ready = stack.pop()
        if op in found:
            continue
        if ready:
            found[op] = None
        else:
            stack.append((op, True))
            stack.extend((t.op, False) for t in reversed(op.input_tensors))
    return list(found)
