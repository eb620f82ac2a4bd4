"""What roundings may leave of a module's results: nothing of exact ones, something wherever a kernel rounds."""

from __future__ import annotations

import numpy as np
import pytest

from lamina.debugging.agreement import RUNS
from lamina.debugging.precise import PreciseModule
from lamina.dialects.relay.params import ParamStore
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import SourceParser


def precise(body: str, shape: tuple[int, ...], result: str, *before: str, read: str = "") -> PreciseModule:
    """A module of one op on x, 1 and the next eighths, or on what lines `before` make of that, of the type `read`."""
    kind = f"tensor<{'x'.join(map(str, shape))}xf32>"
    last = f"%y = {body} : ({read or kind}) -> {result}", f"func.return %y : {result}"
    lines = "\n  ".join([*before, *last])
    text = f"func.func @main(%x: {kind}) -> {result} {{\n  {lines}\n}}"
    module = SourceParser(LaminaContext(), text, "body.mlir").parse_module()
    x = (np.arange(np.prod(shape)).reshape(shape) / 8 + 1).astype(np.float32)
    return PreciseModule(module, ParamStore(), [x])


def spread(body: str, shape: tuple[int, ...], result: str) -> float:
    """By how much runs with roundings differ."""
    module = precise(body, shape, result)
    runs = [module.run(seed)[0] for seed in range(RUNS)]
    return float(np.ptp(runs, axis=0).max())


def resize(method: str, width: int) -> str:
    how = f'size = [1, {width}], method = "{method}", coordinate_transformation_mode = "half_pixel"'
    return f"relay.image.resize2d {{{how}}}"


@pytest.mark.parametrize(
    "method, given, width, rounds",
    [
        ("linear", 1, 3, True),  # thirds of one value and the rest of it
        ("linear", 2, 3, True),
        ("linear", 2, 4, False),
        ("nearest_neighbor", 2, 3, False),
        ("nearest_neighbor", 1, 3, False),
    ],
)
def test_resizing_by_thirds_rounds(method: str, given: int, width: int, rounds: bool) -> None:
    body = resize(method, width).replace("resize2d", "resize2d %x")
    assert (spread(body, (1, 1, 1, given), f"tensor<1x1x1x{width}xf32>") > 0) == rounds


@pytest.mark.parametrize(
    "body, result, rounds",
    [
        ("relay.mean %e {axis = [3]}", "tensor<1x1x3xf32>", True),
        ("relay.max %e {axis = [3]}", "tensor<1x1x3xf32>", False),
        ("relay.nn.avg_pool2d %e {pool_size = [3, 3]}", "tensor<1x1x1x1xf32>", True),
        ("relay.nn.max_pool2d %e {pool_size = [3, 3]}", "tensor<1x1x1x1xf32>", False),
        ("relay.sort %e {axis = 3}", "tensor<1x1x3x3xf32>", False),
    ],
)
def test_a_mean_of_equal_values_rounds_and_the_largest_of_them_does_not(body: str, result: str, rounds: bool) -> None:
    equal = "%e = relay.broadcast_to %x {shape = [1, 1, 3, 3]} : (tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32>"
    module = precise(body, (1, 1, 1, 1), result, equal, read="tensor<1x1x3x3xf32>")
    module.arrays = [np.full((1, 1, 1, 1), 0.1, np.float32)]
    runs = [module.run(seed)[0] for seed in range(RUNS)]
    assert (float(np.ptp(runs, axis=0).max()) > 0) == rounds


def test_between_two_pixels_that_are_alike_lies_another_value() -> None:
    grown = "%e = relay.broadcast_to %x {shape = [1, 1, 2, 2]} : (tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>"
    body = 'relay.image.grid_sample %e, %g {padding_mode = "reflection", align_corners = true}'
    grid = "%g = relay.broadcast_to %x {shape = [1, 2, 1, 1]} : (tensor<1x1x1x1xf32>) -> tensor<1x2x1x1xf32>"
    read = "tensor<1x1x2x2xf32>, tensor<1x2x1x1xf32>"
    module = precise(body, (1, 1, 1, 1), "tensor<1x1x1x1xf32>", grown, grid, read=read)
    module.arrays = [np.full((1, 1, 1, 1), 0.1, np.float32)]
    runs = [module.run(seed)[0] for seed in range(RUNS)]
    assert float(np.ptp(runs, axis=0).max()) > 0


