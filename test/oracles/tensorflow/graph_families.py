"""Graphs for families of operators, with TensorFlow's raw operators; `make.py` writes them."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
raw = tf.raw_ops
FAMILIES: dict[str, Callable[[Any], None]] = {}


class Drawing:
    """The inputs and outputs of a graph that is being built."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.layout = "NHWC"
        """The layout of images in the graph; what is fed and given is NHWC."""
        self.inputs: dict[str, np.ndarray] = {}
        self.outputs: list[str] = []

    def floats(self, *shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
        """Numbers of float32."""
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def ints(self, *shape: int, low: int = -9, high: int = 10, dtype: str = "int32") -> np.ndarray:
        """Whole numbers."""
        return self.rng.integers(low, high, shape).astype(dtype)

    def feed(self, name: str, array: np.ndarray, shape: Any = ()) -> Any:
        """A placeholder, of the array's shape or a more open one."""
        self.inputs[name] = np.asarray(array)
        return tf1.placeholder(array.dtype, shape or array.shape, name=name)

    def axes(self, given: Any) -> Any:
        """Numbers by axes of images in the layout of the graph."""
        given = list(given)
        return given if self.layout == "NHWC" else [given[0], given[3], given[1], given[2]]

    def of_images(self, op: Any, images: Any, **attributes: Any) -> Any:
        """An operator on images; its lists of four are by the axes N, H, W, C."""
        first = self.layout == "NCHW"
        (name,) = [k for k, v in attributes.items() if v is images]
        attributes |= {k: self.axes(v) for k, v in attributes.items() if isinstance(v, list) and len(v) == 4}
        attributes[name] = tf.transpose(images, [0, 3, 1, 2]) if first else images
        made = op(**attributes, data_format=self.layout)
        made = made[0] if isinstance(made, tuple) else made
        return tf.transpose(made, [0, 2, 3, 1]) if first else made

    def give(self, name: str, *tensors: Any) -> None:
        """Outputs."""
        for k, tensor in enumerate(tensors):
            own = name if len(tensors) == 1 else f"{name}_{k}"
            # A name that differs from another one in case only gets a number.
            self.outputs.append(tf.identity(tensor, name=own).op.name)


def family(build: Callable[[Drawing], None]) -> Callable[[Drawing], None]:
    """Enter a family by the name of its function."""
    FAMILIES[build.__name__] = build
    return build


@family
def network(d: Drawing) -> None:
    """A small classifier whose batch is open."""
    x = d.feed("x", d.floats(1, 16, 16, 3), [None, 16, 16, 3])
    h = tf.nn.conv2d(x, tf.constant(d.floats(3, 3, 3, 8) * 0.2, name="kernel"), 2, "SAME", name="conv")
    h = tf.nn.relu(tf.nn.bias_add(h, tf.constant(d.floats(8))), name="relu")
    h = tf.nn.max_pool2d(h, 2, 2, "VALID")
    h = tf.nn.depthwise_conv2d(h, tf.constant(d.floats(3, 3, 8, 2) * 0.3), [1, 1, 1, 1], "SAME")
    h = tf.reshape(h, [tf.shape(h)[0], -1])
    d.give("probabilities", tf.nn.softmax(tf.matmul(h, tf.constant(d.floats(256, 10) * 0.1))))


@family
def convolutions(d: Drawing) -> None:
    """Convolutions, forwards and backwards, with each kind of padding."""
    x, w = d.feed("x", d.floats(1, 6, 5, 4)), tf.constant(d.floats(3, 2, 4, 6) * 0.3)
    d.give("same", raw.Conv2D(input=x, filter=w, strides=[1, 2, 2, 1], padding="SAME"))
    d.give("valid", raw.Conv2D(input=x, filter=w, strides=[1, 1, 2, 1], padding="VALID"))
    d.give("dilated", raw.Conv2D(input=x, filter=w, strides=[1] * 4, padding="SAME", dilations=[1, 2, 3, 1]))
    pads = [0, 0, 2, 1, 0, 3, 0, 0]
    d.give("explicit", raw.Conv2D(input=x, filter=w, strides=[1, 2, 1, 1], padding="EXPLICIT", explicit_paddings=pads))
    grouped = tf.constant(d.floats(3, 3, 2, 6) * 0.3)
    d.give("groups", raw.Conv2D(input=x, filter=grouped, strides=[1] * 4, padding="SAME"))
    deep = tf.constant(d.floats(3, 3, 4, 2) * 0.3)
    d.give("depthwise", raw.DepthwiseConv2dNative(input=x, filter=deep, strides=[1, 2, 2, 1], padding="SAME"))
    d.give(
        "depthwise_dilated",
        raw.DepthwiseConv2dNative(input=x, filter=deep, strides=[1] * 4, padding="VALID", dilations=[1, 2, 2, 1]),
    )
    back = tf.constant(d.floats(3, 4, 3, 4) * 0.3)
    for name, size, stride, way in (
        ("back_same", (12, 10), 2, "SAME"), ("back_odd", (11, 9), 2, "SAME"), ("back_valid", (14, 13), 2, "VALID"),
        ("back_plain", (6, 5), 1, "SAME"), ("back_wide", (30, 27), 5, "VALID"),
    ):  # fmt: skip
        given = raw.Conv2DBackpropInput(
            input_sizes=[1, *size, 3], filter=back, out_backprop=x, strides=[1, stride, stride, 1], padding=way
        )
        d.give(name, given)
    v = d.feed("v", d.floats(1, 3, 4, 5, 2))
    k = tf.constant(d.floats(2, 3, 3, 2, 3) * 0.3)
    d.give("volume", raw.Conv3D(input=v, filter=k, strides=[1, 1, 2, 2, 1], padding="SAME"))
    d.give("volume_valid", raw.Conv3D(input=v, filter=k, strides=[1] * 5, padding="VALID"))
    kb = tf.constant(d.floats(2, 3, 3, 3, 2) * 0.3)
    d.give(
        "volume_back",
        raw.Conv3DBackpropInputV2(
            input_sizes=[1, 6, 8, 9, 3], filter=kb, out_backprop=v, strides=[1, 2, 2, 2, 1], padding="SAME"
        ),
    )


@family
def channels_first(d: Drawing) -> None:
    """Images whose channels come first. TensorFlow computes them with the channels last."""
    x, w = d.feed("x", d.floats(1, 6, 5, 4)), tf.constant(d.floats(3, 2, 4, 3) * 0.3)
    d.give("conv", d.of_images(raw.Conv2D, x, input=x, filter=w, strides=[1, 2, 1, 1], padding="SAME"))
    dilated = {"strides": [1] * 4, "padding": "VALID", "dilations": [1, 2, 3, 1]}
    d.give("dilated", d.of_images(raw.Conv2D, x, input=x, filter=w, **dilated))
    pads = [0, 0, 2, 1, 0, 3, 0, 0] if d.layout == "NHWC" else [0, 0, 0, 0, 2, 1, 0, 3]
    explicit = {"strides": [1] * 4, "padding": "EXPLICIT", "explicit_paddings": pads}
    d.give("explicit", d.of_images(raw.Conv2D, x, input=x, filter=w, **explicit))
    deep = {"filter": tf.constant(d.floats(3, 3, 4, 2) * 0.3), "strides": [1, 2, 2, 1], "padding": "SAME"}
    d.give("depthwise", d.of_images(raw.DepthwiseConv2dNative, x, input=x, **deep))
    back = {"filter": tf.constant(d.floats(3, 4, 3, 4) * 0.3), "strides": [1, 2, 2, 1], "padding": "SAME"}
    size = tf.constant(d.axes([1, 11, 9, 3]))
    d.give("back", d.of_images(raw.Conv2DBackpropInput, x, input_sizes=size, out_backprop=x, **back))
    windows = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "padding": "SAME"}
    d.give("max", d.of_images(raw.MaxPool, x, input=x, **windows))
    d.give("mean", d.of_images(raw.AvgPool, x, value=x, **windows))
    numbers = {name: tf.constant(d.floats(4, low=0.3)) for name in ("scale", "offset", "mean", "variance")}
    d.give("norm", d.of_images(raw.FusedBatchNormV3, x, x=x, **numbers, is_training=False))
    d.give("bias", d.of_images(raw.BiasAdd, x, value=x, bias=tf.constant(d.floats(4))))
    even = x[:, :, :4]
    d.give("blocks", d.of_images(raw.SpaceToDepth, even, input=even, block_size=2))
    d.give("pixels", d.of_images(raw.DepthToSpace, x, input=x, block_size=2))


