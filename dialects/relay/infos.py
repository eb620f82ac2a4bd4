"""Shapes and dtypes of tensor types: `lamina.dialects.infos`."""

from lamina.dialects.infos import TensorInfo, TypeMismatch, has_unknown_extents, tensor_info

__all__ = ["TensorInfo", "TypeMismatch", "has_unknown_extents", "tensor_info"]
