"""Einstein's sums: `"bij,bjk->bik"` over any number of operands, made of transposes and products.

Operands are contracted from left to right. A label that no other operand and no result needs is summed away first; of
two operands, labels that both have and that are needed later are the batches of a batch_matmul (where there are none it
is a matmul), those that both have and that are not needed its inner dimension.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from lamina.dialects.relay.declare import *

if TYPE_CHECKING:
    from collections.abc import Sequence


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def parse_equation(equation: str, shapes: Sequence[tuple[int, ...]]) -> tuple[list[str], str, dict[str, int]]:
    """The labels of each operand and of the result, and the extent of each label.

    Without `->` the result has the labels that occur once, in alphabetical order. The dimensions that `...` stands for
    get capital Greek letters, and are aligned from the right. An extent of 1 fits any. Raises TypeMismatch.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise TypeMismatch(f"equation {equation!r} has {len(terms)} operands, got {len(shapes)}")
    dots = 0
    for term, shape in zip(terms, shapes, strict=True):
        named = term.replace("...", "", 1)
        if [c for c in named if c not in _LETTERS]:
            raise TypeMismatch(f"equation {equation!r}: {term!r} is no list of letters")
        if len(named) > len(shape) or (named == term and len(named) < len(shape)):
            raise TypeMismatch(f"equation {equation!r}: {term!r} for an operand of shape {shape}")
        if named != term:
            dots = max(dots, len(shape) - len(named))
    unnamed = "".join(chr(0x391 + n) for n in range(dots))
    labels: list[str] = []
    for term, shape in zip(terms, shapes, strict=True):
        count = len(shape) - len(term.replace("...", "", 1))
        labels.append(term.replace("...", unnamed[dots - count :]))
    used = "".join(labels)
    if not arrow:
        right = unnamed + "".join(sorted(c for c in set(used) if c in _LETTERS and used.count(c) == 1))
    elif "..." in right:
        right = right.replace("...", unnamed, 1)
    elif unnamed and "..." in left:
        raise TypeMismatch(f"equation {equation!r}: the result has no '...'")
    if len(set(right)) != len(right) or set(right) - set(used):
        raise TypeMismatch(f"equation {equation!r}: the result {right!r} names a label twice, or one of no operand")
    extents: dict[str, int] = {}
    for term, shape in zip(labels, shapes, strict=True):
        for label, extent in zip(term, shape, strict=True):
            known = extents.setdefault(label, extent)
            try:
                (extents[label],) = broadcast_shapes((known,), (extent,))
            except TypeMismatch:
                raise TypeMismatch(f"equation {equation!r}: {label!r} is {known} and {extent}") from None
    return labels, right, extents


