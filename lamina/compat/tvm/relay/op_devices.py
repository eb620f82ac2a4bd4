"""`relay.annotation.on_device` and `relay.device_copy`, which take devices."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm.devices import Device, device
from lamina.compat.tvm.relay.op_functions import op_function


def _text(given: Any) -> str:
    """A device, its kind, or its kind and number, as our operators have it: `cuda:1`."""
    if isinstance(given, Device):
        return f"{given.kind}:{given.device_id}"
    kind, _, number = str(given).partition(":")
    found = device(kind)
    return f"{found.kind}:{number}" if number else found.kind


def on_device(body: Any, device: Any, constrain_result: bool = False, constrain_body: bool = True) -> Any:
    """The value, computed on a device (`constrain_body`) and needed there (`constrain_result`)."""
    return op_function("on_device")(
        body, virtual_device=_text(device), constrain_result=constrain_result, constrain_body=constrain_body
    )


def device_copy(data: Any, src_device: Any, dst_device: Any) -> Any:
    """The value, copied from one device to another."""
    return op_function("device_copy")(data, src_virtual_device=_text(src_device), dst_virtual_device=_text(dst_device))


DEVICE_COMPOSITES: dict[str, Any] = {"annotation.on_device": on_device, "device_copy": device_copy}
"""By the names that operators have, or would have."""
