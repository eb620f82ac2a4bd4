"""Graphs of layers and of operations of keras.ops: shared layers, models in models, several inputs and outputs."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false, reportOptionalOperand=false
# pyright: reportOptionalIterable=false, reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.errors import LaminaError

keras = pytest.importorskip("keras")
pytest.importorskip("jax", reason="Keras computes with it")
pytest.importorskip("h5py")

from keras import layers as L  # noqa: E402
from keras import ops  # noqa: E402
from keras_models import check, drawn, random_weights  # noqa: E402

GRAPHS: dict[str, Callable[[], Any]] = {}


def graph(make: Callable[[], Any]) -> Callable[[], Any]:
    GRAPHS[make.__name__] = make
    return make


@graph
def shared_layers() -> Any:
    x, y = keras.Input((5,), name="x"), keras.Input((5,), name="y")
    dense, inner = L.Dense(5, activation="relu"), L.Dense(5)
    a, b = dense(x), dense(y)
    return keras.Model([x, y], [L.Add()([dense(a), inner(b)]), inner(inner(a))])


@graph
def models_in_models() -> Any:
    inner = keras.Sequential([keras.Input((4,)), L.Dense(3), L.BatchNormalization(), L.ReLU()], name="inner")
    p, q = keras.Input((4,)), keras.Input((4,))
    middle = keras.Model([p, q], [L.Concatenate()([inner(p), inner(q)]), L.Add()([p, q])], name="middle")
    x, y = keras.Input((4,)), keras.Input((4,))
    u, v = middle([x, y])
    w, _ = middle([v, x])
    return keras.Model([x, y], [L.Dense(2)(u), w, inner(v)])


@graph
def sequence_of_models() -> Any:
    first = keras.Sequential([L.Dense(4), L.Dense(3)])
    return keras.Sequential([keras.Input((6,)), first, L.Dense(2, trainable=False), L.BatchNormalization()])


@graph
def frozen_parts() -> Any:
    inner = keras.Sequential([keras.Input((4,)), L.BatchNormalization(), L.Dense(3), L.BatchNormalization()])
    inner.trainable = False
    x = keras.Input((4,))
    return keras.Model(x, L.BatchNormalization()(inner(x)))


@graph
def outputs_by_name() -> Any:
    x = keras.Input((5,), name="x")
    return keras.Model({"x": x}, {"second": L.Dense(2)(x), "first": L.Dense(3)(x)})


@graph
def many_of_a_kind() -> Any:
    x = keras.Input((3,))
    y = x
    for k in range(12):
        y = L.Dense(3, name=f"layer_{12 - k}")(y)
    return keras.Model(x, y)


@graph
def arithmetic() -> Any:
    x, y = keras.Input((4, 3)), keras.Input((4, 3))
    z = (x * 2.0 + y) / (1.0 + ops.abs(y)) - x**2.0
    z = ops.maximum(z, 0.25) + ops.minimum(x, y) + 3 - ops.exp(-ops.square(x))
    return keras.Model([x, y], [z, ops.where(x > y, x, 0.5), ops.sqrt(ops.abs(z) + 1.0), ops.logical_not(x >= y)])


@graph
def functions() -> Any:
    x = keras.Input((4, 3))
    names = ("sin", "cos", "tanh", "floor", "ceil", "sign", "sigmoid", "silu", "gelu", "softplus", "log1p", "erf",
             "relu6", "hard_sigmoid", "elu", "selu", "expm1", "rsqrt", "round")  # fmt: skip
    positive = ops.abs(x) + 0.5
    return keras.Model(x, [getattr(ops, n)(positive if n in ("log1p", "rsqrt") else x) for n in names])


@graph
def reductions() -> Any:
    x = keras.Input((4, 3, 5))
    found = [getattr(ops, n)(x, axis=a, keepdims=k) for n in ("mean", "sum", "max", "min", "var", "std", "prod")
             for a, k in (((1, 2), False), (-1, True))]  # fmt: skip
    return keras.Model(x, [*found, ops.argmax(x, axis=1), ops.logsumexp(x, axis=-1), ops.cumsum(x, axis=1),
                           ops.any(x > 1.0, axis=2)])  # fmt: skip


@graph
def shapes_of_tensors() -> Any:
    x = keras.Input((4, 3, 5))
    return keras.Model(x, [
        ops.reshape(x, (-1, 12, 5)), ops.transpose(x, (0, 3, 1, 2)), ops.expand_dims(x, 1), ops.flip(x, axis=2),
        ops.squeeze(ops.expand_dims(x, -1), -1), ops.swapaxes(x, 1, 3), ops.moveaxis(x, 1, -1), ops.roll(x, 2, axis=1),
        ops.concatenate([x, x * 2.0], axis=2), ops.stack([x, x], axis=1), ops.repeat(x, 3, axis=3),
        ops.tile(x, (1, 2, 1, 3)), ops.pad(x, ((0, 0), (1, 2), (0, 0), (3, 0))), *ops.split(x, 2, axis=1),
        *ops.split(x, [1, 3], axis=3), ops.take(x, [2, 0], axis=2), ops.cast(x, "int32"), ops.zeros_like(x),
    ])  # fmt: skip


@graph
def items() -> Any:
    x = keras.Input((4, 3, 5))
    return keras.Model(x, [x[:, 0], x[:, 1:3, ::2], x[..., -1], x[:, None, :, 1], x[:, ::-1], x[:, -3:-1, ..., 4:0:-2]])


@graph
def products() -> Any:
    x, y = keras.Input((4, 3)), keras.Input((3, 5))
    return keras.Model([x, y], [
        ops.matmul(x, y), ops.einsum("bij,bjk->bki", x, y), ops.softmax(ops.matmul(x, y)),
        ops.one_hot(ops.argmax(x, -1), 3),
    ])  # fmt: skip


@graph
def constants_in_calls() -> Any:
    x = keras.Input((4,))
    table = np.arange(4, dtype="float32")
    return keras.Model(x, [x + table, ops.multiply(table, x), L.Dense(3)(x) * np.ones((3,), "float32")])


@graph
def mixed_types() -> Any:
    x, i = keras.Input((4,)), keras.Input((4,), dtype="int32")
    return keras.Model([x, i], [x + ops.cast(i, "float32"), x * i, i / 2, i * 2, ops.mean(i, axis=1)])


@graph
def half_precision() -> Any:
    x = keras.Input((6, 5))
    y = L.Dense(4, dtype="mixed_float16")(x)
    y = L.LayerNormalization(dtype="mixed_float16")(y)
    return keras.Model(x, L.Activation("relu", dtype="float32")(y))


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_computes_what_keras_computes(tmp_path: Path, name: str, suffix: str) -> None:
    model = GRAPHS[name]()
    random_weights(model)
    if suffix == ".h5" and name in ("constants_in_calls",):
        pytest.skip("Keras does not write arrays in calls into HDF5 files")
    if suffix == ".keras" and name == "models_in_models":
        pytest.skip("Keras itself cannot load an archive of a model whose layers stand in two models")
    check(model, tmp_path, suffix, tolerance=2e-3 if name == "half_precision" else 1e-5)


def test_names_are_those_of_keras(tmp_path: Path) -> None:
    path = tmp_path / "m.keras"
    shared_layers().save(path)
    loaded = lamina.load(path)
    assert [p.name for p in loaded.inputs] == ["x", "y"]
    outputs_by_name().save(path)
    assert [p.name for p in lamina.load(path).outputs] == ["first", "second"]
    locations = {str(op.location) for op in lamina.load(path).module.walk() if op.name == "relay.nn.dense"}
    assert any('"dense' in text for text in locations)


def test_the_batch_is_one_unless_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "m.keras"
    model = keras.Sequential([keras.Input((None, 3), name="x"), L.Conv1D(2, 2)])
    model.save(path)
    with pytest.raises(LaminaError, match="has the open shape"):
        lamina.load(path)
    assert lamina.load(path, {"x": [1, 7, 3]}).outputs[0].shape == (1, 6, 2)
    keras.Sequential([keras.Input((3,), name="x"), L.Dense(2)]).save(path)
    assert lamina.load(path).inputs[0].shape == (1, 3)
    assert lamina.load(path, {"x": [5, 3]}).outputs[0].shape == (5, 2)


def test_what_holds_code_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "m.keras"
    x = keras.Input((3,))
    keras.Model(x, L.Lambda(lambda v: v * 2, output_shape=(3,), name="twice")(L.Discretization([0.0, 1.0])(x))).save(
        path
    )
    with pytest.raises(LaminaError, match=r'2 operators are not supported: .*Lambda x1: "twice" \(holds Python code\)'):
        lamina.load(path)


class Own(keras.Model):
    """A model of a class of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = L.Dense(2)

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)


