"""A module of Relay evaluated by the ops' oracles in double precision, and how well conditioned its results are.

Single precision is computed in double precision here, within the range of single precision: what is too large is an
infinity, what is too small is zero. `run(noise)` rounds as a program may: what single precision does not hold exactly
is off by some units in the last place, in a random direction. Where runs with noise disagree, a result says nothing
about whoever computed it: a difference of near values, a comparison of what should be equal, a rounding at a tie. A
value that is exact, such as a small multiple of 1/8, stays so, and everything that follows from it can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.dialects.dtypes import dtype_name
from lamina.dialects.infos import tensor_info
from lamina.dialects.relay.base import OpPattern, RelayOp, attrs_of
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.nn.recurrent_steps import Recurrent
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.relay.reduce.reductions import Reduction
from lamina.dialects.rules.terms import all_results
from lamina.interpreters.relay_reference import main_function, run_op, run_relay

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue

    from lamina.dialects.relay.params import ParamStore

LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
NOISE = {"float32": 2.0**-21, "float64": 2.0**-50}
"""Of a rounding, relative to the value: four units in the last place."""
PRODUCT_NOISE = {"float32": 2.0**-20, "float64": 2.0**-49}
"""Of what is computed of several elements, relative to the largest of the tensor: kernels add in another order."""
SUMS = ("relay.sum", "relay.prod", "relay.cumsum", "relay.cumprod")
"""Ops of several elements that only add or multiply them: exact where no order of them rounds. Others divide, or
transform."""
SCANS = ("relay.cumsum", "relay.cumprod")
"""Those of them whose partial results are results: they have one order."""
CENTRED = ("relay.nn.layer_norm", "relay.nn.instance_norm", "relay.nn.group_norm")
"""Ops that subtract a mean. It is off as its terms are, and what it leaves of near values may be as small as that."""
EINSUM = "relay.einsum"
"""Its operands are multiplied in any order: a zero and an infinity meet in some, and in others a sum stands between."""
SIGNIFICANT = {"float32": 24, "float64": 53}
"""Bits of a number."""
TERMS = 512
"""Terms of a sum that add no more than PRODUCT_NOISE, also where another program adds them one by one: the error of n
terms is at most n units in the last place (Higham, Accuracy and Stability of Numerical Algorithms, 4.2)."""
OFF_BY_PARTS_OF_ONE = ("relay.sigmoid",)
"""Functions that other programs compute as near to 1 as that can be, and no nearer where they are small: a quotient of
polynomials plus a half (onnxruntime's sigmoid is off by up to 2^-22.5)."""
SAMPLED = ("relay.image.grid_sample",)
"""Injective ops that weigh neighbours by what an operand says."""
TO_INTEGERS = ("relay.cast", "relay.qnn.quantize")
DEQUANTIZE = "relay.qnn.dequantize"
"""Its product is rounded to single precision, or is not where it is added to another at once."""
FOLDED_BITS = 16
"""A number of more bits may have been computed of a model's constants, which other programs do in another order."""
FOLDED_NOISE = 2.0**-23
"""The most that it is off then, relative to itself: a unit in the last place."""
ROUNDED_FLOATS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
"""The same of narrow types, which are computed as they are."""


class PreciseModule:
    """A module, its weights and its inputs.

    Its results are what Lamina may compute; with `others` what other programs may: NaN becomes other integers, of which
    ONNX says nothing; what the importer computes in double precision for single is off as single is, and so are
    numbers that it may have computed of a model's constants; long sums are added one by one.
    """

    def __init__(self, module: ModuleOp, store: ParamStore, arrays: Sequence[Any], others: bool = False) -> None:
        self.main = main_function(module)
        self.store = store
        self.arrays = arrays
        self.others = others

    def run(self, noise: int | None = None) -> list[Any]:
        """The results; `noise` is the seed of the roundings: from 6 on they come in pairs of opposite signs."""
        return run_relay(self.main, self.arrays, self.store, compute=computer(noise, self.others))


def rounded(noise: int | None, others: bool = False) -> Callable[[RelayOp, Sequence[Any]], list[Any]]:
    """Return a function that runs one op as in a PreciseModule; operands and results have their own types."""
    inner = computer(noise, others)

    def compute(op: RelayOp, arrays: Sequence[Any]) -> list[Any]:
        found = inner(op, arrays)
        return [a.astype(np.float32) if _dtype(v) == "float32" else a for v, a in zip(op.results, found, strict=True)]

    return compute


def computer(noise: int | None, others: bool = False) -> Callable[[RelayOp, Sequence[Any]], list[Any]]:
    """Return a function that runs one op with the roundings of a seed, or exactly."""
    if noise is None and others:
        return lambda op, arrays: _otherwise(op, arrays, _compute(op, arrays, None))
    rounding = _Roundings(noise, others) if noise is not None else None
    return lambda op, arrays: _compute(op, arrays, rounding)


def _otherwise(op: RelayOp, arrays: Sequence[Any], found: list[Any]) -> list[Any]:
    """The results of an op, with other integers where floats are none."""
    if op.name not in TO_INTEGERS or found[0].dtype.kind not in "iu" or arrays[0].dtype.kind != "f":
        return found
    missing = ~np.isfinite(arrays[0]) if op.name == "relay.cast" else np.isnan(arrays[0])
    return [np.where(missing, found[0] ^ 1, found[0])]


class _Roundings:
    """Errors of roundings, -1 to 1, near the ends: what is close enough to a tie falls to both sides of it.

    Seed 0 rounds to the nearest number, as every op by itself would: values that are one then are many at the ends of
    functions. Seed 1 does so with two bits less, as functions that are at their ends a little early. Those of the next
    two are all up or all down, as where every element is computed in the same way. Seeds 4 and 5 round to the nearest,
    but for a product that is the first or the second term of a sum: there both are one instruction, which rounds once.
    Where scales are such that many sums are ties, that decides them all in its own way, which no random errors show.
    """

    def __init__(self, seed: int, others: bool) -> None:
        self.others = others
        self.fewer_bits = {0: 0, 1: 2, 4: 0, 5: 0}.get(seed)
        """Bits that a number has less than its type, where it is rounded to the nearest; None where it is not."""
        self.contracted = {4: 0, 5: 1}.get(seed)
        """The term of a sum that is not rounded where it is a product."""
        self.first_pair = {1: (0, 1), 4: (0, 2), 5: (1, 2)}.get(seed)
        """The operands of a product of several that are multiplied before the others; None where all are at once."""
        self._products: dict[SSAValue, Any] = {}
        self._rng = np.random.default_rng(seed // 2)
        self.sign = 1 if seed % 2 else -1
        self._alike = seed < 4

    def contract(self, op: RelayOp, given: list[Any]) -> None:
        """Let a sum's operand be the product that it was before it was rounded."""
        n = self.contracted
        if n is not None and op.name in ("relay.add", "relay.subtract"):
            given[n] = self._products.get(op.operands[n], given[n])

    def keep(self, op: RelayOp, arrays: Sequence[Any], found: Any) -> None:
        """Remember a product as it is in double precision."""
        if self.contracted is not None and op.name in ("relay.multiply", DEQUANTIZE):
            self._products[op.results[0]] = _dequantized(op, arrays) if op.name == DEQUANTIZE else found

    def like(self, array: Any) -> Any:
        """An error for each element."""
        shape: tuple[int, ...] = array.shape
        size = self._rng.uniform(0.5, 1, shape)
        return self.sign * size * (1.0 if self._alike else self._rng.choice((-1.0, 1.0), shape))


def _compute(op: RelayOp, arrays: Sequence[Any], rounding: _Roundings | None) -> list[Any]:
    if _in_its_own_types(op):
        narrow = _with_single(op, arrays, np.float32)
        if rounding is not None and op.name == "relay.reinterpret":
            narrow = [_signed(narrow[0], rounding.sign)]
        found = [np.asarray(r) for r in run_op(op, narrow)]
        given = narrow
    else:
        oracle: Any = getattr(op, "np_ref", None)
        if oracle is None:
            return list(run_op(op, arrays))  # which says that there is none
        given = _with_single(op, arrays, np.float64)
        if rounding is not None:
            rounding.contract(op, given)
            if rounding.others and rounding.fewer_bits is None:
                given = [_as_folded(v, a, rounding) for v, a in zip(op.operands, given, strict=True)]
        if op.name in CENTRED and rounding is not None and rounding.fewer_bits is None:
            given[0] = _with_noise(given[0], _rounding_of(given[0], _dtype(op.operands[0])), rounding)
        if op.name in SUMS and rounding is not None and rounding.fewer_bits is not None:
            found = [_one_by_one(op, oracle, arrays[0], rounding.fewer_bits > 0 and op.name not in SCANS)]
        elif isinstance(op, Recurrent) and rounding is not None and rounding.fewer_bits is not None:
            # A state between steps may be too large for its own precision: what follows is no number then.
            with np.errstate(all="ignore"):
                found = [np.asarray(r) for r in oracle(*_with_single(op, arrays, np.float32), **attrs_of(op))]
        elif op.name == EINSUM and len(given) > 2 and rounding is not None and rounding.first_pair is not None:
            path = ["einsum_path", rounding.first_pair, *[(0, 1)] * (len(given) - 2)]
            found = [np.asarray(np.einsum(attrs_of(op)["equation"], *given, optimize=path))]
        else:
            found = [np.asarray(r) for r in all_results(oracle(*given, **_in_double(op)))]
    if rounding is not None:
        rounding.keep(op, arrays, found[0])
    made: list[Any] = []
    for value, array in zip(op.results, found, strict=True):
        dtype = _dtype(value)
        if dtype == "float32":
            array = _in_range(array.astype(np.float64))
        elif str(array.dtype) != dtype and dtype:
            array = array.astype(np.dtype(dtype))
        if rounding is not None and "float" in dtype:
            array = _noisy(op, array, _narrowed(value) or dtype if rounding.others else dtype, given, rounding)
        made.append(array)
    return made


def _signed(array: Any, sign: int) -> Any:
    """The array with NaN of a sign: which one it has, no program says."""
    if array.dtype.kind in "iub":
        return array
    signed: Any = np.copysign(array, array.dtype.type(sign))
    found = np.array(array)
    nan = np.isnan(found)
    found[nan] = signed[nan]
    return found


def _one_by_one(op: RelayOp, oracle: Any, array: Any, backwards: bool) -> Any:
    """Sums or products of the elements in their own precision, from the first of them or from the last.

    What comes on the way may be too large or too small for it in one order of the elements, and in another not.
    """
    (given,) = _with_single(op, [array], np.float32)
    with np.errstate(all="ignore"):
        found = np.asarray(oracle(np.flip(given) if backwards else given, **attrs_of(op)))
    return np.flip(found) if backwards else found


def _as_folded(value: SSAValue, array: Any, rounding: _Roundings) -> Any:
    """An operand; off in its last place where it is a number of so many bits that it may have been computed."""
    if array.size != 1 or _dtype(value) != "float32" or not isinstance(value.owner, ConstantOp):
        return array
    digits = float(np.frexp(array.reshape(()))[0]) * 2.0**FOLDED_BITS
    return array if digits.is_integer() else _with_noise(array, FOLDED_NOISE * np.abs(array), rounding)


def _in_double(op: RelayOp) -> dict[str, Any]:
    """The attributes of an op, with double precision for single."""
    return {k: "float64" if v == "float32" else v for k, v in attrs_of(op).items()}


def _with_single(op: RelayOp, arrays: Sequence[Any], dtype: Any) -> list[Any]:
    """The operands, with those of single precision in a type."""
    return [a.astype(dtype) if _dtype(v) == "float32" else a for v, a in zip(op.operands, arrays, strict=True)]


def _in_its_own_types(op: RelayOp) -> bool:
    """Whether an op means the very bits of its operands: quantisation rounds where single precision does."""
    return op.name.startswith("relay.qnn.") or op.name == "relay.reinterpret"


def _dtype(value: Any) -> str:
    info = getattr(value.type, "element_type", None)
    return dtype_name(info) if info is not None else ""


def _narrowed(value: SSAValue) -> str:
    """Single precision for a value in double of which all uses are casts to that; else empty."""
    users = [use.operation for use in value.uses if _dtype(value) == "float64"]
    casts = [user for user in users if user.name == "relay.cast" and _dtype(user.results[0]) == "float32"]
    return "float32" if users and users == casts else ""


def _in_range(values: Any) -> Any:
    """Values in the range of single precision."""
    found = np.array(values, np.float64)
    size = np.abs(found)
    large, small = size > LARGEST, size < SMALLEST / 2
    found[large] = np.copysign(np.inf, found[large])
    found[small] = np.copysign(0.0, found[small])
    return found


def _noisy(op: RelayOp, array: Any, dtype: str, operands: Sequence[Any], rounding: _Roundings) -> Any:
    """The array as roundings may leave it."""
    if not array.size:
        return array
    if rounding.fewer_bits is not None:
        nearest = _nearest(array, rounding.fewer_bits) if dtype == "float32" else array
        return _cancelled(nearest, dtype, operands) if op.name in ("relay.add", "relay.subtract") else nearest
    wide = np.where(np.isfinite(array), array.astype(np.float64), 0.0)
    off: Any
    thirds = _weighs_in_thirds(op, operands)
    if dtype not in NOISE:
        off = _rounding_of(wide, dtype)
    elif op.FUSION_KIND <= OpPattern.INJECTIVE and not thirds and op.name not in SAMPLED:
        exact = _dequantized(op, operands) if op.name == DEQUANTIZE else wide
        # Double precision is not known better than it is computed: what single precision holds is taken to be exact.
        size = np.ones_like(wide) if rounding.others and op.name in OFF_BY_PARTS_OF_ONE else wide
        off = _rounding_of(size, dtype) * (exact != exact.astype(np.float32))
    elif op.name in SUMS:
        off = _sum_noise(op, operands, dtype)
    elif not thirds and _only_moves(op, wide, operands):
        return array
    else:
        off = PRODUCT_NOISE[dtype] * max(np.max(np.abs(wide)), _shift(op, operands))
    if rounding.others and isinstance(op, Reduction):
        off = off * max(1.0, operands[0].size / array.size / TERMS)
    return _with_noise(array, off, rounding)


def _shift(op: RelayOp, operands: Sequence[Any]) -> float:
    """The largest number that a normalisation adds at its end: what it leaves of that is as far off."""
    beta = getattr(op, "beta", None)
    added = next((a for value, a in zip(op.operands, operands, strict=True) if value is beta), np.zeros(0))
    return float(np.max(np.abs(added[np.isfinite(added)]), initial=0.0))


def _rounding_of(array: Any, dtype: str) -> Any:
    """The most that each element is off where it was rounded."""
    return (NOISE | ROUNDED_FLOATS).get(dtype, 0.0) * np.abs(array.astype(np.float64))


def _with_noise(array: Any, off: Any, rounding: _Roundings) -> Any:
    """The array with its finite elements off by at most `off`."""
    finite = np.isfinite(array)
    wide = np.where(finite, array.astype(np.float64), 0.0)
    noisy = wide + off * rounding.like(wide)
    made: Any = array.copy()
    made[finite] = noisy[finite].astype(array.dtype)
    return made


def _nearest(array: Any, fewer_bits: int) -> Any:
    """The nearest numbers of single precision, or of so many bits less for values that it does not hold exactly."""
    nearest = array.astype(np.float32).astype(array.dtype)
    if not fewer_bits:
        return nearest
    digits, exponent = np.frexp(np.where(np.isfinite(array), array, 0.0))
    bits = SIGNIFICANT["float32"] - fewer_bits
    coarse = np.ldexp(np.rint(np.ldexp(digits, bits)), exponent - bits)
    return np.where((array == nearest) | ~np.isfinite(array), nearest, coarse)


def _cancelled(array: Any, dtype: str, operands: Sequence[Any]) -> Any:
    """A sum or difference: 0 where it is no more than what its operands are off."""
    most = np.maximum(*(np.abs(o) for o in operands))
    small = (np.abs(array) <= NOISE.get(dtype, 0.0) * most) & np.isfinite(array)
    return np.where(small, np.zeros((), array.dtype), array)


def _sum_noise(op: RelayOp, operands: Sequence[Any], dtype: str) -> Any:
    """The most that sums and products of elements are off: relative to those of their magnitudes, which may be far
    larger where they cancel; 0 where magnitudes add up to few enough of the smallest unit that all are multiples of."""
    oracle: Any = getattr(op, "np_ref", None)
    sizes = [np.abs(np.where(np.isfinite(o), o, 0.0)) if o.dtype.kind == "f" else o for o in operands]
    size = np.asarray(oracle(*sizes, **_in_double(op)), np.float64)
    digits, exponent = np.frexp(sizes[0][sizes[0] != 0].astype(np.float64))
    whole = (digits * 2.0**53).astype(np.int64)
    unit = np.min(np.ldexp((whole & -whole).astype(np.float64), exponent - 53), initial=np.inf)
    with np.errstate(over="ignore"):
        exact = op.name.endswith("sum") and np.max(size, initial=0.0) <= unit * 2.0 ** SIGNIFICANT[dtype]
    held = size == size.astype(np.float32) if op.name.endswith("prod") else exact
    return np.where(held | ~np.isfinite(size), 0.0, PRODUCT_NOISE[dtype] * size)


def _dequantized(op: RelayOp, operands: Sequence[Any]) -> Any:
    """The result of a dequantize in float64, before it is rounded."""
    data, scale, zero = operands
    axis = attrs_of(op)["axis"]
    return qs.ref_centred(data, zero, axis) * qs.ref_along(scale.astype(np.float64), axis, data.ndim)


def _weighs_in_thirds(op: RelayOp, operands: Sequence[Any]) -> bool:
    """Whether an image is resized by weights that no float holds: between equal values may lie another one."""
    if not op.name.startswith("relay.image.resize") or attrs_of(op)["method"] == "nearest_neighbor":
        return False
    steps = [Fraction(a, b) for a, b in zip(operands[0].shape, tensor_info(op.results[0].type).shape, strict=True) if b]
    whole = all(s.denominator & (s.denominator - 1) == 0 for s in steps)
    # Taps beside the image that are left out leave weights to be divided by their sum.
    excludes = attrs_of(op)["method"] == "cubic" and bool(attrs_of(op)["cubic_exclude"])
    return not whole or excludes or attrs_of(op)["coordinate_transformation_mode"] == "align_corners"


def _only_moves(op: RelayOp, array: Any, operands: Sequence[Any]) -> bool:
    """Whether every value stands in one of the operands, as where an op moves or selects elements.

    So does the mean of equal values, of which other programs may have the neighbour: it must be true of the same op on
    distinct values as well.
    """
    if not _stand_in(array, operands):
        return False
    oracle: Any = getattr(op, "np_ref", None)
    for k, source in enumerate(operands):
        if source.dtype.kind not in "fV" or not np.isin(array, source.astype(np.float64)).any():
            continue
        other = [_distinct(o) if n == k else o for n, o in enumerate(operands)]
        with np.errstate(all="ignore"):
            found = [np.asarray(f) for f in all_results(oracle(*other, **_in_double(op)))]
        if not all(_stand_in(f, other) for f in found if f.dtype.kind in "fV"):
            return False
    return True


def _stand_in(array: Any, operands: Sequence[Any]) -> bool:
    known = [o.ravel().astype(np.float64) for o in operands if o.dtype.kind in "fV"]
    return bool(known) and bool(np.isin(array.astype(np.float64), np.concatenate(known)).all())


def _distinct(array: Any) -> Any:
    """An array in the same order and range, no two of whose elements are alike, and none the mean of others."""
    finite = np.isfinite(array)
    values = array[finite].astype(np.float64)
    if not values.size:
        return array
    low, high = values.min(), values.max()
    ranks = np.argsort(np.argsort(values, kind="stable"))
    found = array.copy()
    found[finite] = low + (high - low or 1.0) * ((ranks + 1) / (values.size + 1)) ** 1.37
    return found
