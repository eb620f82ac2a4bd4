"""Programs as people write them in JAX: a function of `jax` and a generator that gives a function and its arguments."""

# pyright: basic

from __future__ import annotations

import numpy as np


def weights(random, *shape, scale=None):
    """Random weights whose products keep the size of what they multiply."""
    fan = np.prod(shape[:-1]) if len(shape) > 1 else 1
    return (random.normal(size=shape) * (scale or fan**-0.5)).astype(np.float32)


def mlp(jax, random):
    jnp = jax.numpy
    layers = [(weights(random, a, b), weights(random, b, scale=0.1)) for a, b in ((8, 16), (16, 16), (16, 4))]

    def run(layers, x):
        for w, b in layers[:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = layers[-1]
        return jax.nn.softmax(jnp.dot(x, w) + b)

    return run, layers, weights(random, 3, 8, scale=1)


def cnn(jax, random):
    lax = jax.lax
    params = [weights(random, 3, 3, 3, 8), weights(random, 3, 3, 8, 8), weights(random, 8 * 16, 5)]

    def run(params, x):
        for w in params[:2]:
            x = jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
            x = lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return jax.nn.log_softmax(x.reshape(x.shape[0], -1) @ params[2])

    return run, params, weights(random, 2, 16, 16, 3, scale=1)


def norm(jax, x, p):
    """Batch normalisation by stored moments."""
    scale, shift, mean, variance = p
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift


def resnet(jax, random):
    lax = jax.lax

    def moments(n):
        return (
            weights(random, n, scale=0.1) + np.float32(1), weights(random, n, scale=0.1), weights(random, n, scale=0.1),
            np.abs(weights(random, n, scale=0.1)) + np.float32(1),
        )  # fmt: skip

    blocks = []
    channels = 8
    for wide, stride in ((8, 1), (16, 2)):
        block = {"a": weights(random, 3, 3, channels, wide), "b": weights(random, 3, 3, wide, wide)}
        block |= {"na": moments(wide), "nb": moments(wide)}
        if stride != 1:
            block["skip"] = weights(random, 1, 1, channels, wide)
        blocks.append(block)
        channels = wide
    params = {"stem": weights(random, 7, 7, 3, 8), "blocks": blocks, "head": weights(random, 16, 10)}

    def conv(x, w, stride):
        return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def run(params, x):
        x = jax.nn.relu(conv(x, params["stem"], 2))
        x = lax.reduce_window(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        for block, stride in zip(params["blocks"], (1, 2), strict=True):
            y = jax.nn.relu(norm(jax, conv(x, block["a"], stride), block["na"]))
            y = norm(jax, conv(y, block["b"], 1), block["nb"])
            skip = conv(x, block["skip"], stride) if "skip" in block else x
            x = jax.nn.relu(y + skip)
        return x.mean((1, 2)) @ params["head"]

    return run, params, weights(random, 1, 32, 32, 3, scale=1)


def layer_norm(jax, x, p):
    """Layer normalisation."""
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-6) * p[0] + p[1]


def attention(jax, x, p, heads, mask=None):
    """Attention of several heads."""
    jnp = jax.numpy
    batch, length, width = x.shape
    q, k, v = (y.reshape(batch, length, heads, width // heads) for y in jnp.split(x @ p["qkv"], 3, -1))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(width // heads).astype(np.float32)
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape) @ p["out"]


def block_weights(random, width):
    ones = np.ones(width, np.float32)
    return {
        "n1": (ones, weights(random, width, scale=0.1)), "n2": (ones, weights(random, width, scale=0.1)),
        "qkv": weights(random, width, 3 * width), "out": weights(random, width, width),
        "up": weights(random, width, 4 * width), "down": weights(random, 4 * width, width),
    }  # fmt: skip


def transformer_block(jax, x, p, heads, mask=None):
    """A block of a transformer, normalised first."""
    x = x + attention(jax, layer_norm(jax, x, p["n1"]), p, heads, mask)
    return x + jax.nn.gelu(layer_norm(jax, x, p["n2"]) @ p["up"]) @ p["down"]


def vit(jax, random):
    jnp = jax.numpy
    width = 32
    params = {"patch": weights(random, 4 * 4 * 3, width), "cls": weights(random, 1, 1, width, scale=0.1),
              "at": weights(random, 1, 17, width, scale=0.1),
              "blocks": [block_weights(random, width) for _ in range(2)],
              "head": weights(random, width, 10)}  # fmt: skip

    def run(params, x):
        n = x.shape[0]
        x = x.reshape(n, 4, 4, 4, 4, 3).transpose(0, 1, 3, 2, 4, 5).reshape(n, 16, 48) @ params["patch"]
        x = jnp.concatenate([jnp.broadcast_to(params["cls"], (n, 1, width)), x], 1) + params["at"]
        for p in params["blocks"]:
            x = transformer_block(jax, x, p, 4)
        return x[:, 0] @ params["head"]

    return run, params, weights(random, 2, 16, 16, 3, scale=1)


def gpt(jax, random):
    jnp = jax.numpy
    params = {"embed": weights(random, 50, 32, scale=0.3), "at": weights(random, 12, 32, scale=0.1),
              "blocks": [block_weights(random, 32)]}  # fmt: skip

    def run(params, tokens):
        length = tokens.shape[1]
        x = params["embed"][tokens] + params["at"][:length]
        mask = jnp.tril(jnp.ones((length, length), bool))
        for p in params["blocks"]:
            x = transformer_block(jax, x, p, 4, mask)
        return x @ params["embed"].T

    return run, params, random.integers(0, 50, (2, 12)).astype(np.int32)


def lstm(jax, random):
    jnp = jax.numpy
    params = (weights(random, 6, 32), weights(random, 8, 32), weights(random, 32, scale=0.1))

    def run(params, xs):
        wx, wh, b = params

        def step(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ wx + h @ wh + b, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        start = (jnp.zeros((2, 8)), jnp.zeros((2, 8)))
        return jax.lax.scan(step, start, xs)

    return run, params, weights(random, 10, 2, 6, scale=1)


def gather_scatter(jax, random):
    jnp = jax.numpy

    def run(nodes, edges, weight):
        sent = nodes[edges[0]] * weight[:, None]
        summed = jnp.zeros_like(nodes).at[edges[1]].add(sent)
        largest = jnp.full(nodes.shape, -jnp.inf).at[edges[1]].max(sent)
        count = jax.ops.segment_sum(jnp.ones(edges.shape[1]), edges[1], nodes.shape[0])
        return summed / jnp.maximum(count, 1)[:, None], jnp.where(jnp.isfinite(largest), largest, 0)

    return (
        run,
        weights(random, 10, 4, scale=1),
        random.integers(0, 10, (2, 30)).astype(np.int32),
        weights(random, 30, scale=1),
    )


def statistics(jax, random):
    jnp = jax.numpy

    def run(x):
        order = jnp.argsort(x, 1)
        ranked = jnp.take_along_axis(x, order, 1)
        z = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
        return x.sum(), x.argmax(1), ranked, jnp.cov(x), jnp.cumsum(z, 1), jnp.median(x, 1), jax.lax.top_k(x, 3)

    return run, weights(random, 5, 16, scale=1)


def newton(jax, random):
    jnp = jax.numpy

    def run(a):
        def going(state):
            x, error, n = state
            return (error > 1e-6) & (n < 50)

        def step(state):
            x, _, n = state
            new = x - (x**3 - a) / (3 * x**2)
            return new, jnp.abs(new - x).max(), n + 1

        return jax.lax.while_loop(going, step, (jnp.ones_like(a), jnp.float32(1), 0))

    return run, np.abs(weights(random, 6, scale=1)) + np.float32(0.5)


def custom_gradient(jax, random):
    jnp = jax.numpy

    @jax.custom_vjp
    def clipped(x):
        return jnp.exp(x)

    def forward(x):
        y = jnp.exp(x)
        return y, y

    def backward(y, dy):
        return (jnp.clip(dy * y, -1, 1),)

    clipped.defvjp(forward, backward)

    @jax.custom_jvp
    def log1pexp(x):
        return jnp.log(1 + jnp.exp(x))

    @log1pexp.defjvp
    def _(primals, tangents):
        (x,), (dx,) = primals, tangents
        return log1pexp(x), dx * (1 - 1 / (1 + jnp.exp(x)))

    def run(x):
        return jax.value_and_grad(lambda v: (clipped(v) * 3 + log1pexp(v)).sum())(x)

    return run, weights(random, 4, 6, scale=1)


def training_step(jax, random):
    jnp = jax.numpy
    predict, layers, _ = mlp(jax, random)
    state = ([(np.zeros_like(w), np.zeros_like(b)) for w, b in layers],) * 2

    def loss(layers, x, y):
        return -(jnp.log(predict(layers, x) + 1e-7) * y).sum(-1).mean()

    def run(layers, state, step, x, y):
        value, gradient = jax.value_and_grad(loss)(layers, x, y)
        first = jax.tree_util.tree_map(lambda m, g: 0.9 * m + 0.1 * g, state[0], gradient)
        second = jax.tree_util.tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, state[1], gradient)

        def update(w, m, v):
            return w - 1e-2 * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.999**step)) + 1e-8)

        return value, jax.tree_util.tree_map(update, layers, first, second), (first, second)

    y = np.eye(4, dtype=np.float32)[random.integers(0, 4, 16)]
    return run, layers, state, np.float32(1), weights(random, 16, 8, scale=1), y


PROGRAMS = {
    "mlp": mlp,
    "cnn": cnn,
    "resnet": resnet,
    "vit": vit,
    "gpt": gpt,
    "lstm": lstm,
    "gather_scatter": gather_scatter,
    "statistics": statistics,
    "newton": newton,
    "custom_gradient": custom_gradient,
    "training_step": training_step,
}
