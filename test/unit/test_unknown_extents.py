"""What inference says of unknown extents holds for every known one; cases cover what enumeration says they cover;
ops whose shape is a value compute as numpy does."""

from __future__ import annotations

import random as python_random
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import TupleType

from lamina.dialects.attributes import to_attribute
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.infos import TypeMismatch
from lamina.dialects.relay.functional.adt_patterns import (
    Anything,
    Fields,
    Made,
    Pattern,
    Variable,
    missing_case,
    parse_pattern,
    pattern_text,
)
from lamina.dialects.relay.value_types import UNNAMED, AdtType, accepts, dynamic_tensor
from lamina.dialects.rules.op_protocol import Sample
from lamina.driver.compiled_kernels import CompiledKernels, evaluate
from lamina.errors import InputError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.verification import verify_module
from lamina.vm.values import matches
from lamina.vm.vm import AdtValue, ReferenceKernels

sys.path.insert(0, str(Path(__file__).parent))
from test_facets import NAMES, load, valid_samples  # noqa: E402

pytestmark = pytest.mark.slow

# -- inference -----------------------------------------------------------------------------------------------------


def opened(s: Sample, names: bool, draw: python_random.Random) -> list[Any]:
    """The sample's operand types with some extents unknown; equal extents get one name, or none has one."""
    found: list[Any] = []
    for o in s.operands:
        dims = [(f"n{e}" if names else UNNAMED) if draw.random() < 0.6 else e for e in o.shape]
        found.append(dynamic_tensor(dims, o.dtype))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_what_is_inferred_of_unknown_extents_holds_for_the_samples(name: str) -> None:
    op_type = load(name)
    draw = python_random.Random(name)
    for _, s in valid_samples(op_type)[:2]:
        properties = dict(op_type.defaults()) | {
            n: to_attribute(v) for n, v in s.attrs.items() if v is not None and n in op_type.known_attributes()
        }
        actual = op_type.infer_types([tensor_type(o.shape, o.dtype) for o in s.operands], properties)
        for names in (False, True):
            types = opened(s, names, draw)
            try:
                inferred = op_type.infer_types(types, properties)
            except TypeMismatch as e:
                # Only where the rank of a result is a matter of extents, as squeeze of all axes of extent 1 is, or
                # where so much is unknown that nothing is found.
                unsure = not e.decided or "the rank of the result depends" in str(e)
                assert unsure, f"{s}: {', '.join(map(str, types))}: {e}"
                continue
            for i, a in zip(inferred, actual, strict=True):
                assert accepts(i, a, names=False), f"{s}: {', '.join(map(str, types))} -> {i}, but it is {a}"
                # A name says that the extent is the one that bears it.
                if names:
                    for claimed, extent in zip(_dims(i), a.get_shape(), strict=True):  # type: ignore[attr-defined]
                        assert claimed == UNNAMED or claimed in (extent, f"n{extent}"), f"{s}: {i}, but it is {a}"


def _dims(type_: Any) -> tuple[Any, ...]:
    from lamina.dialects.relay.value_types import extents

    return extents(type_)


# -- cases ---------------------------------------------------------------------------------------------------------

FLAG, PAIR, TREE = AdtType.of("Flag"), AdtType.of("Pair"), AdtType.of("Tree")
BOTH = TupleType((FLAG, TREE))
DECLARED: dict[str, dict[str, list[Any]]] = {
    "Flag": {"Off": [], "On": []},
    "Pair": {"Two": [FLAG, FLAG], "None": []},
    "Tree": {"Leaf": [PAIR], "Node": [TREE, FLAG]},
}


def declared(type_: AdtType) -> dict[str, list[Any]]:
    return DECLARED[type_.adt.data]


def values(type_: Any, depth: int) -> list[Any]:
    """All values of a type whose constructors nest no deeper."""
    if isinstance(type_, TupleType):
        return [tuple(v) for v in product(*(values(t, depth) for t in type_.types))]
    if depth == 0:
        return []
    found: list[Any] = []
    for constructor, fields in declared(type_).items():
        found += [AdtValue(constructor, *v) for v in product(*(values(t, depth - 1) for t in fields))]
    return found


def drawn(type_: Any, depth: int, draw: python_random.Random) -> Pattern:
    if depth == 0 or draw.random() < 0.25:
        return Anything() if draw.random() < 0.5 else Variable()
    if isinstance(type_, TupleType):
        return Fields(tuple(drawn(t, depth, draw) for t in type_.types))
    constructor, fields = draw.choice(list(declared(type_).items()))
    return Made(constructor, tuple(drawn(t, depth - 1, draw) for t in fields))