class _Term:
    """A value and the label of each of its dimensions."""

    def __init__(self, value: SSAValue, labels: str) -> None:
        self.value = value
        self.labels = labels

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the dimensions."""
        return tensor_info(self.value.type).shape

    def reshaped(self, shape: Sequence[int], labels: str) -> _Term:
        from lamina.dialects.relay.shape.views import ReshapeOp, reshaping

        if tuple(shape) == self.shape:
            return _Term(self.value, labels)
        return _Term(ReshapeOp.make(self.value, newshape=reshaping(self.shape, shape)).results[0], labels)

    def ordered(self, labels: str) -> _Term:
        """The dimensions in another order."""
        from lamina.dialects.relay.shape.views import TransposeOp

        if labels == self.labels:
            return self
        axes = [self.labels.index(c) for c in labels]
        return _Term(TransposeOp.make(self.value, axes=axes).results[0], labels)

    def simplified(self, extents: dict[str, int], needed: set[str]) -> _Term:
        """Each label once, extents of 1 that stand for more left out, and labels that nobody needs summed away."""
        from lamina.dialects.relay.reduce.reductions import SumOp
        from lamina.dialects.relay.shape.indexing import StridedSliceOp

        term = self
        shape = self.shape
        kept = [n for n, c in enumerate(self.labels) if shape[n] == extents[c]]
        term = term.reshaped([shape[n] for n in kept], "".join(self.labels[n] for n in kept))
        for label in dict.fromkeys(term.labels):
            while term.labels.count(label) > 1:
                # The diagonal of the last two dimensions: each (n + 1)-th of their elements.
                term = term._with_last(label)
                *outer, n, _ = term.shape
                flat = term.reshaped([*outer, n * n], term.labels[:-1])
                cut = {"begin": [0], "end": [n * n], "strides": [n + 1], "axes": [-1]}
                term = _Term(StridedSliceOp.make(flat.value, **cut).results[0], term.labels[:-1])
        loose = [n for n, c in enumerate(term.labels) if c not in needed]
        if loose:
            labels = "".join(c for c in term.labels if c in needed)
            term = _Term(SumOp.make(term.value, axis=loose).results[0], labels)
        return term

    def _with_last(self, label: str) -> _Term:
        """Two of the dimensions of a label behind the others."""
        from lamina.dialects.relay.shape.views import TransposeOp

        places = [n for n, c in enumerate(self.labels) if c == label][:2]
        axes = [*(n for n in range(len(self.labels)) if n not in places), *places]
        labels = "".join(self.labels[n] for n in axes)
        if labels == self.labels and axes == sorted(axes):
            return self
        return _Term(TransposeOp.make(self.value, axes=axes).results[0], labels)

    def times(self, other: _Term, needed: set[str]) -> _Term:
        """The product, summed over the labels of both that are not needed."""
        from lamina.dialects.relay.elementwise.arithmetic import MultiplyOp
        from lamina.dialects.relay.nn.products import BatchMatmulOp, MatmulOp

        common = [c for c in self.labels if c in other.labels]
        batch = "".join(c for c in common if c in needed)
        inner = "".join(c for c in common if c not in needed)
        rows = "".join(c for c in self.labels if c not in common)
        columns = "".join(c for c in other.labels if c not in common)
        extents = {
            **dict(zip(self.labels, self.shape, strict=True)),
            **dict(zip(other.labels, other.shape, strict=True)),
        }
        outer = [extents[c] for c in batch + rows + columns]
        # A product reads either factor by rows or by columns: one that lies in either way stays as it is.
        by_columns = self.labels == batch + inner + rows and rows != ""
        by_rows = other.labels == batch + inner + columns and columns != ""
        a = self if by_columns else self.ordered(batch + rows + inner)
        b = other if by_rows else other.ordered(batch + columns + inner)
        if not inner:
            ones = [extents[c] for c in batch + rows] + [1] * len(columns)
            more = [extents[c] for c in batch] + [1] * len(rows) + [extents[c] for c in columns]
            a, b = a.reshaped(ones, ""), b.reshaped(more, "")
            return _Term(MultiplyOp.make(a.value, b.value).results[0], batch + rows + columns)
        count, m, n, k = (prod(extents[c] for c in part) for part in (batch, rows, columns, inner))
        stack = [count] if batch else []
        a = a.reshaped([*stack, k, m] if by_columns else [*stack, m, k], "")
        b = b.reshaped([*stack, k, n] if by_rows else [*stack, n, k], "")
        kind = BatchMatmulOp if batch else MatmulOp
        product = kind.make(a.value, b.value, transpose_a=by_columns, transpose_b=not by_rows)
        return _Term(product.results[0], "").reshaped(outer, batch + rows + columns)


@irdl_op_definition
class EinsumOp(Opaque):
    """The sum over every label that is not in the result of the product of the operands: `equation` labels dimensions,
    as in numpy.einsum, `...` and repeated labels included."""

    name = "relay.einsum"
    # TVM calls it injective, although it reduces.
    FUSION_KIND: ClassVar[OpPattern] = OpPattern.OUT_ELEMWISE_FUSABLE

    data = var_operand_def(TensorType)
    equation = str_prop()

    @staticmethod
    def infer_type(*data: TensorInfo, equation: str) -> TensorInfo:
        if not data:
            raise TypeMismatch("takes at least one operand")
        dtype = check_dtype(same_dtype(*data), NUMBERS)
        _, result, extents = parse_equation(equation, [t.shape for t in data])
        return TensorInfo(tuple(extents[c] for c in result), dtype)

    @staticmethod
    def decompose(*data: SSAValue, equation: str) -> SSAValue:
        from lamina.dialects.relay.elementwise.unary import CopyOp

        labels, result, extents = parse_equation(equation, [tensor_info(v.type).shape for v in data])
        left = [_Term(v, term) for v, term in zip(data, labels, strict=True)]
        total: _Term | None = None
        for n, term in enumerate(left):
            # An operand's dimension of extent 1 that stands for more is no use of the label.
            later = {c for t in left[n + 1 :] for c, e in zip(t.labels, t.shape, strict=True) if e == extents[c]}
            before = set(total.labels) if total else set[str]()
            needed = set(result) | later
            one = term.simplified(extents, needed | before)
            total = one if total is None else total.times(one, needed)
        assert total is not None
        value = total.ordered(result).value
        return CopyOp.make(value).results[0] if value in data else value

    @staticmethod
    def np_ref(*data: Array, equation: str) -> Array:
        dtype = data[0].dtype
        narrow = str(dtype) in ("float16", "bfloat16")
        operands = [d.astype(np.float32) for d in data] if narrow else data
        return np.asarray(np.einsum(equation, *operands), dtype)

    @staticmethod
    def samples() -> list[Sample]:
        def one(equation: str, *shapes: tuple[int, ...], dtype: str = "float32", **kw: Any) -> Sample:
            return sample(*((s, dtype) for s in shapes), attrs={"equation": equation}, **kw)

        return [
            one("ij,jk->ik", (3, 5), (5, 4)),
            one("bij,bjk->bik", (2, 3, 5), (2, 5, 4)),
            one("bhid, bhjd -> bhij", (2, 3, 5, 4), (2, 3, 7, 4)),
            one("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
            one("ij->ji", (3, 5)),
            one("ij->i", (3, 5)),
            one("ij->", (3, 5)),
            one("ij->ij", (3, 5)),
            one("ii->i", (5, 5)),
            one("ii", (5, 5)),
            one("iji->j", (4, 3, 4)),
            one("ijii->ji", (2, 3, 2, 2)),
            one("i,j->ij", (3,), (5,)),
            one("i,i->i", (7,), (7,)),
            one("i,i", (7,), (7,)),
            one("ba,cb", (3, 5), (4, 3)),
            one("i,ij,j->", (3,), (3, 5), (5,)),
            one("...ij,...jk->...ik", (2, 3, 5), (1, 5, 4)),
            one("...ij,jk", (2, 2, 3, 5), (5, 4)),
            one("i...,...->i...", (3, 2), (2,)),
            one("ij,jk->ik", (3, 1), (5, 4)),
            one("a,b,ab->a", (1,), (3,), (4, 3)),
            one(",i->i", (), (3,)),
            one("i,i->", (1,), (1,)),
            one("ij,jk->ki", (3, 5), (5, 4), dtype="float64"),
            one("ij,jk->ki", (3, 5), (5, 4), dtype="int32"),
            one("ij,jk->ik", (3, 5), (5, 4), dtype="float16"),
            one("ij,jk->ik", (3, 5), (6, 4), error="'j' is 5 and 6"),
            one("ij,jk->ik", (3, 5), error="has 2 operands, got 1"),
            one("ij->ik", (3, 5), error="names a label twice, or one of no operand"),
            one("i->i", (3, 5), error="'i' for an operand of shape (3, 5)"),
            one("i1->i", (3, 5), error="'i1' is no list of letters"),
            one("...i->i", (3, 5), error="the result has no '...'"),
            one("ij->i", (3, 5), dtype="bool", error="got bool"),
        ]
