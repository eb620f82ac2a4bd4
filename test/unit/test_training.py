"""Gradients of networks: by differences, compiled, in training, and how they grow with the program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.dialects import relay as r
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.ir.context import LaminaContext
from lamina.passes.relay.functional.first_order_gradient import FirstOrderGradient

sys.path.insert(0, str(Path(__file__).parent))
from gradient_programs import chain, differentiated, program  # noqa: E402

pytestmark = pytest.mark.slow

terms: Any = r
Array = np.ndarray[Any, Any]


# -- networks --------------------------------------------------------------------------------------


def residual_block(x: Any, w1: Any, g1: Any, b1: Any, w2: Any, g2: Any, b2: Any, ws: Any, wd: Any) -> Any:
    """Two convolutions with normalisation beside a strided shortcut, pooled, classified."""

    def normalised(y: Any, gamma: Any, beta: Any) -> Any:
        mean = terms.mean(y, axis=(0, 2, 3))
        wide = terms.mean(y, axis=(0, 2, 3), keepdims=True)
        variance = terms.variance(y, wide, axis=(0, 2, 3))
        return terms.nn.batch_norm(y, gamma, beta, mean, variance)

    y = terms.nn.conv2d(x, w1, strides=[2, 2], padding=[1, 1, 1, 1])
    y = terms.nn.relu(normalised(y, g1, b1))
    y = normalised(terms.nn.conv2d(y, w2, padding=[1, 1, 1, 1]), g2, b2)
    y = terms.nn.relu(terms.add(y, terms.nn.conv2d(x, ws, strides=[2, 2])))
    y = terms.nn.max_pool2d(y, pool_size=[2, 2], padding=[1, 0, 0, 1])
    y = terms.nn.batch_flatten(terms.nn.global_avg_pool2d(y))
    scores = terms.nn.log_softmax(terms.nn.dense(y, wd))
    return terms.multiply(scores, scores)


SHAPES = ((2, 3, 7, 6), (4, 3, 3, 3), (4,), (4,), (4, 4, 3, 3), (4,), (4,), (4, 3, 1, 1), (5, 4))


def test_residual_block_by_differences() -> None:
    module = program(residual_block, *((s, "float64") for s in SHAPES))
    random = np.random.default_rng(3)
    arrays = [random.normal(size=s) for s in SHAPES]
    plain, full = main_function(module), main_function(differentiated(module))
    found = run_relay(full, arrays)[1:]
    for operand, shape in enumerate(SHAPES):
        direction = random.normal(size=shape)
        sides = [
            float(
                np.sum(
                    run_relay(plain, [*arrays[:operand], arrays[operand] + by * direction, *arrays[operand + 1 :]])[0]
                )
            )
            for by in (1e-6, -1e-6)
        ]
        expected = (sides[0] - sides[1]) / 2e-6
        np.testing.assert_allclose(
            np.sum(found[operand] * direction), expected, rtol=1e-5, err_msg=f"operand {operand}"
        )


@pytest.mark.slow
@pytest.mark.parametrize("opt_level", [0, 3, 4])
def test_residual_block_compiled(opt_level: int) -> None:
    module = differentiated(program(residual_block, *((s, "float32") for s in SHAPES)))
    random = np.random.default_rng(4)
    arrays = [random.normal(size=s).astype(np.float32) for s in SHAPES]
    expected = run_relay(main_function(module), arrays)
    run = lamina.compile(module, opt_level=opt_level, threads=1, cache=False)
    for found, want in zip(run(*arrays), expected, strict=True):
        np.testing.assert_allclose(found, want, rtol=2e-3, atol=1e-3 * max(1.0, float(np.max(np.abs(want)))))


def perceptron(x: Any, targets: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    """The loss of two layers on classes of points."""
    hidden = terms.tanh(terms.nn.bias_add(terms.nn.dense(x, w1), b1))
    scores = terms.nn.log_softmax(terms.nn.bias_add(terms.nn.dense(hidden, w2), b2))
    return terms.nn.cross_entropy_with_logits(scores, targets)


@pytest.mark.slow
def test_perceptron_learns_compiled() -> None:
    random = np.random.default_rng(5)
    x = random.normal(size=(64, 2)).astype(np.float32)
    classes = (x[:, 0] * x[:, 1] > 0).astype(int)
    targets = np.eye(2, dtype=np.float32)[classes]
    weights = [
        random.normal(size=(16, 2)), np.zeros(16), 0.5 * random.normal(size=(2, 16)), np.zeros(2),
    ]  # fmt: skip
    weights = [w.astype(np.float32) for w in weights]
    types = [(a.shape, "float32") for a in (x, targets, *weights)]
    run = lamina.compile(differentiated(program(perceptron, *types)), threads=1, cache=False)
    losses: list[float] = []
    for _ in range(50):
        loss, _, _, *gradients = run(x, targets, *weights)
        losses.append(float(loss))
        weights = [w - np.float32(1.0) * g for w, g in zip(weights, gradients, strict=True)]
    assert losses[-1] < 0.25 * losses[0]
    hidden = np.tanh(x @ weights[0].T + weights[1])
    assert np.mean(np.argmax(hidden @ weights[2].T + weights[3], axis=1) == classes) > 0.95


def test_a_gradient_may_be_differentiated_again() -> None:
    def cube(x: Any) -> Any:
        return terms.multiply(terms.multiply(x, x), x)

    x = np.array([-1.5, 0.5, 2.0])
    twice = differentiated(differentiated(program(cube, ((3,), "float64"))))
    y, first, of_both = run_relay(main_function(twice), [x])
    np.testing.assert_allclose(y, x**3)
    np.testing.assert_allclose(first, 3 * x**2)
    np.testing.assert_allclose(of_both, 3 * x**2 + 6 * x)


def test_first_order_gradient_as_tvm_gives_it() -> None:
    import lamina.compat.tvm as tvm
    from lamina.compat.tvm import relay

    x, y = (relay.var(n, shape=(3,), dtype="float32") for n in "xy")
    module = tvm.IRModule.from_expr(relay.Function([x, y], relay.multiply(relay.exp(x), y)))
    module = relay.transform.FirstOrderGradient()(module)
    run = relay.create_executor("graph", mod=module, device=tvm.cpu(), target="llvm").evaluate()
    a, b = np.array([0, 1, 2], "float32"), np.array([3, 4, 5], "float32")
    result, (into_x, into_y) = run(a, b)
    np.testing.assert_allclose(result.numpy(), np.exp(a) * b, rtol=1e-5)
    np.testing.assert_allclose(into_x.numpy(), np.exp(a) * b, rtol=1e-5)
    np.testing.assert_allclose(into_y.numpy(), np.exp(a), rtol=1e-5)


# -- growth ----------------------------------------------------------------------------------------


def test_every_op_is_met_once() -> None:
    """The reverse program of a chain has a fixed number of ops for each of its."""

    def size(count: int) -> int:
        module = chain(count)
        FirstOrderGradient().apply(LaminaContext(), module)
        return len(list(module.walk()))

    assert size(300) - size(200) == size(200) - size(100)
