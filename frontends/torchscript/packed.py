"""Packed weights of quantised modules: as torch's own classes are written, and as scripts make them anew.

A module of quantised weights is written by its state, of which its class packs the weights when it is read
(`ops.quantized.conv2d_prepack`); a module that was frozen holds objects of `__torch__.torch.classes.quantized`, whose
states are torch's (aten/src/ATen/native/quantized/cpu/conv_serialization.h).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lamina.errors import InputError, LaminaError, UnsupportedError
from lamina.frontends.aten.quantization import QDTYPES, PackedCell, PackedWeights, QuantizedArray
from lamina.frontends.aten.quantized import QuantizedValue

TORCH_CLASSES = "__torch__.torch.classes."
"""The classes whose objects torch reads itself."""
CONFIG = 2
"""The version of a convolution's state that is read."""
OF_QUANTIZED = ("q_scale", "q_zero_point", "q_per_channel_axis", "qscheme")
"""Operators that ask for what is known of a quantised tensor."""


def _tensor(given: Any, what: str) -> Any:
    if not hasattr(given, "dtype"):
        raise ValueError(f"{what} is no tensor")
    return given


def _weight(given: Any, rank: int | None = None) -> QuantizedArray:
    if not isinstance(given, QuantizedArray) or given.dtype != "int8":
        raise ValueError("a weight is no tensor of qint8")
    if rank is not None and given.array.ndim != rank:
        raise ValueError(f"a weight has rank {given.array.ndim}, expects {rank}")
    return given


def _bias(given: Any, count: int) -> Any:
    if given is not None and _tensor(given, "a bias").shape != (count,):
        raise ValueError(f"a bias of shape {given.shape} for {count} channels")
    return given


def _linear(weight: Any, bias: Any = None) -> PackedWeights:
    found = _weight(weight, 2)
    return PackedWeights("linear", found, _bias(bias, found.shape[0]))


def _linear_fp16(weight: Any, bias: Any = None) -> PackedWeights:
    found = _tensor(weight, "a weight")
    return PackedWeights("linear_fp16", found, _bias(bias, found.shape[0]))


def _convolution(
    kind: str, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any, output_padding: Any = ()
) -> PackedWeights:
    found = _weight(weight)
    rank = found.array.ndim - 2
    windows = [tuple(int(n) for n in v) for v in (stride, padding, dilation, output_padding or [0] * rank)]
    if rank not in (1, 2, 3) or any(len(v) != rank for v in windows):
        raise ValueError(f"a convolution with a weight of shape {found.shape} has windows {windows}")
    if min(windows[0]) < 1 or min(windows[2]) < 1 or min(windows[1]) < 0 or int(groups) < 1:
        raise ValueError(f"a convolution has windows {windows} in {groups} groups")
    channels = found.shape[1] * int(groups) if kind == "conv_transpose" else found.shape[0]
    by, pads, apart, more = windows
    return PackedWeights(kind, found, _bias(bias, channels), by, pads, apart, more, int(groups))


def _flat(weight: Any) -> Any:
    """A weight of lines as one of images, as torch keeps it: with an axis of one row."""
    return replace(weight, array=weight.array[:, :, None]) if isinstance(weight, QuantizedArray) else weight


def _conv(rank: int) -> Callable[..., PackedWeights]:
    def pack(weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any) -> PackedWeights:
        if rank == 1:
            weight, stride, padding, dilation = _flat(weight), [1, *stride], [0, padding[0]], [1, *dilation]
        return _convolution("conv", weight, bias, stride, padding, dilation, groups)

    return pack


def _conv_transpose(rank: int) -> Callable[..., PackedWeights]:
    def pack(
        weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, dilation: Any, groups: Any
    ) -> PackedWeights:
        if rank == 1:
            weight, stride, padding = _flat(weight), [1, *stride], [0, *padding]
            output_padding, dilation = [0, *output_padding], [1, *dilation]
        return _convolution("conv_transpose", weight, bias, stride, padding, dilation, groups, output_padding)

    return pack


def _unpacked(given: Any) -> Any:
    if not isinstance(given, PackedWeights):
        raise ValueError("they are no packed weights")
    return given.weight, given.bias


