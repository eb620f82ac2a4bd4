"""Functions of `jax.numpy`, `jax.lax` and `jax.nn` by Lamina and by jaxlib: one test for each."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import numpy as np
import pytest
from agreement import agree

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

RANDOM = np.random.default_rng(7)
V = RANDOM.normal(size=16).astype(np.float32)
M = RANDOM.normal(size=(6, 8)).astype(np.float32)
C = RANDOM.normal(size=(2, 3, 4, 5)).astype(np.float32)
P = np.abs(M) + 0.3
U = np.clip(M, -0.9, 0.9)
I = RANDOM.integers(-20, 20, (6, 8)).astype(np.int32)  # noqa: E741
N = RANDOM.integers(1, 9, (6, 8)).astype(np.int32)
B = M > 0
W = RANDOM.integers(0, 2**32, (6, 8), dtype=np.uint32)
K = np.asarray([3, 0, 5, 3], np.int32)

UNARY = {
    "abs": M, "cbrt": M, "ceil": M, "cos": M, "exp": M, "expm1": M, "floor": M, "log": P, "log1p": P, "logistic": M,
    "neg": M, "is_finite": M, "rsqrt": P, "sign": M, "sin": M, "sqrt": P, "tan": U, "tanh": M, "erf": M, "erfc": M,
    "erf_inv": U, "lgamma": P, "digamma": P, "acos": U, "asin": U, "atan": M, "sinh": M, "cosh": M, "asinh": M, 
    "acosh": P + 1, "atanh": U, "bitwise_not": I, "population_count": W, "clz": W, "exp2": M, "square": M,
    "bessel_i1e": M, "bessel_i0e": M,
}  # fmt: skip
BINARY = {
    "add": (M, P), "sub": (M, P), "mul": (M, P), "div": (M, P), "rem": (M, P), "max": (M, P), "min": (M, P),
    "pow": (P, M), "atan2": (M, P - 1), "bitwise_and": (I, N), "bitwise_or": (I, N), "bitwise_xor": (I, N),
    "shift_left": (I, N), "shift_right_arithmetic": (I, N), "shift_right_logical": (I, N), "nextafter": (M, P),
    "igamma": (P, P + 1), "zeta": (P + 1, P),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_function_of_one_operand(name, tmp_path) -> None:
    agree(jax, tmp_path, getattr(lax, name), UNARY[name], tolerance=1e-5)


@pytest.mark.parametrize("name", BINARY)
def test_function_of_two_operands(name, tmp_path) -> None:
    agree(jax, tmp_path, getattr(lax, name), *BINARY[name], tolerance=1e-5)


def body_pair(x):
    return lax.reduce((x, x * 2), (np.float32(0), np.float32(1)), lambda a, b: (a[0] + b[0], a[1] * b[1]), (1,))


FUNCTIONS = {
    "integers": lambda: (lambda a, b: (a // b, a % b, lax.div(a, b), lax.rem(a, b), a * b, abs(a), jnp.sign(a)), I, N),
    "booleans": lambda: (
        lambda a, b: (a & b, a | b, ~a, a ^ b, jnp.where(a, 1, 0), a + b, a * b, a < b, a.sum()),
        B,
        ~B,
    ),
    "rounding": lambda: (
        lambda x: (jnp.round(x * 3), lax.round(x * 4, lax.RoundingMethod.AWAY_FROM_ZERO), jnp.trunc(x)),
        M,
    ),
    "comparisons": lambda: (lambda x, y: (x < y, x >= y, x == y, x != y), M, P),
    "unsigned": lambda: (lambda x: (x >> 3, x << 5, x + x, x * x, x // 7, x.astype(np.float32), x > 77), W),
    "casts": lambda: (
        lambda x: (x.astype(np.int32), x.astype(np.float16), x.astype(jnp.bfloat16), x.astype(bool), x.astype(np.int8)),
        M,
    ),
    "bits": lambda: (lambda x: (lax.bitcast_convert_type(x, np.int32), lax.bitcast_convert_type(x, np.uint32)), M),
    "precision": lambda: (lambda x: (lax.reduce_precision(x, 5, 10), lax.reduce_precision(x, 8, 7)), M),
    "clip": lambda: (lambda x: (jnp.clip(x, -0.5, 0.5), lax.clamp(np.float32(0), x, np.float32(1))), M),
    "activations": lambda: (
        lambda x: [
            f(x)
            for f in (
                jax.nn.gelu,
                jax.nn.silu,
                jax.nn.softplus,
                jax.nn.elu,
                jax.nn.selu,
                jax.nn.relu6,
                jax.nn.log_softmax,
                jax.nn.softmax,
                jax.nn.leaky_relu,
                jax.nn.hard_swish,
                jax.nn.glu,
            )
        ],
        M,
    ),
    "gelu exact": lambda: (lambda x: jax.nn.gelu(x, approximate=False), M),
    "logsumexp": lambda: (
        lambda x: (jax.nn.logsumexp(x, 1), jax.nn.one_hot(jnp.argmax(x, 1), 8), jax.nn.standardize(x)),
        M,
    ),
    "shapes": lambda: (
        lambda x: (
            x.T,
            x.reshape(4, 12),
            x[::-1],
            jnp.flip(x),
            x[1:5:2, ::3],
            jnp.roll(x, 2, 1),
            jnp.tile(x, (2, 1)),
            jnp.repeat(x, 3, 0),
            jnp.stack([x, x], 1),
            jnp.concatenate([x, x], 1),
            jnp.squeeze(x[:, :1]),
            x[..., None],
        ),
        M,
    ),
    "pads": lambda: (
        lambda x: (
            jnp.pad(x, ((1, 2), (0, 3))),
            lax.pad(x, np.float32(2), ((1, -1, 2), (-2, 0, 0))),
            jnp.pad(x, 1, mode="edge"),
            jnp.pad(x, 2, mode="reflect"),
        ),
        M,
    ),
    "pad of a computed value": lambda: (
        lambda x, i: (lax.pad(x, x[0, 0], ((1, 0, 1), (0, 2, 0))), lax.pad(i > 0, False, ((1, 0, 0), (0, 2, 0)))),
        M,
        I,
    ),
    "iota": lambda: (
        lambda x: (
            lax.iota(np.int32, 7),
            lax.broadcasted_iota(np.float32, (3, 4), 1),
            jnp.eye(4) * x[0, 0],
            jnp.tril(x),
            jnp.triu(x, 1),
            jnp.linspace(0, 1, 5),
        ),
        M,
    ),
    "products": lambda: (
        lambda x, y: (
            x @ y.T,
            jnp.einsum("ij,kj->ik", x, y),
            jnp.einsum("ij,ij->i", x, y),
            jnp.outer(x[0], y[0]),
            jnp.dot(x[0], y[0]),
            jnp.tensordot(x, y, 2),
            jnp.einsum("ij,ij->", x, y),
            jnp.einsum("ij,kl->ijkl", x, y),
            x.T @ y,
        ),
        M,
        P,
    ),
    "batched products": lambda: (
        lambda x: (
            jnp.einsum("abcd,abed->abce", x, x),
            jnp.einsum("abcd,abcd->abd", x, x),
            jnp.einsum("abcd,aecd->abe", x, x),
            jnp.matmul(x, x.swapaxes(2, 3)),
            jnp.einsum("abcd,abce->bade", x, x),
        ),
        C,
    ),
    "narrow products": lambda: (
        lambda x, i: (
            x.astype(jnp.bfloat16) @ x.astype(jnp.bfloat16).T,
            i @ i.T,
            x.astype(np.float16) @ x.T.astype(np.float16),
        ),
        M,
        I,
    ),
    "reductions": lambda: (
        lambda x: (
            x.sum(),
            x.sum(1),
            x.mean(0),
            x.max(1),
            x.min(),
            x.prod(1),
            x.var(0),
            x.std(),
            jnp.ptp(x),
            (x > 0).all(1),
            (x > 1).any(0),
            jnp.cumsum(x, 1),
            jnp.cumprod(x, 0),
            jnp.linalg.norm(x),
        ),
        M,
    ),
    "integer reductions": lambda: (
        lambda x: (
            x.sum(),
            x.max(1),
            x.min(0),
            x.prod(1),
            jnp.cumsum(x, 0),
            lax.reduce_and(x, (0,)),
            lax.reduce_or(x, (1,)),
            lax.reduce_xor(x, (1,)),
        ),
        N,
    ),
    "argmax": lambda: (lambda x: (x.argmax(1), x.argmin(0), x.argmax(), jnp.argmax(x[0]), jnp.nanargmax(x, 0)), M),
    "argmax of integers": lambda: (lambda x: (x.argmax(1), x.argmin(0), x.argmax()), I),
    "cumulative": lambda: (
        lambda x: (lax.cummax(x, 0), lax.cummin(x, 1), lax.cumlogsumexp(x, 0), lax.cumsum(x, 1, reverse=True)),
        M,
    ),
    "pair of reductions": lambda: (body_pair, M),
    "pools": lambda: (
        lambda x: (
            lax.reduce_window(x, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
            lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 1, 2), "SAME"),
            lax.reduce_window(x, np.inf, lax.min, (1, 2, 2, 1), (1, 1, 1, 1), "SAME"),
            lax.reduce_window(x, 1.0, lax.mul, (1, 1, 2, 2), (1, 1, 1, 1), "VALID"),
            lax.reduce_window(
                x,
                0.0,
                lax.add,
                (2, 1, 2, 1),
                (1, 1, 1, 1),
                "VALID",
                base_dilation=(1, 1, 2, 1),
                window_dilation=(1, 1, 2, 1),
            ),
        ),
        C,
    ),
    "gradient of a pool": lambda: (
        jax.grad(lambda x: (lax.reduce_window(x, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 1), "SAME") ** 2).sum()),
        C,
    ),
    "gradient of a mean pool": lambda: (
        jax.grad(lambda x: (lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 2), (1, 1, 2, 1), "SAME") ** 2).sum()),
        C,
    ),
    "sorts": lambda: (
        lambda x: (
            jnp.sort(x, 1),
            jnp.argsort(x, 0),
            jnp.sort(x, 1, descending=True),
            jnp.argsort(x, 1, descending=True),
            jnp.sort(x.ravel()),
            jnp.median(x),
            jnp.quantile(x, 0.3),
        ),
        M,
    ),
    "sorts of pairs": lambda: (
        lambda x, i: (
            lax.sort((i, x), num_keys=1),
            lax.sort((i, x, i), dimension=0, num_keys=2),
            jnp.lexsort((x[0], i[0])),
            jnp.sort(i, 0),
        ),
        M,
        N,
    ),
    "top_k": lambda: (lambda x: (lax.top_k(x, 3), lax.top_k(-x, 1)), M),
    "searchsorted": lambda: (lambda x, y: (jnp.searchsorted(jnp.sort(x), y), jnp.digitize(y, jnp.sort(x))), V, M),
    "unique": lambda: (lambda x: jnp.unique(x, size=5), N),
    "take": lambda: (
        lambda x, k: (
            x[k],
            jnp.take(x, k, 1),
            x[:, k],
            x[k, k],
            x[k][:, k],
            x.at[k].get(mode="clip"),
            jnp.take_along_axis(x, jnp.argsort(x, 1), 1),
            x[k, 1:4],
        ),
        M,
        K,
    ),
    "take beyond the end": lambda: (
        lambda x, k: (x.at[k * 3].get(mode="fill", fill_value=-1), x.at[k * 3].get(mode="clip")),
        M,
        K,
    ),
    "batched take": lambda: (jax.vmap(lambda x, k: x[k]), M, np.asarray([1, 2, 0, 7, 3, 4], np.int32)),
    "windows that are taken": lambda: (jax.vmap(lambda k, x: lax.dynamic_slice(x, (k, 2), (2, 3)), (0, None)), K, M),
    "batched windows": lambda: (
        jax.vmap(lambda k, x: lax.dynamic_slice(x, (k,), (3,))),
        np.arange(6, dtype=np.int32),
        M,
    ),
    "scatter": lambda: (
        lambda x, k: (
            x.at[k].set(1.0),
            x.at[k].add(2.0),
            x.at[k, k].mul(3.0),
            x.at[:, k].min(0.0),
            x.at[2:4, 1].max(9.0),
            x.at[k[0]].set(0),
            x.at[k * 2].add(1.0, mode="drop"),
        ),
        M,
        K,
    ),
    "batched scatter": lambda: (jax.vmap(lambda x, k: x.at[k].add(1.0)), M, np.asarray([1, 2, 0, 7, 3, 4], np.int32)),
    "scattered windows": lambda: (
        jax.vmap(lambda k, x: lax.dynamic_update_slice(x, jnp.ones((2, 3)), (k, 2)), (0, None)),
        K,
        M,
    ),
    "bincount": lambda: (
        lambda i: (jnp.bincount(i.ravel(), length=10), jax.ops.segment_sum(i[0].astype(np.float32), i[1], 10)),
        N,
    ),
    "slices": lambda: (
        lambda x, k: (
            lax.dynamic_slice(x, (k[0], 1), (2, 4)),
            lax.dynamic_slice(x, (9, k[1]), (1, 8)),
            lax.dynamic_update_slice(x, jnp.ones((2, 3)), (k[2], k[0])),
            lax.dynamic_index_in_dim(x, k[0], 1),
            lax.dynamic_update_slice(x, jnp.ones((6, 1)), (0, 3)),
        ),
        M,
        K,
    ),
    "fori": lambda: (lambda x: lax.fori_loop(0, 5, lambda i, v: v * 0.5 + i, x), M),
    "long loop": lambda: (lambda x: lax.fori_loop(0, 3000, lambda i, v: v * 0.999 + 0.001 * i, x), V),
    "loop of unknown trips": lambda: (lambda x, n: lax.fori_loop(0, n, lambda i, v: v * 0.5 + i, x), V, np.int32(7)),
    "while": lambda: (
        lambda x: lax.while_loop(lambda s: s[0].sum() < 50, lambda s: (s[0] * 1.5 + 1, s[1] + 1), (x, 0)),
        V,
    ),
    "nested loops": lambda: (
        lambda x: lax.fori_loop(
            0, 3, lambda i, v: lax.while_loop(lambda s: s.sum() < 10 * (i + 1), lambda s: s + 0.7, v), x
        ),
        V,
    ),
    "scan": lambda: (lambda x: lax.scan(lambda c, r: (c + r, c * 2), jnp.zeros(8), x), M),
    "reverse scan": lambda: (lambda x: lax.scan(lambda c, r: (c * 0.5 + r, c), jnp.zeros(8), x, reverse=True), M),
    "associative scan": lambda: (lambda x: lax.associative_scan(jnp.add, x, axis=1), M),
    "map": lambda: (lambda x: lax.map(lambda r: r.sum() * r, x), M),
    "cond": lambda: (
        lambda x, n: (
            lax.cond(n > 3, lambda v: v + 1, lambda v: v - 1, x),
            lax.cond(n > 30, lambda v: v @ v.T, lambda v: (v * v) @ v.T, x),
        ),
        M,
        np.int32(5),
    ),
    "switch": lambda: (
        lambda x, n: [lax.switch(k, [jnp.sin, jnp.cos, lambda v: jnp.tanh(v @ v.T @ v)], x) for k in (n, n - 9, n + 9)],
        M,
        np.int32(1),
    ),
    "random": lambda: (
        lambda k: (
            jax.random.normal(k, (5, 3)),
            jax.random.uniform(k, (7,)),
            jax.random.randint(k, (6,), 0, 10),
            jax.random.bernoulli(k, 0.3, (9,)),
            jax.random.split(k),
        ),
        np.asarray([3, 9], np.uint32),
    ),
    "random choices": lambda: (
        lambda k: (
            jax.random.permutation(k, 8),
            jax.random.categorical(k, jnp.zeros((4, 5))),
            jax.random.truncated_normal(k, -1, 1, (4,)),
            jax.random.gumbel(k, (3,)),
        ),
        np.asarray([3, 9], np.uint32),
    ),
    "checkpoint": lambda: (jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), M),
    "hessian": lambda: (jax.hessian(lambda x: (jnp.tanh(x) ** 3).sum()), V[:5]),
    "barrier": lambda: (lambda x: lax.optimization_barrier((x, x + 1)), M),
    "empty": lambda: (
        lambda x: (x[:0], x[:0].sum(), jnp.zeros((0, 3)) @ jnp.ones((3, 2)), jnp.concatenate([x[:0], x])),
        M,
    ),
    "interp": lambda: (lambda x: jnp.interp(x, jnp.linspace(-2, 2, 9), jnp.linspace(-2, 2, 9) ** 2), V),
    "polynomials": lambda: (lambda x: (jnp.polyval(jnp.arange(5.0), x), jnp.convolve(x, x[:3])), V),
    "resize": lambda: (lambda x: jax.image.resize(x, (2, 3, 8, 10), "bilinear"), C),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name, tmp_path) -> None:
    function, *args = FUNCTIONS[name]()
    agree(jax, tmp_path, function, *args, tolerance=1e-5)