@pytest.mark.parametrize("exclude", [0, 1])
def test_weights_that_are_divided_by_their_sum_round(exclude: int) -> None:
    """One value and the rest of it, from taps beside it that are left out."""
    how = f'size = [1, 4], method = "cubic", coordinate_transformation_mode = "asymmetric", cubic_exclude = {exclude}'
    body = f"relay.image.resize2d %x {{{how}}}"
    assert (spread(body, (1, 1, 1, 2), "tensor<1x1x1x4xf32>") > 0) == bool(exclude)


def test_sums_of_eighths_are_exact_and_of_their_roots_not() -> None:
    assert spread("relay.sum %x {axis = [1]}", (2, 7), "tensor<2xf32>") == 0
    assert spread("relay.sqrt %x", (2, 7), "tensor<2x7xf32>") > 0
    assert spread("relay.transpose %x {axes = [1, 0]}", (2, 7), "tensor<7x2xf32>") == 0


@pytest.mark.parametrize(
    "dtype, others, off", [("f32", True, 2.0**-20), ("f32", False, 2.0**-49), ("f64", True, 2.0**-49)]
)
def test_double_precision_that_is_made_single_is_single_elsewhere(dtype: str, others: bool, off: float) -> None:
    """Transforms of Fourier are computed so: what is exactly 0 here is not in another program."""
    wide, double = "tensor<2x2xf32>", "tensor<2x2xf64>"
    before = (
        f'%w = relay.cast %x {{dtype = "float64"}} : ({wide}) -> {double}',
        f"%z = relay.subtract %w, %w : ({double}, {double}) -> {double}",
        f"%v = relay.concatenate %w, %z {{axis = 0}} : ({double}, {double}) -> tensor<4x2xf64>",
        f"%p = relay.nn.matmul %v, %w : (tensor<4x2xf64>, {double}) -> tensor<4x2xf64>",
    )
    result, name = f"tensor<4x2x{dtype}>", {"f32": "float32", "f64": "float64"}[dtype]
    module = precise(f'relay.cast %p {{dtype = "{name}"}}', (2, 2), result, *before, read="tensor<4x2xf64>")
    module.others = others
    zeros = np.array([module.run(seed)[0][2:] for seed in range(2, RUNS)])
    largest = np.abs(module.run()[0]).max()
    assert off * largest / 2 < np.abs(zeros).max() <= off * largest


@pytest.mark.parametrize("number, others, off", [(0.1, True, True), (0.1, False, False), (0.75, True, False)])
def test_a_number_of_many_bits_may_be_computed_elsewhere(number: float, others: bool, off: bool) -> None:
    """Scales and zero points give onnxruntime's QLinearAdd three numbers, of which the sum of constants is one."""
    constant = f"%c = relay.constant dense<{number}> : tensor<f32>"
    module = precise("relay.multiply %x, %c", (1,), "tensor<1xf32>", constant, read="tensor<1xf32>, tensor<f32>")
    module.others = others
    runs = [float(module.run(seed)[0][0]) for seed in range(2, RUNS)]
    assert (np.ptp(runs) > 0) == off
    assert np.ptp(runs) <= number * 2.0**-19


def test_a_small_sigmoid_is_off_by_parts_of_one_elsewhere() -> None:
    """About e^-12, which is 6e-6; in the middle it is exact."""
    module = precise("relay.sigmoid %x", (2,), "tensor<2xf32>")
    module.arrays = [np.array([-12, 0], np.float32)]
    off: list[float] = []
    for module.others in (False, True):
        runs = np.array([module.run(seed)[0] for seed in range(2, RUNS)])
        off.append(float(np.ptp(runs[:, 0])))
        assert (runs[:, 1] == 0.5).all()
    assert off[0] < 2e-11
    assert 2e-7 < off[1] < 1e-6


@pytest.mark.parametrize("op", ["sum", "mean"])
def test_long_sums_are_farther_off_where_they_are_added_one_by_one(op: str) -> None:
    """Of 2^16 thirds, each program has its own; of 2^8 all have the same."""
    for terms, times in ((1 << 16, 128), (1 << 8, 1)):
        module = precise(f"relay.{op} %x {{axis = [0]}}", (terms,), "tensor<f32>")
        module.arrays = [(np.arange(terms) / 3).astype(np.float32)]
        spreads: list[float] = []
        for module.others in (False, True):
            runs = [float(module.run(seed)[0]) for seed in range(2, RUNS)]
            spreads.append(max(runs) - min(runs))
        assert abs(spreads[1] / spreads[0] - times) < 1e-3 * times


