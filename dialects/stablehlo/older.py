"""StableHLO's ops that JAX does not print any more, or prints where extents might be open: those of known extents."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from lamina.dialects.infos import TensorInfo
from lamina.dialects.stablehlo.base import GenericHlo, HloOp, TextKey, element


@irdl_op_definition
class DotOp(HloOp):
    """The product of two matrices or vectors: the last dimension of the one, the first of the other."""

    name = "stablehlo.dot"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    precision_config = opt_prop_def(Attribute)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        x, y = types
        if not 1 <= len(x.shape) <= 2 or not 1 <= len(y.shape) <= 2 or x.shape[-1] != y.shape[0]:
            raise ValueError("they are no matrices and vectors with a common extent")
        return TensorInfo((*x.shape[:-1], *y.shape[1:]), element(self.result.type))


@irdl_op_definition
class BroadcastOp(HloOp):
    """The operand repeated along new dimensions in front of its own."""

    name = "stablehlo.broadcast"
    KEYS: ClassVar = (TextKey("sizes", "broadcast_sizes", "ints"),)
    operand = operand_def(TensorType)
    broadcast_sizes = prop_def(DenseArrayBase)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        return TensorInfo((*self.ints("broadcast_sizes"), *types[0].shape), types[0].dtype)


@irdl_op_definition
class HloEinsumOp(HloOp):
    """Einstein's sum of two tensors: `config = "ij,jk->ik"`."""

    name = "stablehlo.einsum"
    KEYS: ClassVar = (TextKey("config", "einsum_config", "str"),)
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    einsum_config = prop_def(StringAttr)
    result = result_def(TensorType)


@irdl_op_definition
class UnaryEinsumOp(HloOp):
    """Einstein's sum of one tensor: `config = "ij->ji"`."""

    name = "stablehlo.unary_einsum"
    KEYS: ClassVar = (TextKey("config", "einsum_config", "str"),)
    operand = operand_def(TensorType)
    einsum_config = prop_def(StringAttr)
    result = result_def(TensorType)


@irdl_op_definition
class BatchNormInferenceOp(GenericHlo):
    """(operand - mean) / sqrt(variance + epsilon) * scale + offset, these along a dimension."""

    name = "stablehlo.batch_norm_inference"
    operand = operand_def(TensorType)
    scale = operand_def(TensorType)
    offset = operand_def(TensorType)
    mean = operand_def(TensorType)
    variance = operand_def(TensorType)
    epsilon = prop_def(FloatAttr)
    feature_index = prop_def(IntegerAttr)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        x, *others = types
        axis = self.number("feature_index")
        if not 0 <= axis < len(x.shape) or any(o != TensorInfo((x.shape[axis],), x.dtype) for o in others):
            raise ValueError(f"scale, offset, mean and variance do not lie along dimension {axis}")
        return x


@irdl_op_definition
class TorchIndexSelectOp(GenericHlo):
    """The places of a dimension that `index` lists."""

    name = "stablehlo.torch_index_select"
    operand = operand_def(TensorType)
    index = operand_def(TensorType)
    dim = prop_def(IntegerAttr)
    batch_dims = prop_def(IntegerAttr)
    result = result_def(TensorType)


@irdl_op_definition
class DynamicReshapeOp(HloOp):
    """`reshape` to extents that an operand has; those of the result's type are known here."""

    name = "stablehlo.dynamic_reshape"
    operand = operand_def(TensorType)
    output_shape = operand_def(TensorType)
    result = result_def(TensorType)


@irdl_op_definition
class DynamicBroadcastInDimOp(HloOp):
    """`broadcast_in_dim` to extents that an operand has; those of the result's type are known here."""

    name = "stablehlo.dynamic_broadcast_in_dim"
    KEYS: ClassVar = (TextKey("dims", "broadcast_dimensions", "ints"),)
    operand = operand_def(TensorType)
    output_dimensions = operand_def(TensorType)
    broadcast_dimensions = prop_def(DenseArrayBase)
    known_expanding_dimensions = opt_prop_def(DenseArrayBase)
    known_nonexpanding_dimensions = opt_prop_def(DenseArrayBase)
    result = result_def(TensorType)


@irdl_op_definition
class DynamicIotaOp(HloOp):
    """`iota` of extents that an operand has; those of the result's type are known here."""

    name = "stablehlo.dynamic_iota"
    KEYS: ClassVar = (TextKey("dim", "iota_dimension", "int"),)
    output_shape = operand_def(TensorType)
    iota_dimension = prop_def(IntegerAttr)
    result = result_def(TensorType)


@irdl_op_definition
class GetDimensionSizeOp(HloOp):
    """The extent of a dimension."""

    name = "stablehlo.get_dimension_size"
    KEYS: ClassVar = (TextKey("dim", "dimension", "int"),)
    operand = operand_def(TensorType)
    dimension = prop_def(IntegerAttr)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        if not 0 <= self.number("dimension") < len(types[0].shape):
            raise IndexError(f"there is no dimension {self.number('dimension')}")
        return TensorInfo((), "int32")