@keras.saving.register_keras_serializable("mine")
class Twice(L.Layer):
    """A layer of a class of its own."""

    def call(self, inputs: Any) -> Any:
        return inputs * 2


def test_classes_of_users_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "m.keras"
    model = Own()
    model(np.zeros((1, 3), "float32"))
    model.save(path)
    with pytest.raises(LaminaError, match='class "Own" of its own, whose code is not in the file'):
        lamina.load(path)
    keras.Sequential([keras.Input((3,)), Twice(name="t")]).save(path)
    with pytest.raises(LaminaError, match='"t" .its class "mine>Twice" is not one of Keras\'s'):
        lamina.load(path)


def test_weights_alone_are_told_as_such(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((3,)), L.Dense(2)])
    model.save_weights(tmp_path / "m.weights.h5")
    with pytest.raises(LaminaError, match="holds weights without a model"):
        lamina.load(tmp_path / "m.weights.h5")


def test_a_model_from_bytes(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((3,)), L.Dense(2)])
    for suffix in (".keras", ".h5"):
        path = tmp_path / f"m{suffix}"
        model.save(path)
        found = lamina.compile(lamina.load(path.read_bytes()), threads=1)(*(x[:1] for x in drawn(model)))
        np.testing.assert_allclose(found, model(drawn(model)[0][:1]), atol=1e-5)