@pytest.mark.parametrize("norm, weights", [("layer_norm", 20), ("instance_norm", 1), ("group_norm", 1)])
def test_equal_numbers_are_as_far_from_their_mean_as_it_is_rounded(norm: str, weights: int) -> None:
    """All 20 are a third: 1 / 2^24 of that, divided by the root of epsilon, 1e-5, is 6e-6."""
    weight, result = f"tensor<{weights}xf32>", "tensor<1x1x20xf32>"
    constants = [f"%{name} = relay.constant dense<1.0> : {weight}" for name in ("scale", "shift")]
    groups = " {num_groups = 1}" if norm == "group_norm" else ""
    body, read = f"relay.nn.{norm} %x, %scale, %shift{groups}", f"{result}, {weight}, {weight}"
    module = precise(body, (1, 1, 20), result, *constants, read=read)
    module.arrays = [np.full((1, 1, 20), 1 / 3, np.float32)]
    runs = [module.run(seed)[0] - 1 for seed in range(RUNS)]
    assert 6e-6 < np.abs(runs).max() < 1e-4


def test_what_a_normalisation_leaves_of_its_shift_is_as_far_off_as_that() -> None:
    """-0.5 / sqrt(0.25 + 1e-5) + 1 is 2e-5, and single precision has but multiples of 2^-24 of it."""
    weights = {"scale": 1.0, "shift": 1.0, "mean": -2.0, "variance": 0.25}
    constants = [f"%{name} = relay.constant dense<{value}> : tensor<1xf32>" for name, value in weights.items()]
    body = f"relay.nn.batch_norm %x, {', '.join(f'%{name}' for name in weights)}"
    module = precise(
        body, (1, 1), "tensor<1x1xf32>", *constants, read=", ".join(["tensor<1x1xf32>"] + ["tensor<1xf32>"] * 4)
    )
    module.arrays = [np.full((1, 1), -2.5, np.float32)]
    runs = [module.run(seed)[0].item() for seed in range(RUNS)]
    assert 2.0**-24 < np.ptp(runs) < 2.0**-18


def test_a_function_is_at_its_end_where_it_rounds_to_it_and_a_little_before() -> None:
    tanh = precise("relay.tanh %x", (100,), "tensor<100xf32>")
    first = [1 + float(np.argmax(tanh.run(seed)[0])) / 8 for seed in (0, 1)]
    # 1 - tanh(x) is 2 exp(-2 x): half a unit in the last place, and two of them.
    assert first == [9.125, 8.375]


@pytest.mark.parametrize("order, seed", [((0, 1, 2), 0), ((2, 1, 0), 1)])
def test_partial_products_may_underflow_before_an_infinity(order: tuple[int, ...], seed: int) -> None:
    product = precise("relay.prod %x {axis = [1]}", (2, 3), "tensor<2xf32>")
    factors = np.array([0.25, 1e-45, np.inf], np.float32)
    product.arrays = [np.stack([factors[list(order)], np.ones(3, np.float32)])]
    assert product.run()[0].tolist() == [np.inf, 1]
    assert np.isnan(product.run(seed)[0][0]) and product.run(seed)[0][1] == 1
    assert product.run(1 - seed)[0].tolist() == [np.inf, 1]


@pytest.mark.parametrize("order, seed", [((0, 1, 2), 0), ((2, 1, 0), 1)])
def test_partial_sums_may_overflow_before_what_cancels_them(order: tuple[int, ...], seed: int) -> None:
    total = precise("relay.sum %x {axis = [1]}", (2, 3), "tensor<2xf32>")
    terms = np.array([2.5e38, 1.5e38, -2.5e38], np.float32)
    total.arrays = [np.stack([terms[list(order)], np.ones(3, np.float32)])]
    assert np.isfinite(total.run()[0]).all()
    assert np.isinf(total.run(seed)[0][0]) and total.run(seed)[0][1] == 3
    assert np.isfinite(total.run(1 - seed)[0]).all()


def test_a_state_may_overflow_between_steps() -> None:
    """Beyond the range of single precision it is an infinity for the next step, which has no number for two of them."""
    w = "%w = relay.constant dense<[[[1.0e30, 2.0e30], [3.0e30, -1.0e30]]]> : tensor<1x2x2xf32>"
    h = "%h = relay.constant dense<0.0> : tensor<1x2xf32>"
    body = 'relay.nn.rnn %x, %w, %h {activations = "relu"}'
    text = f"func.func @main(%x: tensor<4x1x2xf32>) -> tensor<1x2xf32> {{\n  {w}\n  {h}\n  %ys, %y = {body} : "
    text += "(tensor<4x1x2xf32>, tensor<1x2x2xf32>, tensor<1x2xf32>) -> (tensor<4x1x2xf32>, tensor<1x2xf32>)\n"
    module = SourceParser(LaminaContext(), text + "  func.return %y : tensor<1x2xf32>\n}", "t.mlir").parse_module()
    steps = PreciseModule(module, ParamStore(), [np.ones((4, 1, 2), np.float32)])
    assert steps.run()[0].tolist() == [[np.inf, np.inf]]
    assert np.isnan(steps.run(0)[0]).all()


