"""Annotations: identities that tell passes something of the value or of the ops around it, and are gone after fusion.

`annotation.stop_fusion`, `compiler_begin`, `compiler_end`, `cast_hint` and `checkpoint` part what is before them from
what is behind: no kernel holds both. `on_device` parts nothing. `device_copy` is a copy, as it is between devices.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lamina.dialects.relay.declare import *


class _Identity(Elementwise, fusion_kind=OpPattern.OPAQUE, dtypes=ALL):
    """y = x, of any element type."""

    @staticmethod
    def te_element(x: Scalar, **attrs: Any) -> Scalar:
        return x

    @staticmethod
    def np_ref(x: Array, **attrs: Any) -> Array:
        return np.copy(x)


class Annotation(_Identity, precision=Precision.FOLLOW):
    """y = x, with something said about it. Fusion takes it away."""

    PARTS: ClassVar[bool] = True
    """Whether what is before it and what is behind it are kept in kernels of their own."""

    relay_grad = vjp(lambda dy, x, y: dy)


@irdl_op_definition
class StopFusionOp(Annotation):
    """y = x; nothing is fused across it."""

    name = "relay.annotation.stop_fusion"


@irdl_op_definition
class CheckpointOp(Annotation):
    """y = x; a gradient computes what is between two of them again instead of keeping it."""

    name = "relay.annotation.checkpoint"


class _OfCompiler(Annotation):
    compiler = str_prop()

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        if not attrs["compiler"]:
            raise TypeMismatch("compiler is empty, a name is needed")
        return super().infer_type(*types, **attrs)

    @classmethod
    def samples(cls) -> list[Sample]:
        return [
            *elementwise_samples(cls, compiler="dnnl"),
            sample((3,), error="attribute 'compiler' is missing"),
            sample((3,), attrs={"compiler": ""}, error="compiler is empty"),
        ]


@irdl_op_definition
class CompilerBeginOp(_OfCompiler):
    """y = x; enters a region that the external `compiler` translates."""

    name = "relay.annotation.compiler_begin"


@irdl_op_definition
class CompilerEndOp(_OfCompiler):
    """y = x; leaves a region that the external `compiler` translates."""

    name = "relay.annotation.compiler_end"


@irdl_op_definition
class CastHintOp(Annotation):
    """y = x, which may be cast to `dtype`: what is fake-quantised in between may run in it."""

    name = "relay.annotation.cast_hint"
    dtype = str_prop()

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        check_dtype(attrs["dtype"], ALL)
        return super().infer_type(*types)

    @classmethod
    def samples(cls) -> list[Sample]:
        return [
            *elementwise_samples(cls, dtype="int8"),
            sample((3,), attrs={"dtype": "byte"}, error="got byte"),
        ]


def _check_device(device: str) -> None:
    name, _, number = device.partition(":")
    if not name.isidentifier() or (number and not number.isdecimal()) or device.endswith(":"):
        raise TypeMismatch(f"device {device!r} is not of the form 'cpu' or 'cuda:1'")


@irdl_op_definition
class OnDeviceOp(Annotation):
    """y = x, computed on `virtual_device` (`constrain_body`) and needed there (`constrain_result`)."""

    name = "relay.on_device"
    PARTS: ClassVar[bool] = False

    virtual_device = str_prop("cpu")
    constrain_result: IntegerAttr = bool_prop(False)
    constrain_body: IntegerAttr = bool_prop(True)

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        _check_device(attrs["virtual_device"])
        return super().infer_type(*types)

    @staticmethod
    def extra_samples() -> list[Sample]:
        return [
            sample((3,), attrs={"virtual_device": "cuda:1", "constrain_result": True, "constrain_body": False}),
            sample((3,), attrs={"virtual_device": "cuda:"}, error="device 'cuda:' is not of the form"),
        ]


@irdl_op_definition
class DeviceCopyOp(_Identity):
    """y = x, copied from `src_virtual_device` to `dst_virtual_device`."""

    name = "relay.device_copy"

    src_virtual_device = str_prop("cpu")
    dst_virtual_device = str_prop("cpu")

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        for device in attrs.values():
            _check_device(device)
        return super().infer_type(*types)

    @staticmethod
    def extra_samples() -> list[Sample]:
        return [
            sample((3,), attrs={"src_virtual_device": "cuda:0"}),
            sample((2, 2), attrs={"dst_virtual_device": "cuda:1"}),
            sample((3,), attrs={"dst_virtual_device": "1"}, error="device '1' is not of the form"),
        ]

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, src_virtual_device: str, dst_virtual_device: str
    ) -> Gradients:
        back = r.device_copy(grads[0], src_virtual_device=dst_virtual_device, dst_virtual_device=src_virtual_device)
        return [back]
