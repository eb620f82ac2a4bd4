"""StableHLO's ops that nothing is made of: collectives, tokens, extents known at run time, factorisations.

They are read, so that a program can be told all that is missing in it at once; `REFUSED` says why of each.
"""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, var_operand_def, var_region_def, var_result_def
from xdsl.parser import Parser

from lamina.dialects.stablehlo.base import GenericHlo, parse_operands

_DEVICES = "it is about several devices"
_EXTENTS = "extents are known at run time only; export with fixed shapes"
_TOKENS = "it orders effects, which programs here do not have"
_COMPLEX = "there are no complex numbers"
_RANDOM = "its numbers depend on the machine; JAX's default generator, threefry, does not need it"
_FACTOR = "it is LAPACK's work"

REFUSED = {
    "after_all": _TOKENS,
    "all_gather": _DEVICES,
    "all_reduce": _DEVICES,
    "all_to_all": _DEVICES,
    "async_done": _TOKENS,
    "async_start": _TOKENS,
    "batch_norm_grad": "JAX does not emit it",
    "batch_norm_training": "JAX does not emit it",
    "cholesky": _FACTOR,
    "collective_broadcast": _DEVICES,
    "collective_permute": _DEVICES,
    "complex": _COMPLEX,
    "create_token": _TOKENS,
    "cross-replica-sum": _DEVICES,
    "dynamic_conv": _EXTENTS,
    "dynamic_gather": _EXTENTS,
    "dynamic_pad": _EXTENTS,
    "fft": _COMPLEX,
    "get_tuple_element": "there are no tuples",
    "imag": _COMPLEX,
    "infeed": _TOKENS,
    "outfeed": _TOKENS,
    "partition_id": _DEVICES,
    "real": _COMPLEX,
    "real_dynamic_slice": _EXTENTS,
    "recv": _TOKENS,
    "reduce_scatter": _DEVICES,
    "replica_id": _DEVICES,
    "rng": _RANDOM,
    "rng_bit_generator": _RANDOM,
    "send": _TOKENS,
    "set_dimension_size": _EXTENTS,
    "triangular_solve": _FACTOR,
    "tuple": "there are no tuples",
    "uniform_dequantize": "quantised types are not supported",
    "uniform_quantize": "quantised types are not supported",
}


class RefusedHlo(GenericHlo):
    """Base: any operands, attributes, regions and results."""

    inputs = var_operand_def()
    outputs = var_result_def()
    bodies = var_region_def()
    REASON: ClassVar[str] = ""

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        operands = parse_operands(parser)
        attributes: dict[str, Attribute] = {}
        comma = not operands and parser.parse_optional_punctuation(":") is None
        if not operands and not comma:
            return _typed(cls, parser, operands, attributes)
        while comma or parser.parse_optional_punctuation(","):
            comma = False
            name = parser.parse_optional_identifier()
            if name is None:
                break
            parser.parse_punctuation("=")
            word = parser.parse_optional_identifier()
            attributes[name] = StringAttr(word) if word is not None else parser.parse_attribute()
        attributes.update(parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        return _typed(cls, parser, operands, attributes)


def _typed(cls: Any, parser: Parser, operands: list[Any], attributes: dict[str, Attribute]) -> Any:
    position = parser.pos
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    first = types[0]
    if isinstance(first, FunctionType):
        inputs, outputs = list(first.inputs.data), list(first.outputs.data)
    else:
        inputs, outputs = (types if len(types) == len(operands) else [first] * len(operands)), [types[-1]]
    if len(inputs) != len(operands):
        parser.raise_error(f"{len(operands)} operands but {len(inputs)} operand types", position, parser.pos)
    resolved = [parser.resolve_operand(o, t) for o, t in zip(operands, inputs, strict=True)]
    return cls.create(operands=resolved, result_types=outputs, attributes=attributes)


def _refused(name: str, reason: str) -> type[RefusedHlo]:
    members: dict[str, Any] = {
        "__doc__": f"Refused: {reason}.", "__module__": __name__, "name": f"stablehlo.{name}", "REASON": reason,
        "__annotations__": {"REASON": "ClassVar[str]"},
    }  # fmt: skip
    word = "".join(part.capitalize() for part in name.replace("-", "_").split("_"))
    metaclass: Any = type(RefusedHlo)
    return irdl_op_definition(metaclass(f"Refused{word}Op", (RefusedHlo,), members))


REFUSED_OPS = tuple(_refused(name, reason) for name, reason in REFUSED.items())