def test_bits_of_what_is_no_number_have_either_sign() -> None:
    bits = precise('relay.reinterpret %x {dtype = "int32"}', (2,), "tensor<2xi32>")
    bits.arrays = [np.array([np.nan, 1], np.float32)]
    found = [bits.run(seed)[0] for seed in (0, 1)]
    assert (found[0][0] < 0) != (found[1][0] < 0)
    assert found[0][1] == found[1][1] == np.float32(1).view(np.int32)


def test_partial_products_of_a_scan_are_its_results() -> None:
    scan = precise("relay.cumprod %x {axis = 0}", (3,), "tensor<3xf32>")
    scan.arrays = [np.array([0.25, 1e-45, np.inf], np.float32)]
    assert scan.run()[0][2] == np.inf
    assert all(np.isnan(scan.run(seed)[0][2]) for seed in (0, 1))


@pytest.mark.parametrize("seed, first", [(4, True), (5, False)])
def test_a_product_and_a_sum_may_round_once(seed: int, first: bool) -> None:
    """Scales of whole hundredths: half of the sums are ties of the result's steps, which one rounding decides."""
    how, taken = '{out_dtype = "int8", rounding = "TONEVEN"}', "tensor<400xf32>, tensor<f32>, tensor<i32>"
    to_bytes = f"relay.qnn.quantize %x, %s, %z {how} : ({taken})"
    module = precise(
        f"relay.qnn.quantize %sum, %u, %z {how}",
        (400,),
        "tensor<400xi8>",
        *(f"%{n} = relay.constant dense<{v}> : tensor<f32>" for n, v in (("s", 0.02), ("t", 0.03), ("u", 0.04))),
        "%z = relay.constant dense<0> : tensor<i32>",
        f"%a = {to_bytes} -> tensor<400xi8>",
        f"%b = {to_bytes.replace('%s', '%t')} -> tensor<400xi8>",
        "%p = relay.qnn.dequantize %a, %s, %z : (tensor<400xi8>, tensor<f32>, tensor<i32>) -> tensor<400xf32>",
        "%q = relay.qnn.dequantize %b, %t, %z : (tensor<400xi8>, tensor<f32>, tensor<i32>) -> tensor<400xf32>",
        "%sum = relay.add %p, %q : tensor<400xf32>",
        read=taken,
    )
    module.arrays = [np.random.default_rng(0).uniform(-2, 2, 400).astype(np.float32)]
    scales = np.array([0.02, 0.03, 0.04], np.float32)
    bytes_ = [np.rint(module.arrays[0] / s).clip(-128, 127).astype(np.float64) for s in scales[:2]]
    exact = [b * s.astype(np.float64) for b, s in zip(bytes_, scales, strict=False)]
    single = [e.astype(np.float32) for e in exact]
    fused = exact[0] + single[1] if first else single[0] + exact[1]
    expected = np.rint(fused.astype(np.float32) / scales[2]).clip(-128, 127)
    np.testing.assert_array_equal(module.run(seed)[0], expected)
    assert (module.run()[0] != expected).any()


def test_factors_of_several_tensors_meet_in_any_order() -> None:
    """0 times an infinity is no number; a sum of products that are not all 0 times it is one."""
    text = 'relay.einsum %p, %q, %r {equation = "n,n,a->a"}'
    p, q = (
        "%p = relay.constant dense<[0.0, 1.0]> : tensor<2xf32>",
        "%q = relay.constant dense<[3.0, 2.0]> : tensor<2xf32>",
    )
    module = precise(
        text,
        (1,),
        "tensor<1xf32>",
        p,
        q,
        "%r = relay.negative %x : tensor<1xf32>",
        read="tensor<2xf32>, tensor<2xf32>, tensor<1xf32>",
    )
    module.arrays = [np.array([np.inf], np.float32)]
    found = [float(module.run(seed)[0][0]) for seed in (None, 0, 1, 4, 5)]
    assert any(np.isnan(found)) and -np.inf in found, found
