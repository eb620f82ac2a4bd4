"""`tvm.error`: the classes of errors that TVM's programs catch, which are ours.

Ours are told apart by who is to act: the input is wrong, the call is wrong, the input is right and not served. So
several names of TVM's are one class.
"""

from __future__ import annotations

from lamina.errors import InputError, InternalError, LaminaError, UnsupportedError

TVMError = LaminaError
DiagnosticError = InputError
OpError = LaminaError
OpNotImplemented = UnsupportedError
OpAttributeUnImplemented = UnsupportedError
OpAttributeRequired = InputError
OpAttributeInvalid = InputError

__all__ = [
    "DiagnosticError", "InternalError", "OpAttributeInvalid", "OpAttributeRequired", "OpAttributeUnImplemented",
    "OpError", "OpNotImplemented", "TVMError",
]  # fmt: skip
