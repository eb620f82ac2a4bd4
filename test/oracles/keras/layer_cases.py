"""Layers with several sets of options, as functions that make models, by names."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import layers as L
from keras_models import one_layer, random_weights

CASES: dict[str, Callable[[], Any]] = {}


def add(name: str, make: Callable[[], Any], *shapes: Any, dtype: str = "float32") -> None:
    """A case of one layer on tensors of some shapes."""
    assert name not in CASES, name
    CASES[name] = lambda: one_layer(make(), *shapes, dtype=dtype)


def case(make: Callable[[], Any]) -> Callable[[], Any]:
    """A case that is a function of its own, with its name."""

    def built() -> Any:
        model = make()
        random_weights(model)
        return model

    CASES[make.__name__] = built
    return make


# -- dense ---------------------------------------------------------------------------------------------

add("dense", lambda: L.Dense(4), (2, 5))
add("dense-no-bias", lambda: L.Dense(4, use_bias=False, activation="relu"), (2, 5))
add("dense-rank3", lambda: L.Dense(4, activation="tanh"), (2, 3, 5))
add("dense-rank4", lambda: L.Dense(4), (2, 3, 2, 5))
add("einsum-dense", lambda: L.EinsumDense("ab,bc->ac", output_shape=8, bias_axes="c"), (2, 5))
add("einsum-dense-3d", lambda: L.EinsumDense("abc,cd->abd", (None, 6), bias_axes="d", activation="relu"), (2, 3, 5))
add("einsum-dense-dots", lambda: L.EinsumDense("...x,xy->...y", 6, bias_axes="y"), (2, 3, 4, 5))
add("einsum-dense-heads", lambda: L.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de"), (2, 3, 5))
add("einsum-dense-no-bias", lambda: L.EinsumDense("abde,dec->abc", (None, 5)), (2, 3, 2, 3))
add("embedding", lambda: L.Embedding(7, 5), (2, 3), dtype="int32")
add("embedding-of-floats", lambda: L.Embedding(7, 5), (2, 3), dtype="uint8")
add("reversible-embedding", lambda: L.ReversibleEmbedding(7, 5), (2, 3), dtype="int32")

# -- activations -----------------------------------------------------------------------------------------

for _name in (
    "relu", "relu6", "leaky_relu", "softmax", "celu", "elu", "selu", "softplus", "softsign", "squareplus",
    "soft_shrink", "sparse_plus", "silu", "gelu", "glu", "tanh", "tanh_shrink", "sigmoid", "sparse_sigmoid",
    "exponential", "hard_sigmoid", "hard_silu", "hard_tanh", "hard_shrink", "linear", "mish", "log_softmax",
    "log_sigmoid", "sparsemax", "swish",
):  # fmt: skip
    add(f"activation-{_name}", lambda n=_name: L.Activation(n), (3, 8))
add("relu-layer", lambda: L.ReLU(), (3, 8))
add("relu-layer-all", lambda: L.ReLU(max_value=1.5, negative_slope=0.1, threshold=0.3), (3, 8))
add("relu-layer-max", lambda: L.ReLU(max_value=1.0), (3, 8))
add("relu-layer-threshold", lambda: L.ReLU(threshold=0.5), (3, 8))
add("leaky-relu-layer", lambda: L.LeakyReLU(), (3, 8))
add("leaky-relu-layer-slope", lambda: L.LeakyReLU(negative_slope=0.05), (3, 8))
add("prelu", lambda: L.PReLU(), (2, 3, 4))
add("prelu-shared", lambda: L.PReLU(shared_axes=[1, 2]), (2, 3, 4, 5))
add("elu-layer", lambda: L.ELU(alpha=0.7), (3, 8))
add("softmax-layer", lambda: L.Softmax(), (3, 8))
add("softmax-layer-axis", lambda: L.Softmax(axis=1), (3, 4, 5))
add("softmax-layer-axes", lambda: L.Softmax(axis=(1, 3)), (3, 4, 5, 2))
add("dense-layer-as-activation", lambda: L.Dense(4, activation=L.LeakyReLU(negative_slope=0.2)), (2, 5))

# -- convolutions ----------------------------------------------------------------------------------------

for _n, _image in ((1, (9,)), (2, (9, 8)), (3, (6, 5, 7))):
    _conv, _up = getattr(L, f"Conv{_n}D"), getattr(L, f"Conv{_n}DTranspose")
    _last, _first = (2, *_image, 4), (2, 4, *_image)
    add(f"conv{_n}d", lambda c=_conv: c(6, 3), _last)
    add(f"conv{_n}d-same-strides", lambda c=_conv: c(6, 3, strides=2, padding="same", activation="relu"), _last)
    add(f"conv{_n}d-dilated", lambda c=_conv: c(6, 2, dilation_rate=2, padding="same", use_bias=False), _last)
    add(f"conv{_n}d-groups", lambda c=_conv: c(6, 3, groups=2), _last)
    if _n == 2:
        add("conv2d-uneven", lambda: L.Conv2D(5, (3, 2), strides=(1, 2), padding="same"), _last)
        add("conv2d-even-same", lambda: L.Conv2D(5, 4, strides=2, padding="same"), _last)
    for _k, _s, _p, _o, _d in (
        (3, 1, "valid", None, 1), (3, 2, "same", None, 1), (2, 3, "valid", None, 1), (4, 2, "same", None, 1),
        (3, 2, "valid", 1, 1), (3, 2, "same", 1, 1), (2, 1, "same", None, 2), (1, 2, "same", None, 1),
    ):  # fmt: skip
        add(f"conv{_n}d-transpose-{_k}{_s}{_p}{_o}{_d}",
            lambda c=_up, k=_k, s=_s, p=_p, o=_o, d=_d: c(5, k, strides=s, padding=p, output_padding=o,
                                                         dilation_rate=d), _last)  # fmt: skip
add("conv1d-causal", lambda: L.Conv1D(6, 3, padding="causal", dilation_rate=2), (2, 9, 4))
add("depthwise1d", lambda: L.DepthwiseConv1D(3, depth_multiplier=2, padding="same", strides=2), (2, 9, 4))
add("depthwise2d", lambda: L.DepthwiseConv2D(3, depth_multiplier=2), (2, 9, 8, 4))
add("depthwise2d-same", lambda: L.DepthwiseConv2D(3, padding="same", strides=2, activation="relu6"), (2, 9, 8, 4))
add("depthwise2d-dilated", lambda: L.DepthwiseConv2D(3, padding="same", dilation_rate=2), (2, 9, 8, 4))
add("separable1d", lambda: L.SeparableConv1D(6, 3, padding="same", depth_multiplier=2), (2, 9, 4))
add("separable2d", lambda: L.SeparableConv2D(6, 3, padding="same", strides=2, activation="relu"), (2, 9, 8, 4))
add("separable2d-valid", lambda: L.SeparableConv2D(6, 3, depth_multiplier=2, use_bias=False), (2, 9, 8, 4))

# -- pools -----------------------------------------------------------------------------------------------

for _n, _image in ((1, (9,)), (2, (9, 8)), (3, (6, 5, 7))):
    for _kind in ("Max", "Average"):
        _pool, _all = getattr(L, f"{_kind}Pooling{_n}D"), getattr(L, f"Global{_kind}Pooling{_n}D")
        _some = getattr(L, f"Adaptive{_kind}Pooling{_n}D")
        _last, _first = (2, *_image, 4), (2, 4, *_image)
        add(f"{_kind}-pool{_n}d", lambda p=_pool: p(2), _last)
        add(f"{_kind}-pool{_n}d-same", lambda p=_pool: p(3, strides=2, padding="same"), _last)
        add(f"{_kind}-pool{_n}d-first", lambda p=_pool: p(2, data_format="channels_first"), _first)
        add(f"{_kind}-global{_n}d", lambda p=_all: p(), _last)
        add(f"{_kind}-global{_n}d-kept", lambda p=_all: p(keepdims=True, data_format="channels_first"), _first)
        add(f"{_kind}-adaptive{_n}d", lambda p=_some: p(3), _last)
        add(f"{_kind}-adaptive{_n}d-first", lambda p=_some: p(4, data_format="channels_first"), _first)

# -- normalisations --------------------------------------------------------------------------------------

add("batch-norm", lambda: L.BatchNormalization(), (2, 5, 4, 3))
add("batch-norm-axis", lambda: L.BatchNormalization(axis=1, epsilon=1e-5), (2, 5, 4, 3))
add("batch-norm-plain", lambda: L.BatchNormalization(center=False, scale=False), (2, 5))
add("batch-norm-no-scale", lambda: L.BatchNormalization(scale=False), (2, 5, 3))
add("layer-norm", lambda: L.LayerNormalization(), (2, 5, 4))
add("layer-norm-axes", lambda: L.LayerNormalization(axis=(1, 2), epsilon=1e-6), (2, 5, 4))
add("layer-norm-axis1", lambda: L.LayerNormalization(axis=1), (2, 5, 4))
add("layer-norm-plain", lambda: L.LayerNormalization(center=False, scale=False), (2, 5, 4))
add("layer-norm-rms", lambda: L.LayerNormalization(rms_scaling=True), (2, 5, 4))
add("group-norm", lambda: L.GroupNormalization(2), (2, 5, 4, 6))
add("group-norm-each", lambda: L.GroupNormalization(-1, axis=1, scale=False), (2, 6, 4, 5))
add("rms-norm", lambda: L.RMSNormalization(), (2, 5, 4))
add("unit-norm", lambda: L.UnitNormalization(), (2, 5, 4))
add("unit-norm-axes", lambda: L.UnitNormalization(axis=(1, 2)), (2, 5, 4))
add("spectral-norm", lambda: L.SpectralNormalization(L.Dense(4)), (2, 5))
add("normalization", lambda: L.Normalization(), (2, 5))
add("normalization-given", lambda: L.Normalization(mean=[1.0, 2.0, 3.0], variance=[4.0, 1.0, 2.0]), (2, 5, 3))
add("normalization-inverted", lambda: L.Normalization(axis=None, mean=2.0, variance=3.0, invert=True), (2, 5))
add("rescaling", lambda: L.Rescaling(1 / 127.5, offset=-1), (2, 5, 4, 3), dtype="uint8")
add("rescaling-channels", lambda: L.Rescaling([0.5, 2.0, 3.0], offset=[1.0, 0.0, 2.0]), (2, 5, 4, 3))

# -- images ----------------------------------------------------------------------------------------------

for _method in ("nearest", "bilinear", "bicubic"):
    add(f"resizing-{_method}", lambda m=_method: L.Resizing(7, 5, interpolation=m), (2, 4, 9, 3))
    add(f"up-sampling2d-{_method}", lambda m=_method: L.UpSampling2D((2, 3), interpolation=m), (2, 4, 5, 3))
add("resizing-crop", lambda: L.Resizing(6, 6, crop_to_aspect_ratio=True), (2, 4, 9, 3))
add("resizing-pad", lambda: L.Resizing(6, 6, pad_to_aspect_ratio=True, fill_value=0.5), (2, 4, 9, 3))
add("resizing-antialias", lambda: L.Resizing(3, 4, antialias=True), (2, 8, 9, 3))
add("resizing-first", lambda: L.Resizing(3, 4, data_format="channels_first"), (2, 3, 8, 9))
add("center-crop", lambda: L.CenterCrop(4, 5), (2, 7, 8, 3))
add("center-crop-smaller", lambda: L.CenterCrop(9, 5), (2, 7, 8, 3))
add("up-sampling1d", lambda: L.UpSampling1D(3), (2, 4, 5))
add("up-sampling2d-first", lambda: L.UpSampling2D(2, data_format="channels_first"), (2, 3, 4, 5))
add("up-sampling3d", lambda: L.UpSampling3D((1, 2, 3)), (2, 3, 4, 2, 3))

# -- shapes ----------------------------------------------------------------------------------------------

add("flatten", lambda: L.Flatten(), (2, 3, 4))
add("flatten-first", lambda: L.Flatten(data_format="channels_first"), (2, 3, 4, 5))
add("reshape", lambda: L.Reshape((4, 3)), (2, 3, 4))
add("reshape-open", lambda: L.Reshape((-1, 2)), (2, 3, 4))
add("permute", lambda: L.Permute((2, 3, 1)), (2, 3, 4, 5))
add("repeat-vector", lambda: L.RepeatVector(3), (2, 4))
add("cropping1d", lambda: L.Cropping1D((1, 2)), (2, 6, 3))
add("cropping1d-even", lambda: L.Cropping1D(1), (2, 6, 3))
add("cropping2d", lambda: L.Cropping2D(((1, 2), (0, 1))), (2, 6, 5, 3))
add("cropping2d-first", lambda: L.Cropping2D((1, 2), data_format="channels_first"), (2, 3, 6, 5))
add("cropping3d", lambda: L.Cropping3D(1), (2, 4, 5, 6, 3))
add("zero-padding1d", lambda: L.ZeroPadding1D((1, 2)), (2, 6, 3))
add("zero-padding2d", lambda: L.ZeroPadding2D(((1, 2), (0, 1))), (2, 6, 5, 3))
add("zero-padding2d-first", lambda: L.ZeroPadding2D((1, 2), data_format="channels_first"), (2, 3, 6, 5))
add("zero-padding3d", lambda: L.ZeroPadding3D((1, 0, 2)), (2, 4, 5, 6, 3))

# -- what only training changes ----------------------------------------------------------------------------

add("dropout", lambda: L.Dropout(0.5), (2, 5))
add("spatial-dropout1d", lambda: L.SpatialDropout1D(0.5), (2, 5, 3))
add("spatial-dropout2d", lambda: L.SpatialDropout2D(0.5), (2, 5, 4, 3))
add("spatial-dropout3d", lambda: L.SpatialDropout3D(0.5), (2, 2, 5, 4, 3))
add("gaussian-dropout", lambda: L.GaussianDropout(0.5), (2, 5))
add("gaussian-noise", lambda: L.GaussianNoise(0.5), (2, 5))
add("alpha-dropout", lambda: L.AlphaDropout(0.5), (2, 5))
add("activity-regularization", lambda: L.ActivityRegularization(0.5), (2, 5))
add("identity", lambda: L.Identity(), (2, 5))

# -- merges ------------------------------------------------------------------------------------------------

for _kind in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"):
    add(f"merge-{_kind}", lambda k=_kind: getattr(L, k)(), (2, 3, 4), (2, 3, 4))
    if _kind != "Subtract":
        add(f"merge-{_kind}-three", lambda k=_kind: getattr(L, k)(), (2, 3, 4), (2, 1, 4), (2, 4))
add("concatenate", lambda: L.Concatenate(), (2, 3, 4), (2, 3, 2))
add("concatenate-axis", lambda: L.Concatenate(axis=1), (2, 3, 4), (2, 1, 4), (2, 2, 4))
add("dot", lambda: L.Dot(axes=1), (2, 5), (2, 5))
add("dot-axes", lambda: L.Dot(axes=(1, 2)), (2, 5, 3), (2, 4, 5))
add("dot-normalized", lambda: L.Dot(axes=-1, normalize=True), (2, 5, 3), (2, 4, 3))
add("dot-ranks", lambda: L.Dot(axes=(2, 1)), (2, 4, 3, 5), (2, 3))
add("dot-vector", lambda: L.Dot(axes=(1, 1)), (2, 5), (2, 5, 3))

# -- recurrent layers ----------------------------------------------------------------------------------------

_OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {}, "sequences": {"return_sequences": True}, "state": {"return_state": True},
    "backwards": {"go_backwards": True, "return_sequences": True, "return_state": True},
    "backwards-last": {"go_backwards": True}, "no-bias": {"use_bias": False, "return_sequences": True},
    "relu": {"activation": "relu"}, "gelu": {"activation": "gelu", "return_sequences": True},
    "linear": {"activation": None, "return_state": True},
}  # fmt: skip
for _kind in ("LSTM", "GRU", "SimpleRNN"):
    for _option, _given in _OPTIONS.items():
        add(f"{_kind}-{_option}", lambda k=_kind, g=_given: getattr(L, k)(5, **g), (2, 6, 4))
    if _kind != "SimpleRNN":
        add(f"{_kind}-hard", lambda k=_kind: getattr(L, k)(5, recurrent_activation="hard_sigmoid"), (2, 6, 4))
    for _mode in ("concat", "sum", "ave", "mul"):
        add(f"bidirectional-{_kind}-{_mode}",
            lambda k=_kind, m=_mode: L.Bidirectional(getattr(L, k)(3, return_sequences=True), merge_mode=m),
            (2, 6, 4))  # fmt: skip
    add(f"bidirectional-{_kind}-last", lambda k=_kind: L.Bidirectional(getattr(L, k)(3)), (2, 6, 4))
    add(f"bidirectional-{_kind}-state",
        lambda k=_kind: L.Bidirectional(getattr(L, k)(3, return_state=True, return_sequences=True)),
        (2, 6, 4))  # fmt: skip
    add(f"bidirectional-{_kind}-apart",
        lambda k=_kind: L.Bidirectional(getattr(L, k)(3, return_sequences=True), merge_mode=None),
        (2, 6, 4))  # fmt: skip
add("GRU-before", lambda: L.GRU(5, reset_after=False, return_sequences=True), (2, 6, 4))
add("GRU-before-gelu", lambda: L.GRU(5, reset_after=False, activation="gelu"), (2, 6, 4))
add("bidirectional-two", lambda: L.Bidirectional(L.LSTM(3), backward_layer=L.GRU(3, go_backwards=True)), (2, 6, 4))
add("rnn-of-a-cell", lambda: L.RNN(L.LSTMCell(5), return_sequences=True), (2, 6, 4))
add("conv-lstm1d", lambda: L.ConvLSTM1D(3, 2, return_sequences=True), (2, 3, 6, 4))
add("conv-lstm2d", lambda: L.ConvLSTM2D(3, 3, padding="same", go_backwards=True, return_state=True), (2, 3, 5, 4, 2))
add("conv-lstm2d-strides", lambda: L.ConvLSTM2D(3, 2, strides=2, use_bias=False), (2, 3, 6, 6, 2))
add("time-distributed", lambda: L.TimeDistributed(L.Dense(3)), (2, 6, 4))
add("time-distributed-conv", lambda: L.TimeDistributed(L.Conv2D(3, 2)), (2, 3, 5, 4, 2))
add("time-distributed-rnn", lambda: L.TimeDistributed(L.LSTM(3)), (2, 3, 5, 4))


@case
def states_from_another_layer() -> Any:
    x, y = keras.Input((6, 4)), keras.Input((5, 4))
    _, h, c = L.LSTM(3, return_state=True)(x)
    return keras.Model([x, y], L.LSTM(3, return_sequences=True)(y, initial_state=[h, c]))


@case
def states_of_two_directions() -> Any:
    x = keras.Input((6, 4))
    y, *states = L.Bidirectional(L.GRU(3, return_state=True, return_sequences=True))(x)
    return keras.Model(x, L.Bidirectional(L.GRU(3, return_sequences=True))(y, initial_state=states))


# -- masks -----------------------------------------------------------------------------------------------------


def masked(*layers: Any) -> Callable[[], Any]:
    def make() -> Any:
        model = keras.Sequential(
            [keras.Input((6,), dtype="int32"), L.Embedding(5, 4, mask_zero=True), *(f() for f in layers)]
        )
        random_weights(model)
        return model

    return make


CASES["mask-lstm"] = masked(lambda: L.LSTM(3))
CASES["mask-lstm-sequences"] = masked(lambda: L.LSTM(3, return_sequences=True), lambda: L.GRU(2, return_sequences=True))
CASES["mask-gru-backwards"] = masked(lambda: L.GRU(3, go_backwards=True, return_sequences=True))
CASES["mask-gru-before"] = masked(lambda: L.GRU(3, reset_after=False))
CASES["mask-rnn"] = masked(lambda: L.SimpleRNN(3))
CASES["mask-bidirectional"] = masked(lambda: L.Bidirectional(L.LSTM(3, return_sequences=True)), lambda: L.LSTM(2))
CASES["mask-through-dense"] = masked(
    lambda: L.Dense(5), lambda: L.Dropout(0.1), lambda: L.LayerNormalization(), lambda: L.LSTM(3)
)
CASES["mask-dropped-by-conv"] = masked(lambda: L.Conv1D(5, 2), lambda: L.LSTM(3))
CASES["mask-average"] = masked(lambda: L.GlobalAveragePooling1D())
CASES["mask-time-distributed"] = masked(lambda: L.TimeDistributed(L.Dense(3)), lambda: L.LSTM(3))


@case
def masking_layer() -> Any:
    x = keras.Input((6, 2))
    return keras.Model(x, L.LSTM(3)(L.Masking(mask_value=0.0)(L.ReLU()(x))))


@case
def masks_as_arguments() -> Any:
    x, m, s = keras.Input((6, 2)), keras.Input((6,), dtype="bool"), keras.Input((3,))
    inner = keras.Sequential([keras.Input((6, 2)), L.Dense(3), L.LSTM(2)])
    both = L.Bidirectional(L.GRU(3, return_sequences=True))(x, mask=m, initial_state=[s, s])
    steps = L.TimeDistributed(L.Dense(2))(x, mask=m)
    return keras.Model([x, m, s], [both, L.LSTM(3)(steps), inner(x, mask=m), L.LSTM(2)(x, mask=m), L.GRU(2)(x)])


@case
def masked_attention() -> Any:
    x, y = keras.Input((6,), dtype="int32"), keras.Input((5,), dtype="int32")
    e = L.Embedding(5, 4, mask_zero=True)
    q, v = e(x), e(y)
    return keras.Model([x, y], L.Attention()([q, v]))


@case
def masked_heads() -> Any:
    x, y = keras.Input((6,), dtype="int32"), keras.Input((5,), dtype="int32")
    e = L.Embedding(5, 4, mask_zero=True)
    many = L.MultiHeadAttention(2, 3)(e(x), e(y))
    return keras.Model([x, y], L.LSTM(2)(many))


@case
def masked_sums() -> Any:
    x, y = keras.Input((6,), dtype="int32"), keras.Input((6,), dtype="int32")
    e = L.Embedding(5, 4, mask_zero=True)
    both = L.Concatenate()([L.Add()([e(x), e(y)]), L.Dense(3)(e(y))])
    return keras.Model([x, y], L.LSTM(2)(both))


# -- attention ---------------------------------------------------------------------------------------------------

add("attention", lambda: L.Attention(), (2, 6, 4), (2, 5, 4))
add("attention-scale", lambda: L.Attention(use_scale=True), (2, 6, 4), (2, 5, 4), (2, 5, 4))
add("attention-concat", lambda: L.Attention(use_scale=True, score_mode="concat"), (2, 6, 4), (2, 5, 4))
add("additive-attention", lambda: L.AdditiveAttention(), (2, 6, 4), (2, 5, 4))
add("additive-attention-plain", lambda: L.AdditiveAttention(use_scale=False), (2, 6, 4), (2, 5, 4))


def attending(make: Callable[[], Any], **given: Any) -> Callable[[], Any]:
    def built() -> Any:
        x, y = keras.Input((6, 8)), keras.Input((5, 8))
        model = keras.Model([x, y], make()(x, y, **given))
        random_weights(model)
        return model

    return built


CASES["heads"] = attending(lambda: L.MultiHeadAttention(2, 3))
CASES["heads-causal"] = attending(lambda: L.MultiHeadAttention(2, 3, use_bias=False), use_causal_mask=True)
CASES["heads-value-dim"] = attending(lambda: L.MultiHeadAttention(2, 3, value_dim=5, dropout=0.1))
CASES["heads-output"] = attending(lambda: L.MultiHeadAttention(2, 3, output_shape=7))
CASES["heads-scores"] = attending(lambda: L.MultiHeadAttention(2, 3), return_attention_scores=True)
CASES["heads-gate"] = attending(lambda: L.MultiHeadAttention(2, 4, use_gate=True))
CASES["groups"] = attending(lambda: L.GroupQueryAttention(4, 4, 2))
CASES["groups-causal"] = attending(lambda: L.GroupQueryAttention(4, 6, 3), use_causal_mask=True)


@case
def heads_with_a_mask() -> Any:
    x, m = keras.Input((6, 8)), keras.Input((6, 6), dtype="bool")
    return keras.Model([x, m], L.MultiHeadAttention(2, 3, sliding_window=3)(x, x, attention_mask=m))