PACKS: dict[str, Callable[..., Any]] = {
    "quantized.linear_prepack": _linear,
    "quantized.linear_prepack_fp16": _linear_fp16,
    **{f"quantized.conv{rank}d_prepack": _conv(rank) for rank in (1, 2, 3)},
    **{f"quantized.conv_transpose{rank}d_prepack": _conv_transpose(rank) for rank in (1, 2, 3)},
    "quantized.linear_unpack": _unpacked,
    "quantized.linear_unpack_fp16": _unpacked,
}
"""Operators that pack weights, and that give them back."""


def packed(operator: str, args: Sequence[Any], where: str) -> Any:
    """The weights that an operator packs, or gives back. Raises InputError for what is no weight."""
    return _checked(lambda: PACKS[operator](*args), where)


def restored(type_: str, state: Any, where: str) -> PackedWeights | PackedCell:
    """An object of torch's own classes from its state. Raises UnsupportedError for what is no packed weight."""
    name = type_.removeprefix(TORCH_CLASSES)
    if name == "quantized.LinearPackedParamsBase":
        return _checked(lambda: _linear_of(*state), where)
    if name in ("quantized.Conv2dPackedParamsBase", "quantized.Conv3dPackedParamsBase"):
        return _checked(lambda: _convolution_of(state, where), where)
    if name == "rnn.CellParamsBase":
        return _checked(lambda: _cell_of(state, where), where)
    raise UnsupportedError(f"objects of {type_} are not supported", where=where, hint="dequantise this module")


def _linear_of(weight: Any, bias: Any) -> PackedWeights:
    return (_linear if isinstance(weight, QuantizedArray) else _linear_fp16)(weight, bias)


def _convolution_of(state: Any, where: str) -> PackedWeights:
    """From (version, [numbers, weight], [bias]): the numbers are those of the windows, an axis after the other."""
    version, tensors, optional = state
    if str(version) != str(CONFIG):
        raise UnsupportedError(f"packed weights of version {version} are not supported", where=where)
    numbers, weight = tensors
    rank, *rest = np.asarray(numbers).tolist()
    if len(rest) != 4 * rank + 2:
        raise ValueError(f"a convolution over {rank} axes has {len(rest)} numbers")
    stride, padding, dilation, output_padding = (rest[k * rank : (k + 1) * rank] for k in range(4))
    groups, transposed = rest[-2:]
    kind = "conv_transpose" if transposed else "conv"
    return _convolution(kind, weight, optional[0], stride, padding, dilation, groups, output_padding)


def _cell_of(state: Any, where: str) -> PackedCell:
    """From (kind, tensors, floats, numbers, weights): of dynamic cells the number says whether the range is reduced."""
    kind, _, _, numbers, weights = state
    if kind != "quantized_dynamic":
        said = f"recurrent weights of the kind {kind} are not supported"
        raise UnsupportedError(said[:200], where=where, hint="quantize_dynamic(model, dtype=torch.qint8)")
    of_input, of_state = weights
    if not all(isinstance(w, PackedWeights) and w.kind == "linear" for w in weights):
        raise ValueError("a recurrent layer has no packed weights")
    return PackedCell(of_input, of_state, bool(numbers[0]))


def _checked(action: Callable[[], Any], where: str) -> Any:
    try:
        return action()
    except LaminaError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as e:
        said = f"packed weights are damaged: {e}"
        raise InputError(said[:200], where=where, hint="is the file whole?") from None


# -- questions -------------------------------------------------------------------------------------


def asked_of_quantized(operator: str, value: QuantizedValue) -> Any:
    """The answer to a question about a quantised tensor, None where it is as of any other tensor."""
    q = value.quantization
    if operator == "prim.is_quantized":
        return True
    if operator == "is_floating_point":
        return False
    if operator == "prim.dtype":
        return next(number for number, name in QDTYPES.items() if name == value.dtype)
    if operator == "q_scale":
        return float(q.scale)
    if operator == "q_zero_point":
        return int(q.zero_point)
    if operator == "q_per_channel_axis":
        return q.axis
    return None
