"""`lamina.jax.jit`: pytrees in and out, programs by shapes and static arguments, transformations, refusals."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import numpy as np
import pytest
from agreement import near
from programs import PROGRAMS

import lamina.jax
from lamina.errors import UnsupportedError, UsageError

jax = pytest.importorskip("jax")
jnp = jax.numpy


def same(found, expected, tolerance=1e-5) -> None:
    assert jax.tree_util.tree_structure(found) == jax.tree_util.tree_structure(expected)
    leaves = zip(jax.tree_util.tree_leaves(found), jax.tree_util.tree_leaves(expected), strict=True)
    for n, (have, want) in enumerate(leaves):
        assert isinstance(have, jax.Array) and have.shape == want.shape and have.dtype == want.dtype
        near(np.asarray(have), np.asarray(want), tolerance, f"leaf {n}")


@pytest.mark.parametrize("name", ["mlp", "lstm", "training_step", "newton"])
def test_program(name) -> None:
    function, *args = PROGRAMS[name](jax, np.random.default_rng(3))
    compiled = lamina.jax.jit(function)
    for _ in range(2):
        same(compiled(*args), jax.jit(function)(*args))
    assert len(compiled._programs) == 1


def test_trees_go_in_and_out_as_they_are() -> None:
    def function(tree, *, scale=2.0):
        return {"sum": tree["a"] + tree["b"][0], "none": None, "pair": (tree["b"][1] * scale, [tree["a"]])}

    tree = {"a": jnp.arange(4.0), "b": (np.ones(4, np.float32), jnp.float32(3))}
    same(lamina.jax.jit(function)(tree, scale=4.0), function(tree, scale=4.0))
    same(lamina.jax.jit(function)(tree), function(tree))


def test_there_is_a_program_for_each_shape_type_and_static_argument() -> None:
    traced = []

    def power(x, n):
        traced.append(n)
        return x**n

    compiled = lamina.jax.jit(power, static_argnums=1)
    for x, n in ((jnp.ones(3), 2), (jnp.ones(3), 2), (jnp.ones(4), 2), (jnp.ones(3), 3), (jnp.ones(3, jnp.int32), 2)):
        same(compiled(x, n), x**n)
    assert len(compiled._programs) == 4 and len(traced) == 4
    by_name = lamina.jax.jit(power, static_argnames="n")
    same(by_name(jnp.full(3, 2.0), n=5), jnp.full(3, 32.0))
    same(by_name(jnp.full(3, 2.0), 5), jnp.full(3, 32.0))


def test_an_argument_that_is_not_used_need_not_be_an_array_of_the_program() -> None:
    same(lamina.jax.jit(lambda x, y, z: x + z)(jnp.ones(3), jnp.ones(7), 2.0), jnp.full(3, 3.0))


def test_results_share_their_memory() -> None:
    compiled = lamina.jax.jit(lambda x: x * 2)
    x = jnp.arange(1 << 14, dtype=jnp.float32)
    program_of = compiled(x) is not None and next(iter(compiled._programs.values()))
    before = program_of._given
    seen = []

    def given(array, is_key):
        result = before(array, is_key)
        seen.append((array.ctypes.data, result.unsafe_buffer_pointer()))
        return result

    program_of._given = given
    same(compiled(x), x * 2)
    assert seen[0][0] == seen[0][1]


def test_keys_of_random_numbers() -> None:
    def draw(key, shape):
        a, b = jax.random.split(key)
        return jax.random.normal(a, shape), b

    compiled = lamina.jax.jit(draw, static_argnums=1)
    key = jax.random.key(7)
    have, want = compiled(key, (5,)), draw(key, (5,))
    near(np.asarray(have[0]), np.asarray(want[0]), 1e-5, "numbers")
    assert (jax.random.key_data(have[1]) == jax.random.key_data(want[1])).all()


def test_under_a_transformation_it_is_the_function() -> None:
    compiled = lamina.jax.jit(lambda x: jnp.sin(x).sum())
    x = jnp.arange(5.0)
    same(jax.grad(compiled)(x), jnp.cos(x))
    same(lamina.jax.jit(jax.grad(compiled))(x), jnp.cos(x))
    same(jax.vmap(compiled)(jnp.ones((2, 3))), jnp.full(2, np.sin(1.0, dtype=np.float32) * 3))


def test_narrow_types_and_numbers() -> None:
    compiled = lamina.jax.jit(lambda x, b, n: (x.astype(jnp.bfloat16), ~b, n + 1, x.astype(jnp.float16) * n))
    args = (jnp.linspace(0, 1, 7), jnp.asarray([True, False]), 3)
    same(compiled(*args), jax.jit(compiled.function)(*args), 1e-2)


def test_a_method_and_a_decorator() -> None:
    class Model:
        scale = 3.0

        @lamina.jax.jit(static_argnums=0, threads=1)
        def apply(self, x):
            return x * self.scale

    same(Model().apply(jnp.ones(4)), jnp.full(4, 3.0))


def test_all_that_is_missing_is_said_at_once() -> None:
    with pytest.raises(
        UnsupportedError, match=r"custom_call @lapack_spotrf_ffi .*custom_call @lapack_sgetrf_ffi"
    ) as error:
        lamina.jax.jit(lambda x: jnp.linalg.cholesky(x) + jnp.linalg.det(x))(jnp.eye(5))
    assert "test_jit.py" in str(error.value)


def test_wrong_options_and_arguments() -> None:
    with pytest.raises(UsageError, match="there is no option 'device'"):
        lamina.jax.jit(lambda x: x, device="gpu")
    with pytest.raises(UsageError, match="an argument is a str, not an array; static_argnums"):
        lamina.jax.jit(lambda x, how: x)(jnp.ones(3), "sum")
    with pytest.raises(UsageError, match="a static argument cannot be hashed"):
        lamina.jax.jit(lambda x, sizes: x, static_argnums=1)(jnp.ones(3), [1, 2])


def test_64_bits() -> None:
    with jax.enable_x64(True):
        same(lamina.jax.jit(lambda x: jnp.exp(x) @ x)(np.arange(4.0)), jnp.exp(np.arange(4.0)) @ np.arange(4.0), 1e-12)
