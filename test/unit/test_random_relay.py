"""Random programs of the functional language: the machine, and the passes before it, against Python."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from lamina.driver.compiled_kernels import CompiledKernels
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.ir.verification import verify_module
from lamina.vm.vm import AdtValue, Kernels, ReferenceKernels, VirtualMachine

from .random_relay import random_arguments, random_program

pytestmark = pytest.mark.slow

PASSES = (
    "relay-inline",
    "relay-inline{unmarked}",
    "relay-lambda-lift",
    "relay-defunctionalization",
    "relay-fold-tuples",
    "relay-dead-code-elimination",
    "relay-eliminate-common-subexpr",
    "relay-remove-unused-functions",
    "relay-fold-constant",
    "relay-fuse-ops",
    "relay-eta-expand",
    "relay-to-basic-block-normal-form",
    "relay-to-a-normal-form,relay-to-graph-normal-form",
    "relay-fuse-ops,relay-manifest-alloc,relay-manifest-lifetimes,relay-memory-plan",
    "relay-lambda-lift,relay-inline{unmarked},relay-fold-tuples,relay-eliminate-common-subexpr,"
    "relay-fold-constant,relay-dead-code-elimination,relay-remove-unused-functions,relay-fuse-ops",
)


@cache
def parsed_once(seed: int) -> ModuleOp:
    module = parse_text(LaminaContext(), random_program(seed).text(), f"{seed}.mlir")
    verify_module(module)
    return module


def parsed(seed: int) -> ModuleOp:
    return parsed_once(seed).clone()


@cache
def evaluated(seed: int) -> Any:
    return random_program(seed).evaluate(random_arguments(seed))


def given(seed: int) -> list[Any]:
    scalar, vector, pairs, choice = random_arguments(seed)
    values: list[Any] = []
    while pairs != ():
        values.append(pairs[0])
        pairs = pairs[1]
    made = AdtValue("Nil")
    for v in reversed(values):
        made = AdtValue("Cons", v, made)
    return [scalar, vector, made, choice]


def plain(value: Any) -> Any:
    """A value of the machine as the evaluation in Python has it."""
    if isinstance(value, AdtValue):
        return tuple(plain(f) for f in value.fields)
    return tuple(map(plain, value)) if isinstance(value, tuple) else value  # type: ignore[misc]


def assert_same(found: Any, expected: Any, exact: bool = True) -> None:
    if isinstance(expected, tuple):
        assert isinstance(found, tuple) and len(found) == len(expected)  # type: ignore[arg-type]
        for f, e in zip(found, expected, strict=True):  # type: ignore[arg-type]
            assert_same(f, e, exact)
        return
    assert np.shape(found) == np.shape(expected) and np.asarray(found).dtype == np.asarray(expected).dtype
    if exact:
        assert np.array_equal(found, expected, equal_nan=True)
    else:
        assert np.allclose(found, expected, rtol=1e-4, atol=1e-5, equal_nan=True)


def run(module: ModuleOp, seed: int, kernels: Kernels) -> Any:
    return plain(VirtualMachine(module, kernels).run(given(seed))[0])


@pytest.mark.parametrize(
    "seeds",
    [range(60), *(pytest.param(range(n, n + 100), marks=pytest.mark.long) for n in range(60, 560, 100))],
    ids=str,
)
def test_the_machine_computes_what_python_does(seeds: range) -> None:
    for seed in seeds:
        expected = evaluated(seed)
        assert_same(run(parsed(seed), seed, ReferenceKernels()), expected)


@pytest.mark.parametrize("seed", range(6))
def test_machine_code_computes_what_python_does(seed: int) -> None:
    expected = evaluated(seed)
    assert_same(run(parsed(seed), seed, CompiledKernels()), expected, exact=False)


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 112), marks=pytest.mark.long)], ids=str)
@pytest.mark.parametrize("passes", PASSES)
def test_passes_keep_the_values(passes: str, seeds: range) -> None:
    for seed in seeds:
        module = parsed(seed)
        run_pipeline(module, LaminaContext(), parse_pipeline(passes))
        verify_module(module)
        expected = evaluated(seed)
        assert_same(run(module, seed, ReferenceKernels()), expected)


def test_programs_have_everything_in_them() -> None:
    """The draws reach every part of the language, and most of them compute more than constants."""
    texts = [random_program(seed).text() for seed in range(100)]
    parts = ("relay.if", "relay.match", "relay.fn captures", "self %", "relay.call", "func.call", "relay.global")
    parts += ("relay.tuple(", "relay.tuple_get_item", "ref_create", "ref_read", "ref_write", "Cons(%", "relay.max")
    for part in parts:
        assert sum(part in text for text in texts) >= 20, part
