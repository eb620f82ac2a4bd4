"""Names that the declaration of an op is written with, for `from lamina.dialects.relay.declare import *`.

The bases of ops and their fields, types and their refusal, the numpy of oracles (`np`), the tensor expressions of
equations (`te`), the terms of gradients (`r`), samples. Modules that declare no op import from where a name stands.
"""
# ruff: noqa: F401, F403, F405

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, TensorType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def

from xdsl.irdl import var_operand_def, var_result_def  # isort: skip

from lamina.dialects.attributes import from_attribute, to_attribute
from lamina.dialects.dtypes import (
    DTYPES,
    dtype_name,
    ir_type,
    is_float,
    is_unsigned,
    itemsize,
    numpy_dtype,
    tensor_type,
)
from lamina.dialects.infos import (
    TensorInfo,
    TypeMismatch,
    at_least,
    greatest,
    has_unknown_extents,
    is_always,
    is_symbolic,
    surely_equal,
    tensor_info,
)
from lamina.dialects.lazy import np, te
from lamina.dialects.relay.base import *
from lamina.dialects.relay.families import *
from lamina.dialects.relay.grad.facet import *
from lamina.dialects.rules.op_protocol import Sample

__all__ = [
    "DenseArrayBase", "FloatAttr", "IntegerAttr", "StringAttr", "TensorType", "i1", "i64",
    "Attribute", "Operation", "SSAValue",
    "irdl_op_definition", "operand_def", "opt_prop_def", "prop_def", "result_def", "traits_def",
    "var_operand_def", "var_result_def",
    "DTYPES", "dtype_name", "ir_type", "is_float", "is_unsigned", "itemsize", "numpy_dtype", "tensor_type",
    "TensorInfo", "TypeMismatch", "has_unknown_extents", "tensor_info", "from_attribute", "to_attribute",
    "at_least", "greatest", "is_always", "is_symbolic", "surely_equal",
    "np", "te",
    "Ascending", "OpPattern", "Precision", "Properties", "RelayOp", "Sample", "attrs_of", "broadcast_shapes",
    "normalize_axis", "same_dtype", "sample", "scalar_constant",
    "ALL", "BOOL", "FLOATS", "INTEGERS", "NUMBERS", "Broadcast", "Elementwise", "Injective", "Opaque",
    "OutFusable", "Reduction",
    "bool_prop", "float_prop", "floats_prop", "int_prop", "ints_prop", "str_prop",
    "broadcast_compute", "check_dtype", "elementwise_samples", "reduce_compute", "reduced_axes", "reduced_shape",
    "reduction_samples", "stage_name",
    "Gradients", "Values", "along_axis", "collapsed", "constant", "dtype_of", "in_dtype", "number", "picked",
    "places_of", "r", "rank_of", "reduced_count", "reshaped", "scattered", "selected", "shape_of", "sliced_back",
    "summed_to_axis", "through", "to_shape", "transformed", "unreduced", "vjp", "zeros", "zeros_of",
]  # fmt: skip

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lamina.dialects.relay.families import Array
    from lamina.dialects.te.build import Index, IterVar, Scalar, Tensor
    from lamina.dialects.te.ir_builder import Buffer, IRBuilder

    __all__ += ["Array", "Buffer", "IRBuilder", "Index", "IterVar", "NDArray", "Scalar", "Tensor"]
