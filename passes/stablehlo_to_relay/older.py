"""Rules of StableHLO's ops that JAX does not print any more: most are written as those that took their place.

Before: %0 = stablehlo.dot %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
After:  %0 = relay.nn.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import insert
from lamina.dialects.stablehlo.attributes import DotRoles
from lamina.dialects.stablehlo.base import HloOp
from lamina.dialects.stablehlo.older import (
    BatchNormInferenceOp,
    BroadcastOp,
    DotOp,
    DynamicBroadcastInDimOp,
    DynamicIotaOp,
    DynamicReshapeOp,
    GetDimensionSizeOp,
    HloEinsumOp,
    TorchIndexSelectOp,
    UnaryEinsumOp,
)
from lamina.dialects.stablehlo.products import DotGeneralOp
from lamina.dialects.stablehlo.shape import BroadcastInDimOp, HloReshapeOp, IotaOp
from lamina.passes.rules.rewriting import Rules
from lamina.passes.stablehlo_to_relay import emit
from lamina.passes.stablehlo_to_relay.emit import number, shape_of

older = Rules("stablehlo-to-relay")


def _as(op: HloOp, new: type[HloOp], operands: list[SSAValue], **properties: Attribute) -> list[SSAValue]:
    """The op as another one of StableHLO's, which is verified and lowered next."""
    made: Any = new.create(operands=operands, result_types=list(op.result_types), properties=properties)
    made.verify_()
    insert(made)
    return list(made.results)


def _typed(op: HloOp, found: SSAValue) -> SSAValue:
    """A result whose type nothing has checked before. Raises VerifyException where it is not the op's."""
    if found.type != op.result_types[0]:
        raise VerifyException(f"the result is {found.type}, not {op.result_types[0]}")
    return found


@older.lower(DotOp)
def dot(op: DotOp) -> list[SSAValue]:
    """Before: %0 = stablehlo.dot %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    After:  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ...
    """
    last = len(shape_of(op.lhs)) - 1
    roles = DotRoles((("lhs_contracting_dimensions", (last,)), ("rhs_contracting_dimensions", (0,))))
    return _as(op, DotGeneralOp, [op.lhs, op.rhs], dot_dimension_numbers=roles)


@older.lower(BroadcastOp)
def broadcast(op: BroadcastOp) -> SSAValue:
    """Before: %0 = stablehlo.broadcast %x, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
    After:  %0 = relay.broadcast_to %x {shape = [2, 4]} : (tensor<4xf32>) -> tensor<2x4xf32>
    """
    return emit.broadcast(op.operand, op.info().shape)


@older.lower(HloEinsumOp, UnaryEinsumOp)
def einsum(op: HloEinsumOp | UnaryEinsumOp) -> SSAValue:
    """Before: %0 = stablehlo.einsum %x, %y, config = "ij,jk->ik" : ...
    After:  %0 = relay.einsum %x, %y {equation = "ij,jk->ik"} : ...
    """
    return _typed(op, r.einsum(*op.operands, equation=op.einsum_config.data.replace(" ", "")))


@older.lower(BatchNormInferenceOp)
def batch_norm_inference(op: BatchNormInferenceOp) -> SSAValue:
    """Before: %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance) <{...}> ...
    After:  (%x - %mean) * rsqrt(%variance + epsilon) * %scale + %offset
    """
    axis, rank = op.number("feature_index"), len(shape_of(op.operand))

    def along(value: SSAValue) -> SSAValue:
        return emit.reshape(value, [shape_of(value)[0] if d == axis else 1 for d in range(rank)])

    inverse = r.rsqrt(r.add(op.variance, number(op.epsilon.value.data, op.variance)))
    scaled = r.multiply(r.subtract(op.operand, along(op.mean)), along(r.multiply(inverse, op.scale)))
    return r.add(scaled, along(op.offset))


@older.lower(TorchIndexSelectOp)
def torch_index_select(op: TorchIndexSelectOp) -> SSAValue:
    """Before: %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> ...
    After:  %0 = relay.take %x, %i {axis = 0} : ...
    """
    taken = r.take(op.operand, op.index, axis=op.number("dim"), batch_dims=op.number("batch_dims"), mode="clip")
    return _typed(op, taken)


# -- extents that the types say all the same --------------------------------------------------------


@older.lower(DynamicReshapeOp)
def dynamic_reshape(op: DynamicReshapeOp) -> list[SSAValue]:
    """Before: %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
    After:  %0 = stablehlo.reshape %x : (tensor<6xf32>) -> tensor<2x3xf32>
    """
    return _as(op, HloReshapeOp, [op.operand])


@older.lower(DynamicBroadcastInDimOp)
def dynamic_broadcast_in_dim(op: DynamicBroadcastInDimOp) -> list[SSAValue]:
    """Before: %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [1] : (...) -> tensor<3x4xf32>
    After:  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
    """
    dims = DenseArrayBase.from_list(i64, list(op.ints("broadcast_dimensions")))
    return _as(op, BroadcastInDimOp, [op.operand], broadcast_dimensions=dims)


@older.lower(DynamicIotaOp)
def dynamic_iota(op: DynamicIotaOp) -> list[SSAValue]:
    """Before: %0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi64>) -> tensor<4xi32>
    After:  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
    """
    return _as(op, IotaOp, [], iota_dimension=IntegerAttr(op.number("iota_dimension"), i64))


@older.lower(GetDimensionSizeOp)
def get_dimension_size(op: GetDimensionSizeOp) -> SSAValue:
    """Before: %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4xf32>) -> tensor<i32>
    After:  %0 = relay.constant dense<4> : tensor<i32>
    """
    return emit.constant(shape_of(op.operand)[op.number("dimension")], "int32")
