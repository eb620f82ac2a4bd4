"""te.decl_buffer: demands on the memory of tensors, and which of them are refused."""

# The functions of programs are lambdas, as TVM's users write them.
# pyright: standard
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lamina.compat import tvm
from lamina.compat.tvm import te, tir
from lamina.errors import LaminaError, UnsupportedError


def doubled() -> tuple[Any, Any, Any]:
    a = te.placeholder((4, 6), name="a")
    c = te.compute((4, 6), lambda i, j: a[i, j] * 2.0, name="c")
    return te.create_schedule(c.op), a, c


def test_demands_that_the_memory_meets_change_nothing() -> None:
    s, a, c = doubled()
    wanted = tir.decl_buffer(a.shape, a.dtype, name="A", strides=[6, 1], elem_offset=0, offset_factor=1)
    assert (wanted.name, wanted.dtype, [int(e) for e in wanted.shape]) == ("A", "float32", [4, 6])
    kernel = tvm.build(s, [a, c], "llvm", binds={a: wanted, c: te.decl_buffer(c.shape)})
    x, y = tvm.nd.array(np.ones((4, 6), "float32")), tvm.nd.empty((4, 6))
    kernel(x, y)
    assert y.numpy().min() == 2
    assert str(tvm.lower(s, [a, c], binds={a: wanted})) == str(tvm.lower(s, [a, c]))


@pytest.mark.parametrize(
    "given, message",
    [
        ({"shape": (4, 5)}, r"the buffer 'buffer' is \[4, 5\] float32, the tensor"),
        ({"shape": (4, 6), "dtype": "int8"}, r"is \[4, 6\] int8"),
        ({"shape": (4, 6), "strides": [8, 1]}, "wants steps of 8 along dimension 0, the memory of 'a' is compact"),
        ({"shape": (4, 6), "strides": [1, 4]}, "wants steps of 4 along dimension 1"),
        ({"shape": (4, 6), "strides": [1]}, "has 2 dimensions and 1 strides"),
        ({"shape": (4, 6), "elem_offset": 3}, "begins at 3, the memory of 'a' at 0"),
        ({"shape": (4, 6), "buffer_type": "auto_broadcast"}, "buffer_type='auto_broadcast' is not bridged"),
    ],
)
def test_demands_that_the_memory_does_not_meet_are_refused(given: dict[str, Any], message: str) -> None:
    s, a, c = doubled()
    with pytest.raises(LaminaError, match=message):
        tvm.lower(s, [a, c], binds={a: te.decl_buffer(**given)})


def test_what_is_bound_is_a_buffer_of_a_tensor_of_the_program() -> None:
    s, a, c = doubled()
    other = te.placeholder((4, 6), name="other")
    for binds, message in (
        ({other: te.decl_buffer((4, 6))}, "is none of its tensors"),
        ({a: (4, 6)}, "which is no buffer"),
        ([a], "binds of lower are buffers by tensors"),
    ):
        with pytest.raises(LaminaError, match=message):
            tvm.lower(s, [a, c], binds=binds)


def intrinsic(strides: Any, address: bool = False) -> Any:
    a, b = te.placeholder((3, 4), name="a"), te.placeholder((4,), name="b")
    c = te.compute((3, 4), lambda i, j: a[i, j] + b[j], name="c")

    def statements(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        if address:
            outs[0].access_ptr("w")
        with ib.for_range(0, 3, "i") as i, ib.for_range(0, 4, "j") as j:
            outs[0][i, j] = ins[0][i, j] + ins[1][j]
        return ib.get()

    return te.decl_tensor_intrin(c.op, statements, binds={a: te.decl_buffer(a.shape, strides=strides)})


def test_rows_of_an_intrinsic_may_lie_apart() -> None:
    for strides in ([te.var("s"), 1], [te.var("s"), te.var("t")], None):
        assert intrinsic(strides).op.name == "c"
    with pytest.raises(UnsupportedError, match="wants steps of 2 along dimension 1"):
        intrinsic([te.var("s"), 2])


def test_addresses_are_refused_with_what_to_write() -> None:
    with pytest.raises(UnsupportedError, match=r"the address of 'c' is wanted; write the statements: ib.buffer_ptr"):
        intrinsic(None, address=True)
    with pytest.raises(UnsupportedError, match="the address of 'A' is wanted"):
        te.decl_buffer((2,), name="A").access_ptr("r")


def test_buffers_of_an_extern_are_compared_with_its_tensors() -> None:
    x = te.placeholder((4,), name="x")

    def statements(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        with ib.for_range(0, 4, "i") as i:
            outs[0][i] = ins[0][i] + 1.0
        return ib.get()

    y = te.extern((4,), [x], statements, in_buffers=[te.decl_buffer((4,))], out_buffers=[te.decl_buffer((4,))])
    kernel = tvm.build(te.create_schedule(y.op), [x, y])
    out = tvm.nd.empty((4,))
    kernel(tvm.nd.array(np.arange(4, dtype="float32")), out)
    assert out.numpy().tolist() == [1, 2, 3, 4]
    with pytest.raises(LaminaError, match=r"the buffer 'buffer' is \[5\]"):
        te.extern((4,), [x], statements, in_buffers=[te.decl_buffer((5,))])
    with pytest.raises(LaminaError, match="2 buffers for 1 results"):
        te.extern((4,), [x], statements, out_buffers=[te.decl_buffer((4,))] * 2)
