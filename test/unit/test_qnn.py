"""Quantised ops as programs: constant and computed scales, at every level, give the oracle's integers bit for bit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from lamina.backends.cpu.jit import host_target
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.infos import tensor_info
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.meaning import np_results
from lamina.dialects.relay.op_index import OPS
from lamina.dialects.relay.params import array_dense
from lamina.dialects.relay.qnn.scales import ref_ratio, ref_rescaled
from lamina.dialects.rules.op_protocol import Sample
from lamina.dialects.target import TARGET
from lamina.driver.execute import run_module
from lamina.driver.pipelines import Pipeline
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline
from lamina.ir.verification import verify_module
from lamina.runtime.llvm_module import load_module

sys.path.insert(0, str(Path(__file__).parent))
from test_facets import arrays_of, load, valid_samples  # noqa: E402
from test_ops_five_ways import module_of  # noqa: E402

pytestmark = pytest.mark.slow

Arrays = list[np.ndarray[Any, Any]]
NAMES = [n for n in OPS if n.startswith("relay.qnn.")]


def is_scale(n: int, s: Sample) -> bool:
    """Whether an operand is a scale or zero point: it comes after the data, as float32 or int32 of one dimension."""
    info = s.operands[n]
    return n > 0 and len(info.shape) <= 1 and info.dtype in ("float32", "int32")


def program(op_type: type[RelayOp], s: Sample, arrays: Arrays) -> tuple[ModuleOp, Arrays]:
    """`@main` with one op whose scales and zero points are constants, and the arrays that remain its arguments."""
    given = [n for n in range(len(arrays)) if not is_scale(n, s)]
    block = Block(arg_types=[tensor_type(tuple(s.operands[n].shape), s.operands[n].dtype) for n in given])
    values = iter(block.args)
    constants = {n: ConstantOp.make(array_dense(a)) for n, a in enumerate(arrays) if n not in given}
    op = op_type.make(*(constants[n].result if n in constants else next(values) for n in range(len(arrays))), **s.attrs)
    block.add_ops([*constants.values(), op, ReturnOp(*op.results)])
    main = FuncOp("main", FunctionType.from_lists(list(block.arg_types), list(op.result_types)), Region(block))
    module = ModuleOp([main])
    module.attributes[TARGET] = host_target(1)
    return module, [arrays[n] for n in given]


def compiled(module: ModuleOp, arrays: Arrays, level: int) -> Arrays:
    ctx = LaminaContext()
    Pipeline(level).run(module, ctx)
    loaded = load_module(module, ctx.params, workers=1)
    return list(loaded.run({p.name: a for p, a in zip(loaded.info.inputs, arrays, strict=True)}).values())


@pytest.mark.parametrize("name", NAMES)
def test_constant_scales_mean_what_computed_ones_do(name: str) -> None:
    op_type = load(name)
    for n, s in valid_samples(op_type):
        arrays = arrays_of(name, n, s)
        module, given = program(op_type, s, arrays)
        ctx = LaminaContext()
        for p in parse_pipeline("relay-qnn-canonicalize"):
            p.apply(ctx, module)
        verify_module(module)
        assert not [o for o in module.walk() if o.name.startswith("relay.qnn.") and hasattr(type(o), "decompose")]
        (actual,) = run_module(module, ctx, "main", given).values()
        (expected,) = np_results(op_type, arrays, s.attrs)
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected, f"sample {n}: {s}")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_machine_code_of_every_level_gives_the_oracles_integers(name: str) -> None:
    """One sample a level: with all the ops each level meets all that samples are."""
    op_type = load(name)
    for level, (n, s) in enumerate(valid_samples(op_type)[:4]):
        arrays = arrays_of(name, n, s)
        (expected,) = np_results(op_type, arrays, s.attrs)
        module, given = program(op_type, s, arrays)
        (actual,) = compiled(module, given, level)
        np.testing.assert_array_equal(actual, expected, f"level {level}, sample {n}: {s}")


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_machine_code_of_every_sample_at_every_level(name: str) -> None:
    op_type = load(name)
    for n, s in valid_samples(op_type):
        arrays = arrays_of(name, n, s)
        (expected,) = np_results(op_type, arrays, s.attrs)
        for level in range(4):
            module, given = program(op_type, s, arrays)
            (actual,) = compiled(module, given, level)
            np.testing.assert_array_equal(actual, expected, f"level {level}, sample {n}: {s}")


@pytest.mark.parametrize("level", range(4))
def test_a_tflite_convolution_is_its_definition_in_64_bits(level: int) -> None:
    """The program computes both, and the largest difference."""
    file = Path(__file__).parents[1] / "execute" / "inputs" / "tflite_convolution.mlir"
    module = parse_text(LaminaContext(), file.read_text(), str(file))
    module.attributes[TARGET] = host_target(1)
    ctx = LaminaContext()
    Pipeline(level).run(module, ctx)
    loaded = load_module(module, ctx.params, workers=1)
    random = np.random.default_rng(level)
    for _ in range(5):
        # Not next to a half of a step: there the quotient in f32, which quantize rounds, is not that in f64.
        steps = random.integers(-130, 160, (1, 3, 32, 32)) + random.uniform(-0.49, 0.49, (1, 3, 32, 32))
        found = loaded.run({"image": (steps * 0.0186579).astype(np.float32)})
        assert found["difference"] == 0
        assert len(np.unique(found["y"])) > 50


@pytest.mark.parametrize("form", ["uint8-int8", "int8-int8", "int16"])
@pytest.mark.parametrize("name", ["relay.qnn.conv2d", "relay.qnn.dense"])
def test_legal_products_mean_the_same(name: str, form: str) -> None:
    op_type = load(name)
    for n, s in valid_samples(op_type):
        arrays = arrays_of(name, n, s)
        (expected,) = np_results(op_type, arrays, s.attrs)
        for constant in (False, True):
            module, given = program(op_type, s, arrays) if constant else (module_of(op_type, s), arrays)
            ctx = LaminaContext()
            for p in parse_pipeline(f"relay-qnn-legalize{{form={form}}}"):
                p.apply(ctx, module)
            verify_module(module)
            (product,) = [o for o in module.walk() if o.name == name]
            types = [tensor_info(v.type).dtype for v in product.operands[:2]]
            assert "int16" in types or types == form.split("-")
            (actual,) = run_module(module, ctx, "main", given).values()
            np.testing.assert_array_equal(actual, expected, f"sample {n}: {s}")


# -- the oracle itself -----------------------------------------------------------------------------


def test_a_ratio_is_the_nearest_of_31_bits() -> None:
    random = np.random.default_rng(3)
    for exponent in random.uniform(-31, 30, 200):
        ratio = 2.0**exponent
        multiplier, shift = ref_ratio(ratio, 1.0)
        assert 2**30 <= multiplier <= 2**31 and 0 <= shift <= 62
        assert abs(multiplier / 2**shift - ratio) <= ratio * 2.0**-31


@pytest.mark.parametrize(
    "to_nearest, expected", [(False, [-2, -1, -1, 0, 0, 1, 1, 2, 2]), (True, [-2, -2, -1, -1, 0, 1, 1, 2, 2])]
)
def test_ties_go_up_or_away_from_zero(to_nearest: bool, expected: list[int]) -> None:
    data, half, one = np.arange(-4, 5), np.asarray([0.5], np.float32), np.asarray([1.0], np.float32)
    assert ref_rescaled(data, half, one, 0, to_nearest).tolist() == expected


def test_quantize_sends_halves_away_from_zero_after_the_zero_point() -> None:
    from lamina.dialects import relay as r

    halves = np.asarray([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], np.float32)
    one = np.float32(1)
    assert r.qnn.quantize(halves, one, np.int32(0)).tolist() == [-3, -2, -1, 1, 2, 3]
    assert r.qnn.quantize(halves, one, np.int32(10)).tolist() == [8, 9, 10, 11, 12, 13]
    assert r.qnn.quantize(halves, one, np.int32(10), rounding="TONEVEN").tolist() == [8, 8, 10, 10, 12, 12]
    below = np.nextafter(np.float32(0.5), np.float32(0))
    assert r.qnn.quantize(np.asarray([below, -below], np.float32), one, np.int32(0)).tolist() == [0, 0]