@family
def normalisations(d: Drawing) -> None:
    """Pools, normalisations, biases, softmax, losses."""
    x = d.feed("x", d.floats(2, 7, 8, 3))
    for way in ("SAME", "VALID"):
        d.give(f"max_{way}", raw.MaxPool(input=x, ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding=way))
        d.give(f"mean_{way}", raw.AvgPool(value=x, ksize=[1, 3, 3, 1], strides=[1, 2, 1, 1], padding=way))
    d.give("max_v2", raw.MaxPoolV2(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"))
    v = d.feed("v", d.floats(1, 5, 6, 4, 2))
    d.give("max_volume", raw.MaxPool3D(input=v, ksize=[1, 2, 3, 2, 1], strides=[1, 2, 2, 2, 1], padding="SAME"))
    d.give("mean_volume", raw.AvgPool3D(input=v, ksize=[1, 2, 3, 2, 1], strides=[1, 2, 2, 1, 1], padding="SAME"))
    scale, offset, mean = (tf.constant(d.floats(3)) for _ in range(3))
    variance = tf.constant(d.floats(3, low=0.3))
    for version, op in (("1", raw.FusedBatchNorm), ("2", raw.FusedBatchNormV2), ("3", raw.FusedBatchNormV3)):
        made = op(x=x, scale=scale, offset=offset, mean=mean, variance=variance, epsilon=0.01, is_training=False)
        d.give(f"norm{version}", made[0])
    empty = tf.constant(np.zeros(0, np.float32))
    made = raw.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=empty, variance=empty, is_training=True)
    d.give("norm_training", made[0], made[1], made[2])
    bias = tf.constant(d.floats(3))
    d.give("bias", raw.BiasAdd(value=x, bias=bias))
    d.give("bias_nchw", raw.BiasAdd(value=x, bias=tf.constant(d.floats(7)), data_format="NCHW"))
    d.give("bias_v1", raw.BiasAddV1(value=x[:1], bias=bias))
    d.give("response", raw.LRN(input=x, depth_radius=1, bias=1.5, alpha=0.3, beta=0.6))
    rows = d.feed("rows", d.floats(4, 6))
    d.give("softmax", raw.Softmax(logits=rows))
    d.give("log_softmax", raw.LogSoftmax(logits=x))
    d.give("half_squares", raw.L2Loss(t=rows))
    labels = tf.constant(np.eye(6, dtype=np.float32)[:4])
    d.give("entropy", *raw.SoftmaxCrossEntropyWithLogits(features=rows, labels=labels))
    sparse = tf.constant([1, 0, 5, 2])
    d.give("sparse_entropy", *raw.SparseSoftmaxCrossEntropyWithLogits(features=rows, labels=sparse))


@family
def unary(d: Drawing) -> None:
    """Functions of one tensor."""
    x, positive = d.feed("x", d.floats(3, 5)), d.feed("positive", d.floats(3, 5, low=0.1))
    inner, above = d.feed("inner", d.floats(3, 5, low=-0.9, high=0.9)), d.feed("above", d.floats(7, low=1.1, high=4.0))
    whole, flags = d.feed("whole", d.ints(7)), d.feed("flags", d.ints(6, low=0, high=2, dtype="bool"))
    odd = d.feed("odd", np.asarray([0.5, 1.5, -2.5, np.inf, -np.inf, np.nan, -0.0, 0.0], np.float32))
    for name in ("Abs Atan Ceil Cos Cosh Erf Erfc Exp Expm1 Floor Neg Rint Round Sigmoid Sign Sin Sinh Square Tan Tanh "
                 "Asinh").split():  # fmt: skip
        d.give(name, getattr(raw, name)(x=x))
    for name in "Lgamma Digamma Log Log1p Rsqrt Sqrt Inv Reciprocal".split():
        d.give(name, getattr(raw, name)(x=positive))
    for name in "Acos Asin Atanh Erfinv".split():
        d.give(name, getattr(raw, name)(x=inner))
    d.give("Acosh", raw.Acosh(x=above))
    for name in "Relu Relu6 Elu Selu Softplus Softsign LeakyRelu".split():
        d.give(name, getattr(raw, name)(features=x))
    d.give("leaky", raw.LeakyRelu(features=x, alpha=0.3))
    for name in "IsFinite IsInf IsNan Round".split():
        d.give(f"{name}_odd", getattr(raw, name)(x=odd))
    d.give("relu_odd", raw.Relu(features=odd))
    d.give("abs_whole", raw.Abs(x=whole))
    d.give("neg_whole", raw.Neg(x=whole))
    d.give("sign_whole", raw.Sign(x=whole))
    d.give("square_whole", raw.Square(x=whole))
    d.give("invert", raw.Invert(x=whole))
    d.give("not", raw.LogicalNot(x=flags))
    d.give("cast", raw.Cast(x=x, DstT=tf.int32), raw.Cast(x=whole, DstT=tf.float32), raw.Cast(x=flags, DstT=tf.int64))
    d.give("cast_bool", raw.Cast(x=whole, DstT=tf.bool))
    d.give("bits", raw.Bitcast(input=x, type=tf.int32))
    with tf.control_dependencies([raw.Assert(condition=True, data=["fine"]), raw.NoOp()]):
        held = raw.CheckNumericsV2(tensor=raw.CheckNumerics(tensor=x, message="no"), message="no")
    held = raw.EnsureShape(input=raw.PreventGradient(input=held), shape=[3, None])
    d.give("same", raw.StopGradient(input=raw.Snapshot(input=held)))
    d.give("several", *raw.IdentityN(input=[x, whole]))
    for bits, narrow in ((8, False), (4, True)):
        quantised = raw.FakeQuantWithMinMaxArgs(inputs=x, min=-1.3, max=1.9, num_bits=bits, narrow_range=narrow)
        d.give(f"quantised{bits}", quantised)
    d.give("quantised_vars", raw.FakeQuantWithMinMaxVars(inputs=x, min=0.25, max=1.5))
    low, high = tf.constant(d.floats(5, low=-2, high=-0.5)), tf.constant(d.floats(5, low=0.5))
    d.give("quantised_channels", raw.FakeQuantWithMinMaxVarsPerChannel(inputs=x, min=low, max=high))


@family
def binary(d: Drawing) -> None:
    """Arithmetic, comparisons, choices."""
    x, y = d.feed("x", d.floats(3, 1, 5)), d.feed("y", d.floats(4, 5))
    i, j = d.feed("i", d.ints(3, 5)), d.feed("j", d.ints(5, low=1) * np.asarray([1, -1, 1, -1, 1], np.int32))
    for name in ("Add AddV2 Sub Mul Maximum Minimum RealDiv Div FloorDiv FloorMod Mod SquaredDifference Atan2 Equal "
                 "NotEqual Less LessEqual Greater GreaterEqual").split():  # fmt: skip
        d.give(name, getattr(raw, name)(x=x, y=y))
    for name in ("Add Sub Mul Maximum Minimum FloorDiv FloorMod TruncateDiv TruncateMod Mod Div BitwiseAnd BitwiseOr "
                 "BitwiseXor Equal Less SquaredDifference").split():  # fmt: skip
        d.give(f"{name}_whole", getattr(raw, name)(x=i, y=j))
    d.give("power", raw.Pow(x=tf.constant(d.floats(5, low=0.1)), y=x))
    few = tf.constant([0, 1, 2, 3, 4])
    d.give("left", raw.LeftShift(x=i, y=few))
    d.give("right", raw.RightShift(x=i, y=few))
    zeros = d.feed("zeros", np.asarray([0, 2, 0, -3, 1], np.float32))
    d.give("div_no_nan", raw.DivNoNan(x=y, y=zeros))
    d.give("mul_no_nan", raw.MulNoNan(x=y, y=zeros))
    positive = tf.constant(d.floats(5, low=0.1))
    d.give("xdivy", raw.Xdivy(x=zeros, y=positive))
    d.give("xlogy", raw.Xlogy(x=zeros, y=positive))
    d.give("xlog1py", raw.Xlog1py(x=zeros, y=positive))
    a, c = raw.Less(x=x, y=y), raw.Greater(x=y, y=0.5)
    d.give("and", raw.LogicalAnd(x=a, y=c))
    d.give("or", raw.LogicalOr(x=a, y=c))
    d.give("near", raw.ApproximateEqual(x=y, y=raw.AddV2(x=y, y=tf.constant(d.floats(4, 5) * 0.2)), tolerance=0.2))
    d.give("select_v2", raw.SelectV2(condition=a, t=x, e=y))
    rows = raw.Greater(x=tf.constant(d.floats(4)), y=0.0)
    d.give("select_rows", raw.Select(condition=rows, x=y, y=tf.constant(d.floats(4, 5))))
    d.give("select", raw.Select(condition=c, x=y, y=tf.constant(d.floats(4, 5))))
    d.give("clipped", raw.ClipByValue(t=y, clip_value_min=-0.5, clip_value_max=0.75))
    d.give("sum", raw.AddN(inputs=[y, y, tf.constant(d.floats(4, 5))]))
    d.give("accumulated", raw.AccumulateNV2(inputs=[y, y], shape=[4, 5]))


@family
def reductions(d: Drawing) -> None:
    """Reductions, running sums, products of matrices."""
    x, i = d.feed("x", d.floats(2, 3, 4)), d.feed("i", d.ints(2, 3, 4))
    flags = raw.Greater(x=x, y=-1.2)
    for name in "Sum Mean Max Min Prod EuclideanNorm".split():
        d.give(name, getattr(raw, name)(input=x, axis=[0, -1], keep_dims=True))
        d.give(f"{name}_last", getattr(raw, name)(input=x, axis=2))
    for name in "Sum Mean Max Min Prod".split():
        d.give(f"{name}_whole", getattr(raw, name)(input=i, axis=[1]))
    d.give("none", raw.Sum(input=x, axis=tf.constant([], tf.int32)))
    d.give("everything", raw.Mean(input=x, axis=[0, 1, 2]))
    d.give("all", raw.All(input=flags, axis=[1]))
    d.give("any", raw.Any(input=flags, axis=[0, 2], keep_dims=True))
    d.give("argmax", raw.ArgMax(input=x, dimension=1), raw.ArgMax(input=i, dimension=-1, output_type=tf.int32))
    d.give("argmin", raw.ArgMin(input=x, dimension=0))
    for exclusive in (False, True):
        for reverse in (False, True):
            name = f"{int(exclusive)}{int(reverse)}"
            d.give(f"cumsum{name}", raw.Cumsum(x=x, axis=1, exclusive=exclusive, reverse=reverse))
            d.give(f"cumprod{name}", raw.Cumprod(x=x, axis=-1, exclusive=exclusive, reverse=reverse))
    a, w = d.feed("a", d.floats(4, 5)), tf.constant(d.floats(5, 3))
    d.give("matmul", raw.MatMul(a=a, b=w))
    d.give("matmul_t", raw.MatMul(a=a, b=tf.constant(d.floats(4, 3)), transpose_a=True))
    d.give("matmul_tt", raw.MatMul(a=a, b=tf.constant(d.floats(3, 4)), transpose_a=True, transpose_b=True))
    s, t = d.feed("s", d.floats(2, 1, 3, 4)), d.feed("t", d.floats(5, 4, 6))
    d.give("stacks", raw.BatchMatMulV2(x=s, y=t))
    d.give("stacks_t", raw.BatchMatMulV2(x=s, y=tf.constant(d.floats(2, 5, 6, 3)), adj_x=True, adj_y=True))
    d.give("stack", raw.BatchMatMul(x=x, y=tf.constant(d.floats(2, 4, 2))))
    d.give("stack_v3", raw.BatchMatMulV3(x=x, y=tf.constant(d.floats(2, 4, 2)), Tout=tf.float32))
    d.give("einsum", raw.Einsum(inputs=[x, tf.constant(d.floats(4, 3, 5))], equation="abc,cbd->adb"))
    d.give("einsum_dots", raw.Einsum(inputs=[s, t], equation="...ij,...jk->...ik"))


@family
def shapes(d: Drawing) -> None:
    """Views, joins, cuts, padding, blocks."""
    x, i = d.feed("x", d.floats(2, 3, 4)), d.feed("i", d.ints(6))
    d.give("shape", raw.Shape(input=x), raw.Shape(input=x, out_type=tf.int64), raw.Size(input=x), raw.Rank(input=x))
    d.give("shapes", *raw.ShapeN(input=[x, x[0]]))
    d.give("reshape", raw.Reshape(tensor=x, shape=[4, -1]))
    computed = raw.Pack(values=[raw.Mul(x=raw.Size(input=i), y=2), -1])
    d.give("reshape_computed", raw.Reshape(tensor=x, shape=computed))
    one = raw.Reshape(tensor=x, shape=[1, 6, 1, 4])
    d.give("squeeze", raw.Squeeze(input=one), raw.Squeeze(input=one, axis=[-2]))
    d.give("expand", raw.ExpandDims(input=x, axis=1), raw.ExpandDims(input=x, axis=-1))
    d.give("transpose", raw.Transpose(x=x, perm=[2, 0, 1]), raw.ConjugateTranspose(x=x, perm=[1, 0, 2]))
    d.give("broadcast", raw.BroadcastTo(input=one, shape=[3, 6, 2, 4]))
    d.give("broadcast_args", raw.BroadcastArgs(s0=[3, 1], s1=[2, 1, 5]))
    y = tf.constant(d.floats(2, 3, 4))
    d.give("pack", raw.Pack(values=[x, y], axis=1), raw.Pack(values=[x, y], axis=-1))
    d.give("unpack", *raw.Unpack(value=x, num=3, axis=1))
    d.give("concat", raw.ConcatV2(values=[x, y, x], axis=-1), raw.Concat(concat_dim=1, values=[x, y]))
    d.give("split", *raw.Split(axis=-1, value=x, num_split=2))
    d.give("split_sizes", *raw.SplitV(value=x, size_splits=[1, -1, 1], axis=2, num_split=3))
    d.give("slice", raw.Slice(input=x, begin=[0, 1, 2], size=[-1, 2, 1]))
    d.give("tile", raw.Tile(input=x, multiples=[2, 1, 3]))
    d.give("pad", raw.Pad(input=x, paddings=[[1, 0], [0, 2], [1, 1]]))
    d.give("pad_number", raw.PadV2(input=x, paddings=[[1, 0], [0, 2], [1, 1]], constant_values=1.5))
    d.give("pad_whole", raw.PadV2(input=i, paddings=[[1, 2]], constant_values=7))
    for way in ("REFLECT", "SYMMETRIC"):
        d.give(f"mirror_{way}", raw.MirrorPad(input=x, paddings=[[1, 0], [2, 1], [0, 3]], mode=way))
    d.give("reverse", raw.ReverseV2(tensor=x, axis=[0, -1]))
    lengths = tf.constant([1, 3])
    d.give("reverse_sequence", raw.ReverseSequence(input=x, seq_lengths=lengths, seq_dim=2, batch_dim=0))
    for number, index in enumerate(
        (
            np.s_[0], np.s_[..., 1], np.s_[:, None, 1:], np.s_[::-1, -1:-3:-1, ::2], np.s_[1:, ..., None, -1],
            np.s_[:, 2:1], np.s_[-1:, :-1, 3], np.s_[None, ..., 1:100:2], np.s_[5:, 0], np.s_[:, -100:2, ::-2],
        )
    ):  # fmt: skip
        d.give(f"index{number}", x[index])
    k = d.feed("k", np.asarray(-1, np.int32))
    d.give("index_at", x[k + 2], x[:, k], x[..., None, k], x[None, k, 1 + k])
    d.give("slice_at", tf.slice(x, [0, k + 2, 1 - k], [2, 2, 2]))
    d.give("range", raw.Range(start=1, limit=12, delta=3), raw.Range(start=2.0, limit=-1.0, delta=-0.5))
    d.give("line", raw.LinSpace(start=1.0, stop=2.5, num=4))
    d.give("fill", raw.Fill(dims=[2, 3], value=1.5), raw.Fill(dims=[2], value=raw.Max(input=i, axis=0)))
    d.give("like", raw.ZerosLike(x=i), raw.OnesLike(x=x))
    images = d.feed("images", d.floats(2, 4, 6, 4))
    d.give("space_to_depth", raw.SpaceToDepth(input=images, block_size=2))
    d.give("depth_to_space", raw.DepthToSpace(input=images, block_size=2))
    blocked = raw.SpaceToBatchND(input=images, block_shape=[2, 3], paddings=[[1, 1], [0, 3]])
    d.give("space_to_batch", blocked, raw.SpaceToBatch(input=images, paddings=[[0, 0], [1, 1]], block_size=2))
    d.give("batch_to_image", raw.BatchToSpace(input=blocked[:4], crops=[[0, 1], [1, 0]], block_size=2))
    d.give("batch_to_space", raw.BatchToSpaceND(input=blocked, block_shape=[2, 3], crops=[[1, 0], [2, 1]]))
    d.give("default", raw.PlaceholderWithDefault(input=y, shape=[2, 3, 4]))


@family
def indexing(d: Drawing) -> None:
    """Elements picked by places, scatters, the greatest, diagonals."""
    x, at = d.feed("x", d.floats(4, 3, 5)), d.feed("at", d.ints(2, 3, low=0, high=3))
    d.give("gather", raw.Gather(params=x, indices=at), raw.GatherV2(params=x, indices=at, axis=1))
    d.give("gather_batch", raw.GatherV2(params=x[:2], indices=at, axis=2, batch_dims=1))
    pairs = d.feed("pairs", d.ints(2, 4, 2, low=0, high=3))
    d.give("gather_nd", raw.GatherNd(params=x, indices=pairs))
    few = tf.constant(np.asarray([[0, 1], [3, 2], [1, 1]], np.int32))
    updates = tf.constant(d.floats(3, 5))
    for name in "Update Add Sub Max Min".split():
        op = getattr(raw, f"TensorScatter{name}")
        d.give(f"scatter_{name}", op(tensor=x, indices=few, updates=updates))
    d.give("scatter", raw.ScatterNd(indices=[[1], [3], [1]], updates=updates, shape=[5, 5]))
    sparse = raw.SparseToDense(
        sparse_indices=[[0, 1], [2, 0]], output_shape=[3, 2], sparse_values=[1.5, 2.5], default_value=-1.0
    )
    d.give("dense", sparse)
    d.give("one_hot", raw.OneHot(indices=at, depth=4, on_value=2.0, off_value=-1.0))
    d.give("one_hot_first", raw.OneHot(indices=at, depth=2, on_value=1, off_value=0, axis=0))
    d.give("top", *raw.TopKV2(input=x, k=3))
    d.give("where", raw.Where(condition=tf.constant([[True, False], [True, True]])))
    d.give("unique", *raw.Unique(x=[4, 1, 4, 2, 1]))
    d.give("inverse", raw.InvertPermutation(x=[3, 0, 2, 1]))
    d.give("unravel", raw.UnravelIndex(indices=[5, 11, 0], dims=[3, 4]))
    square = d.feed("square", d.floats(2, 4, 3))
    d.give("diagonal", raw.MatrixDiagPart(input=square), raw.MatrixDiag(diagonal=tf.constant(d.floats(2, 3))))
    d.give("set_diagonal", raw.MatrixSetDiag(input=square, diagonal=tf.constant(d.floats(2, 3))))
    d.give(
        "set_diagonals",
        raw.MatrixSetDiagV3(input=square, diagonal=tf.constant(d.floats(2, 2, 3)), k=[-1, 0], align="RIGHT_LEFT"),
    )
    d.give("gather_nd_batch", raw.GatherNd(params=x, indices=pairs[0, :, :1]), tf.gather_nd(x, at[:, :2], batch_dims=0))
    d.give("gather_nd_batches", tf.gather_nd(x, pairs[0][:, None], batch_dims=1))
    d.give("diagonals", tf.linalg.diag(tf.constant(d.floats(2, 3)), k=-1, padding_value=7.0))
    d.give("diagonals_of", tf.linalg.diag_part(square), tf.linalg.diag_part(square, k=1))
    d.give("diagonal_below", tf.linalg.diag_part(square, k=-2))
    row = tf.constant(d.floats(3))
    d.give("diagonal_v1", raw.Diag(diagonal=row), raw.DiagPart(input=square[0, :3]))
    sizes = {"k": 1, "num_rows": 3, "num_cols": 4, "padding_value": 0.0}
    d.give("diagonal_v2", raw.MatrixDiagV2(diagonal=row, **sizes))
    d.give("diagonal_part_v2", raw.MatrixDiagPartV2(input=square, k=-1, padding_value=0.0))
    d.give("set_diagonal_v2", raw.MatrixSetDiagV2(input=square[0], diagonal=row, k=-1))
    d.give("roll", raw.Roll(input=x, shift=[1, -2], axis=[0, 2]))
    for number, (lower, upper) in enumerate(((0, -1), (-1, 0), (1, 1))):
        d.give(f"band{number}", raw.MatrixBandPart(input=square, num_lower=lower, num_upper=upper))


@family
def counts(d: Drawing) -> None:
    """Sums by groups, counts, places among boundaries, products with sparse matrices."""
    x, i = d.feed("x", d.floats(6, 3)), d.feed("i", d.ints(7, low=0, high=6))
    d.give("bucket", raw.Bucketize(input=x, boundaries=[-1.0, 0.0, 0.5]))
    rows = tf.constant(np.sort(d.floats(2, 5), axis=1))
    d.give("bounds", raw.LowerBound(sorted_inputs=rows, values=x[:2]), raw.UpperBound(sorted_inputs=rows, values=x[:2]))
    groups = d.feed("groups", np.asarray([2, 0, -1, 2, 1, 0], np.int32))
    d.give("groups_sum", raw.UnsortedSegmentSum(data=x, segment_ids=groups, num_segments=4))
    d.give("groups_product", raw.UnsortedSegmentProd(data=x, segment_ids=groups, num_segments=4))
    for name in "Sum Mean Max Min Prod".split():
        d.give(f"segment_{name}", getattr(raw, f"Segment{name}")(data=x, segment_ids=[0, 0, 1, 1, 1, 3]))
    for name in "Sum Mean SqrtN".split():
        op = getattr(raw, f"SparseSegment{name}")
        d.give(f"sparse_{name}", op(data=x, indices=[5, 0, 0, 3], segment_ids=[0, 1, 1, 3]))
    none = tf.constant([], tf.float32)
    d.give("counted", raw.DenseBincount(input=i, size=5, weights=none))
    d.give("weighed", raw.DenseBincount(input=i, size=6, weights=tf.constant(d.floats(7))))
    d.give("counted_v1", raw.Bincount(arr=i, size=5, weights=none))
    pairs = tf.reshape(i[:6], [2, 3])
    d.give("occurring", raw.DenseBincount(input=pairs, size=4, weights=none, binary_output=True))
    places = tf.constant(np.asarray([[0, 1], [1, 3], [2, 0]], np.int64))
    sparse = raw.SparseTensorDenseMatMul(
        a_indices=places, a_values=tf.constant(d.floats(3)), a_shape=tf.constant([3, 6], tf.int64), b=x
    )
    d.give("sparse", sparse)
    d.give("unique", *raw.UniqueWithCounts(x=[4, 1, 4, 2, 1, 4]))


@family
def images(d: Drawing) -> None:
    """Images of other sizes, pieces of them, boxes."""
    x = d.feed("x", d.floats(1, 5, 6, 2))
    for number, size in enumerate(([7, 9], [3, 4])):
        for name, op in (
            ("linear", raw.ResizeBilinear), ("nearest", raw.ResizeNearestNeighbor), ("cubic", raw.ResizeBicubic)
        ):  # fmt: skip
            for corners, centres in ((False, False), (True, False), (False, True)):
                given = op(images=x, size=size, align_corners=corners, half_pixel_centers=centres)
                d.give(f"{name}{number}{int(corners)}{int(centres)}", given)
    whole = d.feed("whole", d.ints(1, 4, 4, 2, low=0, high=255, dtype="uint8"))
    d.give("linear_bytes", raw.ResizeBilinear(images=whole, size=[6, 6]))
    d.give("nearest_bytes", raw.ResizeNearestNeighbor(images=whole, size=[6, 3]))
    boxes = tf.constant(np.asarray([[0, 0, 1, 1], [0.2, 0.12, 0.7, 1.3], [0.9, 0.8, 0.1, 0.2]], np.float32))
    for method in ("bilinear", "nearest"):
        crops = raw.CropAndResize(
            image=x, boxes=boxes, box_ind=[0, 0, 0], crop_size=[3, 4], method=method, extrapolation_value=0.5
        )
        d.give(f"crops_{method}", crops)
    element = tf.constant(d.floats(2, 3, 2))
    grown = raw.Dilation2D(input=x, filter=element, strides=[1, 1, 2, 1], rates=[1, 2, 1, 1], padding="SAME")
    d.give("dilation", grown)
    corners = d.rng.uniform(0, 1, (12, 2, 2)).astype(np.float32)
    places = d.feed("boxes", np.concatenate([corners.min(1), corners.max(1) + 0.3], 1))
    scores = d.feed("scores", d.floats(12))
    for most in (5, 20):
        kept = raw.NonMaxSuppressionV4(
            boxes=places, scores=scores, max_output_size=most, iou_threshold=0.3, score_threshold=-1.5,
            pad_to_max_output_size=True,
        )  # fmt: skip
        d.give(f"kept{most}", *kept)
    kept = raw.NonMaxSuppressionV5(
        boxes=places, scores=scores, max_output_size=4, iou_threshold=0.4, score_threshold=0.1, soft_nms_sigma=0.0,
        pad_to_max_output_size=True,
    )  # fmt: skip
    d.give("kept_scores", *kept)
    for most, clip in ((4, True), (30, False)):
        combined = raw.CombinedNonMaxSuppression(
            boxes=tf.reshape(places, [2, 6, 1, 4]), scores=tf.constant(d.floats(2, 6, 3, low=0.0, high=1.0)),
            max_output_size_per_class=3, max_total_size=most, iou_threshold=0.3, score_threshold=0.2, clip_boxes=clip,
        )  # fmt: skip
        d.give(f"combined{most}", *combined)
    fixed = tf.constant(np.asarray([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [2, 2, 3, 3]], np.float32))
    known = {"boxes": fixed, "scores": [0.5, 0.9, 0.3], "max_output_size": 3, "iou_threshold": 0.5}
    d.give("kept_known", raw.NonMaxSuppressionV3(**known, score_threshold=0.4))
    d.give("kept_v1", raw.NonMaxSuppression(**known), raw.NonMaxSuppressionV2(**known))


@family
def recurrent(d: Drawing) -> None:
    """Cells of LSTM and GRU, a whole sequence."""
    x, cell, h = d.feed("x", d.floats(2, 3)), d.feed("cell", d.floats(2, 4)), d.feed("h", d.floats(2, 4))
    w, bias = tf.constant(d.floats(7, 16) * 0.4), tf.constant(d.floats(16) * 0.2)
    peepholes = [tf.constant(d.floats(4) * 0.3) for _ in range(3)]
    for use in (False, True):
        made = raw.LSTMBlockCell(
            x=x, cs_prev=cell, h_prev=h, w=w, wci=peepholes[0], wcf=peepholes[1], wco=peepholes[2], b=bias,
            forget_bias=0.7, cell_clip=1.2, use_peephole=use,
        )  # fmt: skip
        d.give(f"cell{int(use)}", *made)
    steps = d.feed("steps", d.floats(5, 2, 3))
    made = raw.BlockLSTM(
        seq_len_max=tf.constant(4, tf.int64), x=steps, cs_prev=cell, h_prev=h, w=w, wci=peepholes[0], wcf=peepholes[1],
        wco=peepholes[2], b=bias, cell_clip=-1.0,
    )  # fmt: skip
    d.give("sequence", made[1], made[6])
    made = raw.BlockLSTMV2(
        seq_len_max=tf.constant(5, tf.int64), x=steps, cs_prev=cell, h_prev=h, w=w, wci=peepholes[0], wcf=peepholes[1],
        wco=peepholes[2], b=bias,
    )  # fmt: skip
    d.give("sequence_v2", made[1], made[6])
    made = raw.GRUBlockCell(
        x=x, h_prev=h, w_ru=tf.constant(d.floats(7, 8) * 0.4), w_c=tf.constant(d.floats(7, 4) * 0.4),
        b_ru=tf.constant(d.floats(8)), b_c=tf.constant(d.floats(4)),
    )  # fmt: skip
    d.give("gru", *made)
