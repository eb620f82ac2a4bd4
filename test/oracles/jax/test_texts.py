"""Every text that JAX prints of a program is read: exported, lowered, with and without places, in the generic form."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import numpy as np
import pytest
from agreement import near
from programs import PROGRAMS

import lamina
from lamina.driver.text_report import report_of_text
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.printing import module_text
from lamina.ir.verification import verify_module

jax = pytest.importorskip("jax")


def exported(jitted, args) -> str:
    return str(jax.export.export(jitted, platforms=["cpu"])(*args).mlir_module())


FORMS = {
    "exported": exported,
    "lowered": lambda jitted, args: jitted.lower(*args).as_text(),
    "lowered with places": lambda jitted, args: jitted.lower(*args).as_text(debug_info=True),
    "generic": lambda jitted, args: (
        jitted.lower(*args).compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True)
    ),
    "generic with places": lambda jitted, args: (
        jitted.lower(*args)
        .compiler_ir("stablehlo")
        .operation.get_asm(print_generic_op_form=True, enable_debug_info=True, pretty_debug_info=False)
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["cnn", "lstm", "gather_scatter", "statistics", "newton"])
def test_form(name, form, tmp_path) -> None:
    function, *args = PROGRAMS[name](jax, np.random.default_rng(3))
    jitted = jax.jit(function)
    path = tmp_path / "program.stablehlo.mlir"
    path.write_text(FORMS[form](jitted, args), "utf-8")
    report = report_of_text(path)
    assert report is not None and report.ok, str(report)
    if form != "generic":
        return
    found = lamina.compile(path, cache=False)(*map(np.asarray, jax.tree_util.tree_leaves(args)))
    expected = map(np.asarray, jax.tree_util.tree_leaves(jitted(*args)))
    for have, want in zip(found if isinstance(found, tuple) else [found], expected, strict=True):
        near(np.asarray(have), want, 1e-5, name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_printed_is_read_by_mlir(name) -> None:
    """Our text of a program, in JAX's MLIR, is the same program."""
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir

    function, *args = PROGRAMS[name](jax, np.random.default_rng(3))
    text = jax.jit(function).lower(*args).as_text()
    module = parse_text(LaminaContext(), text, "program.mlir")
    verify_module(module)
    with mlir.make_ir_context():
        theirs, ours = (str(ir.Module.parse(t)) for t in (text, module_text(module)))
    assert theirs == ours