@pytest.mark.parametrize("type_", [FLAG, PAIR, TREE, BOTH], ids=["flag", "pair", "tree", "tuple"])
def test_cases_cover_what_enumeration_says(type_: Any) -> None:
    draw = python_random.Random(str(type_))
    # Patterns look no deeper than 3, and values one deeper reach each of their leaves.
    every = values(type_, 5)
    covered = left = 0
    for _ in range(400):
        cases = [drawn(type_, 3, draw) for _ in range(draw.randrange(1, 7))]
        missing = missing_case(cases, type_, declared)
        unmatched = [v for v in every if not any(matches(c, v, []) for c in cases)]
        assert (missing is None) == (not unmatched), [pattern_text(c) for c in cases]
        if missing is None:
            covered += 1
            continue
        left += 1
        witnesses = [v for v in every if matches(missing, v, [])]
        assert witnesses, pattern_text(missing)
        assert all(not any(matches(c, v, []) for c in cases) for v in witnesses), pattern_text(missing)
    assert covered > 20 and left > 20


def test_patterns_are_read_as_they_are_printed() -> None:
    draw = python_random.Random(1)
    for _ in range(200):
        pattern = drawn(BOTH, 4, draw)
        assert parse_pattern(pattern_text(pattern)) == pattern


# -- shapes that are values ----------------------------------------------------------------------------------------

Case = tuple[str, list[Any], str, list[np.ndarray[Any, Any]]]


def i32(*numbers: int) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.int32)


def cases() -> list[Case]:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    image = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    one, zero = np.float32(1).reshape(()), np.float32(0).reshape(())
    v = np.array([3, 1, 3, 2, 1, 9], np.int32)
    u, first, inverse, counts = np.unique(v, return_index=True, return_inverse=True, return_counts=True)
    found = [u, first.astype(np.int32), inverse.astype(np.int32), i32(4), counts.astype(np.int32)]
    vector = "tensor<?xi32>"
    return [
        ("dyn.reshape", [x, i32(4, -1)], "tensor<?x?xf32>", [x.reshape(4, 6)]),
        ("dyn.tile", [x, i32(2, 1, 3)], "tensor<?x?x?xf32>", [np.tile(x, (2, 1, 3))]),
        ("dyn.broadcast_to", [x, i32(5, 2, 3, 4)], "tensor<?x2x3x4xf32>", [np.broadcast_to(x, (5, 2, 3, 4))]),
        ("dyn.expand_dims", [x, np.array(-1, np.int64)], "tensor<?x?x?x?xf32>", [x[..., None]]),
        ("dyn.squeeze", [x[:1], i32(0)], "tensor<?x?xf32>", [x[0]]),
        ("dyn.strided_slice", [x, i32(1, 2), i32(2, -4), i32(1, -1)], "tensor<?x?x4xf32>", [x[1:2, 2::-1]]),
        ("dyn.full", [one, i32(2, 3)], "tensor<?x?xf32>", [np.ones((2, 3), np.float32)]),
        ("dyn.zeros", [i32(3, 1)], "tensor<?x?xf32>", [np.zeros((3, 1), np.float32)]),
        ("dyn.ones", [i32(2)], "tensor<?xf32>", [np.ones(2, np.float32)]),
        ("dyn.one_hot", [i32(1, 0), one, zero, i32(2)], "tensor<2x?xf32>", [np.eye(2, dtype=np.float32)[[1, 0]]]),
        (
            "dyn.topk",
            [v, np.array(2, np.int32)],
            "(tensor<?xi32>, tensor<?xi32>)",
            [i32(9, 3), i32(5, 0)],
        ),
        (
            "dyn.nn.pad",
            [x[0], np.array([[1, 0], [0, 2]], np.int32), one],
            "tensor<?x?xf32>",
            [np.pad(x[0], ((1, 0), (0, 2)), constant_values=1)],
        ),
        (
            "dyn.nn.upsampling",
            [image, np.float32(2).reshape(()), np.float32(3).reshape(())],
            "tensor<1x2x?x?xf32>",
            [image.repeat(2, 2).repeat(3, 3)],
        ),
        (
            'dyn.image.resize2d {method = "nearest_neighbor", coordinate_transformation_mode = "asymmetric"}',
            [image, i32(4, 6), np.zeros(4, np.float32)],
            "tensor<1x2x?x?xf32>",
            [image.repeat(2, 2).repeat(3, 3)],
        ),
        (
            'dyn.image.resize2d {coordinate_transformation_mode = "tf_crop_and_resize"}',
            [image, i32(2, 1), np.array([1, 1, 0, 1], np.float32)],
            "tensor<1x2x?x?xf32>",
            [image[:, :, ::-1, 1:]],
        ),
        (
            'dyn.nn.upsampling3d {coordinate_transformation_mode = "asymmetric"}',
            [image[None], *[np.float32(s).reshape(()) for s in (2, 3, 1)]],
            "tensor<1x1x?x?x?xf32>",
            [image[None].repeat(2, 2).repeat(3, 3)],
        ),
        ("argwhere", [x > 20], "tensor<?x3xi32>", [np.argwhere(x > 20).astype(np.int32)]),
        ("argwhere", [np.zeros((2, 2), np.int32)], "tensor<?x2xi32>", [np.zeros((0, 2), np.int32)]),
        (
            "unique {return_counts = true}",
            [v],
            f"({vector}, {vector}, tensor<6xi32>, tensor<1xi32>, {vector})",
            found,
        ),
        (
            "unique {is_sorted = false}",
            [v],
            f"({vector}, {vector}, tensor<6xi32>, tensor<1xi32>)",
            [i32(3, 1, 2, 9), i32(0, 1, 3, 5), i32(0, 1, 0, 2, 1, 3), i32(4)],
        ),
    ]


