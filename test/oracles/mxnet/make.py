"""Symbols with what MXNet 1.9.1 computes of them, for test/unit/test_mxnet.py.

python test/oracles/mxnet/make.py test/unit/inputs/mxnet     (Python 3.8, with test/oracles/mxnet/requirements.txt)
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import json
import sys
from pathlib import Path

import mxnet as mx
import numpy as np

S = mx.sym
X = (1, 4, 6, 5)
a, b, c = (S.var(n) for n in "abc")
"""Variables of the cases, which are given shapes in this order."""


def conv(**given: object) -> mx.sym.Symbol:
    return S.Convolution(a, b, c, num_filter=6, **given)


def rnn(mode: str, states: int = 1, **given: object) -> mx.sym.Symbol:
    more = {"state_cell": S.var("d")} if states == 2 else {}
    return S.RNN(a, b, c, state_size=3, mode=mode, state_outputs=True, **more, **given)


def length(gates: int, layers: int = 1, ways: int = 1) -> tuple:
    widths = [4 if k == 0 else 3 * ways for k in range(layers)]
    return (sum(ways * gates * 3 * (w + 5) for w in widths),)


W = (6, 4, 3, 3)
CASES = {
    "conv": (conv(kernel=(3, 3), pad=(1, 1), stride=(2, 1)), X, W, (6,)),
    "conv_groups": (conv(kernel=(3, 3), num_group=2, dilate=(2, 1)), X, (6, 2, 3, 3), (6,)),
    "conv1d": (conv(kernel=(3,), pad=(1,)), (2, 4, 7), (6, 4, 3), (6,)),
    "deconv": (S.Deconvolution(a, b, kernel=(3, 3), stride=(2, 2), pad=(1, 1), adj=(1, 1), num_filter=6, num_group=2),
               X, (4, 3, 3, 3)),
    "dense": (S.FullyConnected(a, b, c, num_hidden=3), (2, 4, 3), (3, 12), (3,)),
    "dense_rows": (S.FullyConnected(a, b, num_hidden=3, no_bias=True, flatten=False), X, (3, 5)),
    "max_pool": (S.Pooling(a, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max"), X),
    "full_pool": (S.Pooling(a, kernel=(2, 2), stride=(2, 2), pool_type="avg", pooling_convention="full"), X),
    "avg_pool": (S.Pooling(a, kernel=(3, 3), pad=(1, 1), pool_type="avg", count_include_pad=False), X),
    "sum_pool": (S.Pooling(a, kernel=(2, 3), pool_type="sum"), X),
    "global_pool": (S.Pooling(a, global_pool=True, pool_type="avg", kernel=(1, 1)), X),
    "layer_norm": (S.LayerNorm(a, b, c), X, (5,), (5,)),
    "instance_norm": (S.InstanceNorm(a, b, c), X, (4,), (4,)),
    "group_norm": (S.GroupNorm(a, b, c, num_groups=2), X, (2,), (2,)),
    "l2_instance": (S.L2Normalization(a), X),
    "l2_channel": (S.L2Normalization(a, mode="channel"), X),
    "l2_spatial": (S.L2Normalization(a, mode="spatial"), X),
    "lrn": (S.LRN(a, nsize=3, alpha=0.5, beta=0.75, knorm=2), X),
    **{f"act_{k}": (S.Activation(a, act_type=k), X) for k in ("relu", "sigmoid", "tanh", "softrelu", "softsign")},
    **{f"leaky_{k}": (S.LeakyReLU(a, act_type=k, slope=0.3), X) for k in ("leaky", "elu", "selu", "gelu")},
    "prelu": (S.LeakyReLU(a, b, act_type="prelu"), X, (4,)),
    "softmax": (S.softmax(a, axis=1, temperature=2.0), X),
    "log_softmax": (S.log_softmax(a), X),
    "softmin": (S.softmin(a), X),
    "softmax_activation": (S.SoftmaxActivation(a, mode="channel"), X),
    "upsampling": (S.UpSampling(a, scale=2, sample_type="nearest"), X),
    "resize": (S.contrib.BilinearResize2D(a, height=9, width=7), X),
    "adaptive": (S.contrib.AdaptiveAvgPooling2D(a, output_size=(3, 2)), X),
    "reshape": (S.reshape(a, shape=(0, 0, -4, 3, -1, -2)), X),
    "reshape_join": (S.reshape(a, shape=(-3, -2)), X),
    "reshape_rest": (S.reshape(a, shape=(0, -1)), X),
    "reshape_reverse": (S.reshape(a, shape=(-1, 0, 10), reverse=True), (2, 4, 6, 10)),
    "transpose": (S.transpose(a, axes=(0, 2, 3, 1)), X),
    "transpose_all": (S.transpose(a), X),
    "swap": (S.SwapAxis(a, dim1=1, dim2=3), X),
    "expand": (S.expand_dims(a, axis=2), X),
    "squeeze": (S.squeeze(a, axis=1), (2, 1, 3)),
    "slice": (S.slice(a, begin=(None, 1, 5), end=(None, 3, 0), step=(None, 1, -2)), X),
    "slice_axis": (S.slice_axis(a, axis=-1, begin=-3, end=None), X),
    "slice_like": (S.slice_like(a, b, axes=(2, 3)), X, (1, 1, 3, 2)),
    "split": (S.Group(list(S.SliceChannel(a, num_outputs=2, axis=1))), X),
    "split_squeeze": (S.Group(list(S.split(a, num_outputs=4, axis=1, squeeze_axis=True))), X),
    "concat": (S.Concat(a, b, dim=2), X, (1, 4, 1, 5)),
    "stack": (S.stack(a, b, axis=1), X, X),
    "repeat": (S.repeat(a, repeats=2, axis=1), X),
    "tile": (S.tile(a, reps=(2, 1, 1, 3)), X),
    "flip": (S.flip(a, axis=2), X),
    "pad_edge": (S.pad(a, mode="edge", pad_width=(0, 0, 0, 0, 1, 2, 2, 1)), X),
    "pad_reflect": (S.pad(a, mode="reflect", pad_width=(0, 0, 0, 0, 1, 2, 2, 1)), X),
    "pad_constant": (S.pad(a, mode="constant", constant_value=2, pad_width=(0, 0, 0, 0, 1, 2, 2, 1)), X),
    "broadcast_to": (S.broadcast_to(a, shape=(2, 0, 3)), (1, 4, 1)),
    "broadcast_axis": (S.broadcast_axis(a, axis=(0, 2), size=(2, 3)), (1, 4, 1)),
    "broadcast_like": (S.broadcast_like(a, b), (1, 4, 1), (2, 4, 3)),
    "depth_to_space": (S.depth_to_space(a, block_size=2), X),
    "space_to_depth": (S.space_to_depth(a, block_size=2), (1, 3, 4, 6)),
    "arange": (S.broadcast_add(a, S.arange(0, 10, step=2)), X),
    "zeros": (a + S.zeros(X), X),
    **{f"reduce_{k}": (getattr(S, k)(a, axis=(1, 3)), X) for k in ("sum", "mean", "max", "min", "prod")},
    "sum_exclude": (S.sum(a, axis=1, exclude=True, keepdims=True), X),
    "sum_all": (S.sum(a), X),
    "norm": (S.norm(a, axis=1, keepdims=True), X),
    "argmax": (S.argmax(a, axis=1), X),
    "argmin": (S.argmin(a, axis=2, keepdims=True), X),
    "topk": (S.topk(a, k=2, axis=1), X),
    "topk_both": (S.Group(list(S.topk(a, k=3, ret_typ="both", is_ascend=True))), X),
    "sort": (S.sort(a, axis=1, is_ascend=False), X),
    "argsort": (S.argsort(a, axis=2), X),
    "embedding": (S.Embedding(S.abs(a * 4), b, input_dim=7, output_dim=3), (2, 3), (7, 3)),
    "take": (S.take(a, b * 3, axis=1, mode="wrap"), X, (3,)),
    "pick": (S.pick(a, S.abs(b * 2), axis=1), (2, 4), (2,)),
    "one_hot": (S.one_hot(S.abs(a * 2), depth=3, on_value=2, off_value=-1), (2, 4)),
    "dot": (S.dot(a, b, transpose_b=True), (3, 4), (5, 4)),
    "dot_ranks": (S.dot(a, b), (2, 3, 4), (4, 5)),
    "batch_dot": (S.batch_dot(a, b, transpose_a=True), (2, 4, 3), (2, 4, 5)),
    "gemm2": (S.linalg.gemm2(a, b, alpha=0.5), (2, 3, 4), (2, 4, 5)),
    "where": (S.where(a > 0, a, b), X, X),
    "cast": (S.cast(S.cast(a * 3, dtype="int32"), dtype="float32"), X),
    **{f"unary_{k}": (getattr(S, k)(a), X) for k in (
        "abs", "sign", "ceil", "floor", "trunc", "rint", "fix", "round", "exp", "expm1", "sin", "cos", "tan", "arctan",
        "sinh", "cosh", "arcsinh", "negative", "reciprocal", "square", "cbrt", "erf", "softsign", "degrees", "radians",
        "logical_not", "hard_sigmoid", "zeros_like", "ones_like")},
    **{f"positive_{k}": (getattr(S, k)(S.abs(a) + 0.5), X) for k in (
        "sqrt", "rsqrt", "log", "log10", "log2", "log1p", "rcbrt")},
    "smooth_l1": (S.smooth_l1(a, scalar=1.5), X),
    "clip": (S.clip(a, a_min=-0.5, a_max=0.25), X),
    "add_n": (S.add_n(a, b, c), X, X, X),
    "elemwise": (S.elemwise_div(S.elemwise_mul(a, b) - S.elemwise_add(a, c), S.abs(c) + 1), X, X, X),
    "scalars": ((1.5 - (2 / (S.abs(a) + 1))) ** 2 % 0.7 + (2 ** a) * 3 - a / 4, X),
    "scalar_compare": (S.Group([a > 0.1, a >= 0, a < 0.1, a <= 0, a == 0, a != 0]), X),
    "compare": (S.Group([S.broadcast_greater(a, b), S.broadcast_lesser_equal(a, b), S.broadcast_maximum(a, b),
                         S.broadcast_logical_and(a, b)]), X, (1, 4, 1, 5)),
    "broadcast": (S.broadcast_mul(S.broadcast_sub(a, b), S.broadcast_power(S.abs(b) + 1, b)), X, (1, 4, 1, 5)),
    "max_min_scalar": (S.maximum(a, 0.25) + S.minimum(a, -0.25), X),
    "lstm": (rnn("lstm", 2, num_layers=1), (5, 2, 4), length(4), (1, 2, 3), (1, 2, 3)),
    "lstm_deep": (rnn("lstm", 2, num_layers=2, bidirectional=True), (5, 2, 4), length(4, 2, 2), (4, 2, 3), (4, 2, 3)),
    "gru": (rnn("gru", num_layers=1), (5, 2, 4), length(3), (1, 2, 3)),
    "gru_deep": (rnn("gru", num_layers=2, bidirectional=True), (5, 2, 4), length(3, 2, 2), (4, 2, 3)),
    "rnn_tanh": (rnn("rnn_tanh", num_layers=1), (5, 2, 4), length(1), (1, 2, 3)),
    "rnn_relu": (rnn("rnn_relu", num_layers=1), (5, 2, 4), length(1), (1, 2, 3)),
    "multibox_prior": (S.contrib.MultiBoxPrior(a, sizes=(0.5, 0.25), ratios=(1, 2, 0.5)), X),
    "multibox_detection": (S.contrib.MultiBoxDetection(
        S.softmax(a * 3, axis=1), b, S.contrib.MultiBoxPrior(c, sizes=(0.5, 0.25), ratios=(1, 2)), nms_threshold=0.4,
        threshold=0.2), (2, 3, 36), (2, 144), (1, 1, 3, 4)),
    "roi_pooling": (S.ROIPooling(a, S.broadcast_mul(S.abs(b) > 9, b) + S.reshape(S.arange(0, 10), shape=(2, 5)) / 2,
                                 pooled_size=(2, 2), spatial_scale=0.5), (4, 2, 6, 6), (2, 5)),
    "split_v2": (S.Group(list(S.split_v2(a, (1, 4), axis=2))), X),
    "crop_old": (S.Crop(a, b, offset=(1, 2), num_args=2), X, (1, 1, 3, 3)),
    "div_sqrt_dim": (S.contrib.div_sqrt_dim(a), X),
    "argmax_channel": (S.argmax_channel(a), (3, 4)),
    "hypot": (S.broadcast_hypot(a, b), X, X),
    "batch_take": (S.batch_take(a, S.cast(S.abs(b), dtype="int32")), (3, 4), (3,)),
    "softmax_channels": (S.SoftmaxOutput(a, multi_output=True, name="softmax"), (2, 3, 4)),
    "logistic": (S.LogisticRegressionOutput(a, name="lro"), (2, 3)),
    "linear_output": (S.LinearRegressionOutput(a, name="linear"), (2, 3)),
    "full": (a + S.full((2, 3), 1.5), (2, 3)),
    "l1_norm": (S.norm(a, ord=1, axis=(1, 2)), X),
    "softmax_output": (S.SoftmaxOutput(a, name="softmax"), (2, 5)),
    "arange_like": (S.contrib.arange_like(a, axis=1), X),
    "mask": (S.SequenceMask(a, S.abs(b * 3), use_sequence_length=True, value=-1), (5, 2, 4), (2,)),
    "reverse": (S.SequenceReverse(a), (5, 2, 4)),
}  # fmt: skip


def computed(symbol: mx.sym.Symbol, inputs: dict) -> list:
    """What MXNet computes; labels are zeros."""
    arrays = {n: mx.nd.array(v) for n, v in inputs.items()}
    missing = [n for n in symbol.list_arguments() if n not in arrays]
    shapes, _, _ = symbol.infer_shape(**{n: v.shape for n, v in inputs.items()})
    arrays.update({n: mx.nd.zeros(shapes[symbol.list_arguments().index(n)]) for n in missing})
    return [y.asnumpy() for y in symbol.bind(mx.cpu(), arrays).forward()]


def cases(folder: Path) -> None:
    """The small symbols."""
    draw, texts, arrays = np.random.RandomState(0), {}, {}
    for name, (symbol, *shapes) in CASES.items():
        inputs = {n: np.round(draw.normal(size=s), 2).astype(np.float32) for n, s in zip("abcd", shapes)}  # noqa: B905
        texts[name] = json.loads(symbol.tojson())
        for n, v in inputs.items():
            arrays[f"{name}/{n}"] = v
        try:
            results = computed(symbol, inputs)
        except Exception as e:
            raise ValueError(f"the case {name} is wrong") from e
        for k, y in enumerate(results):
            arrays[f"{name}/{k}"] = y
    (folder / "cases.json").write_text(json.dumps(texts, separators=(",", ":")) + "\n", "utf-8")
    np.savez_compressed(folder / "cases.npz", **arrays)


def network(folder: Path) -> None:
    """A small residual network of gluon's, exported with its arrays."""
    from mxnet.gluon import nn

    class Block(nn.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.HybridSequential()
            self.body.add(nn.Conv2D(8, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"),
                          nn.Conv2D(8, 3, padding=1, use_bias=False), nn.BatchNorm(scale=False))  # fmt: skip

        def hybrid_forward(self, F, x):  # noqa: ANN001, ANN202, N803
            return F.Activation(self.body(x) + x, act_type="relu")

    mx.random.seed(1)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, strides=2, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2, 2), Block(),
            nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dropout(0.5), nn.Dense(5))  # fmt: skip
    net.initialize(mx.init.Normal(0.2))
    net.hybridize()
    x = mx.nd.random.normal(shape=(2, 3, 16, 12))
    with mx.autograd.record():
        net(x)  # the moments become those of a batch
    y = net(x)
    net.export(str(folder / "net"), epoch=0)
    np.savez_compressed(folder / "net.npz", x=x.asnumpy(), y=y.asnumpy())


if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.mkdir(parents=True, exist_ok=True)
    cases(where)
    network(where)
