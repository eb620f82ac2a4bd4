"""Exceptions of the user's own passes, rules and ops: told with the user's line and the op, and as no fault of ours."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region
from xdsl.irdl import irdl_op_definition

import lamina
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.relay.families import Elementwise
from lamina.ir.collector import quiet_gc
from lamina.ir.location import caller
from lamina.ir.user_code import UserCodeError
from lamina.opt_tool.command import run_opt_tool

FILE = Path(__file__).parents[1] / "opt_tool" / "inputs" / "mistaken.py"
TEXT = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = mistaken.meaning %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
"""


def line_of(mark: str, path: Path = FILE) -> int:
    rows = path.read_text("utf-8").split("\n")
    return next(n for n, row in enumerate(rows, 1) if row.endswith(f"# {mark}"))


@pytest.mark.parametrize(
    ("passes", "mark", "said"),
    [
        ("mistaken-pass", "pass", "KeyError: 'lanes' in pass 'mistaken-pass'"),
        ("mistaken-rule", "rule", "IndexError: tuple index out of range in pass 'mistaken-rule'"),
        (
            "relay-fuse-ops,relay-to-te",
            "te_element",
            "AttributeError: 'Scalar' object has no attribute 'nothing' in pass",
        ),
        (
            "mistaken-call",
            "call",
            "AttributeError: 'NoneType' object has no attribute 'blocks' in pass 'mistaken-call'",
        ),
    ],
)
def test_an_exception_names_the_users_line_and_the_op(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passes: str, mark: str, said: str
) -> None:
    monkeypatch.setenv("LAMINA_REPRODUCER_DIR", str(tmp_path))
    status, out, err = run_opt_tool(["--load", str(FILE), "-p", passes], TEXT)
    first, *rest = err.split("\n")
    assert (status, out) == (1, "") and "internal" not in err
    assert re.match(rf"{re.escape(str(FILE))}:{line_of(mark)}:\d+: error: ", first), err
    assert said in first
    if mark != "call":
        assert "at mistaken.meaning (<stdin>:2:8); --debug shows the traceback" in first
        assert rest[0].startswith("<stdin>:2:8: note: see current operation: %y = mistaken.meaning")
    (path,) = tmp_path.glob("*.mlir")
    again = run_opt_tool(["--run-reproducer", str(path)])
    assert again[0] == 1 and f"{FILE}:{line_of(mark)}:" in again[2]


def test_a_verifier_that_fails_names_its_line() -> None:
    status, _, err = run_opt_tool(["--load", str(FILE)], TEXT.replace("meaning", "verifier"))
    assert status == 1 and f"does not verify: IndexError: out of range ({FILE}:{line_of('verifier')}:9)" in err


def test_an_exception_of_ours_alone_is_an_internal_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lamina.passes.relay.fusion import fuse_ops

    monkeypatch.setenv("LAMINA_REPRODUCER_DIR", str(tmp_path))
    for name in [n for n, v in vars(fuse_ops).items() if callable(v) and v.__module__ == fuse_ops.__name__]:
        if name != "FuseOps":
            monkeypatch.setattr(fuse_ops, name, None)
    text = TEXT.replace("mistaken.meaning", "relay.exp")
    status, _, err = run_opt_tool(["-p", "relay-fuse-ops"], text)
    assert status == 70 and err.startswith("error: internal error in pass 'relay-fuse-ops': TypeError")


@irdl_op_definition
class HalfOp(Elementwise):
    """An op of a user's program."""

    name = "mine.half"

    @staticmethod
    def te_element(x: Any) -> Any:
        return x.half()  # half

    @staticmethod
    def np_ref(x: Any) -> Any:
        return x / 2


def test_compile_names_the_users_line() -> None:
    type_ = tensor_type((8,), "float32")
    block = Block(arg_types=[type_])
    half = HalfOp.create(operands=[block.args[0]], result_types=[type_])
    block.add_ops([half, func.ReturnOp(half.results[0])])
    module = ModuleOp([func.FuncOp("main", ([type_], [type_]), Region(block))])
    where = f"{__file__}:{line_of('half', Path(__file__))}:16: AttributeError"
    with pytest.raises(UserCodeError, match=re.escape(where)) as caught:
        lamina.compile(module, threads=1, cache=False)
    assert caught.value.exit_status == 1 and "in pass 'relay-to-te' at mine.half" in str(caught.value)
    assert isinstance(caught.value.__cause__, AttributeError)


def test_a_place_is_not_in_the_library_that_stands_between() -> None:
    """A context manager that decorates a function puts a frame of contextlib between its caller and it."""

    found = quiet_gc()(caller)()
    assert found is not None and found.file == __file__


def test_an_exception_in_a_package_that_lamina_calls_is_no_users() -> None:
    import numpy as np

    from lamina.ir.user_code import users_mistake

    try:
        np.quantile([], 0.5)
    except IndexError as e:
        assert e.__traceback__ is not None
        e.__traceback__ = e.__traceback__.tb_next  # as if Lamina had called it
        assert e.__traceback__ is not None and users_mistake(e) is None