def program(name: str, arrays: list[Any], outputs: str) -> str:
    """`@main` with the op on its arguments."""
    op, _, attributes = name.partition(" ")
    types = ", ".join(str(tensor_type(a.shape, str(a.dtype))) for a in arrays)
    names = ", ".join(f"%a{n}" for n in range(len(arrays)))
    arguments = ", ".join(f"%a{n}: {tensor_type(a.shape, str(a.dtype))}" for n, a in enumerate(arrays))
    count = outputs.count("tensor<")
    results = ", ".join(f"%r{n}" for n in range(count))
    listed = outputs.removeprefix("(").removesuffix(")")
    return f"""func.func @main({arguments}) -> {outputs} {{
  {results} = relay.{op} {names} {attributes} : ({types}) -> {outputs}
  return {results} : {listed}
}}"""


@pytest.mark.parametrize("case", cases(), ids=lambda c: c[0])
def test_shapes_that_are_values_compute_as_numpy(case: Case) -> None:
    name, arrays, outputs, expected = case
    module = parse_text(LaminaContext(), program(name, arrays, outputs), "test.mlir")
    verify_module(module)
    for kernels in (ReferenceKernels(), CompiledKernels()):
        for a, e in zip(evaluate(module, arrays, kernels=kernels), expected, strict=True):
            assert a.dtype == e.dtype and a.shape == e.shape, f"{a.dtype}{a.shape} for {e.dtype}{e.shape}"
            np.testing.assert_array_equal(a, e)


def test_values_that_make_no_shape_are_refused_in_one_line() -> None:
    x = np.arange(6, dtype=np.float32)
    for name, arrays, outputs, message in (
        ("dyn.reshape", [x, i32(4, 2)], "tensor<?x?xf32>", "dyn.reshape: .*do not fill newshape"),
        ("dyn.zeros", [i32(-1)], "tensor<?xf32>", "dyn.zeros: .*negative extent"),
        ("dyn.zeros", [i32(3)], "tensor<4xf32>", r"the result of relay.dyn.zeros is float32\[3\], not tensor<4xf32>"),
        ("dyn.topk", [x, i32(7)], "(tensor<?xf32>, tensor<?xi32>)", "dyn.topk: .*k is 7, axis 0 has 6"),
    ):
        module = parse_text(LaminaContext(), program(name, arrays, outputs), "test.mlir")
        for kernels in (ReferenceKernels(), CompiledKernels()):
            with pytest.raises(InputError, match=message):
                evaluate(module, arrays, kernels=kernels)


def test_operands_that_cannot_be_shapes_do_not_verify() -> None:
    x = np.arange(6, dtype=np.float32)
    for name, arrays, outputs, message in (
        ("dyn.reshape", [x, x], "tensor<?xf32>", "takes integers, got float32"),
        ("dyn.reshape", [x, i32(2, 3).reshape(1, 2)], "tensor<?x?xf32>", "newshape is a vector"),
        ("dyn.reshape", [x, i32(2, 3)], "tensor<?xf32>", "differs from the inferred"),
        ("dyn.squeeze", [x, i32(0, 1)], "tensor<f32>", "2 axes of a tensor of rank 1"),
        ("dyn.nn.pad", [x, i32(0, 1), x[:1].reshape(())], "tensor<?xf32>", r"needs \(1, 2\)"),
        ("argwhere", [x], "tensor<?x2xi32>", "differs from the inferred"),
        ("unique", [x.reshape(2, 3)], "tensor<?xf32>", "takes a vector"),
    ):
        module = parse_text(LaminaContext(), program(name, arrays, outputs), "test.mlir")
        with pytest.raises(Exception, match=message):
            verify_module(module)
