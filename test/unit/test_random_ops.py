"""Random numbers: the vectors of the paper, keys that are used up, and what is drawn looks as it should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lamina.dialects.infos import TensorInfo
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.meaning import np_results, te_func
from lamina.dialects.relay.random.distributions import NormalOp, UniformOp
from lamina.dialects.relay.random.threefry import (
    KEY,
    ONES,
    PARITY,
    ThreefryGenerateOp,
    ThreefrySplitOp,
    generate_ref,
    hash_ref,
    threefry_key,
)
from lamina.interpreters.te_interpreter import run_te_func

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]

DIGITS_OF_PI = (
    *(0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
    *(0x452821E638D01377, 0xBE5466CF34E90C6C, 0xBE5466CF34E90C6C, 0xC0AC29B7C97C50DD),
)
VECTORS = (
    ((0,) * 8, (0x09218EBDE6C85537, 0x55941F5266D86105, 0x4BD25E16282434DC, 0xEE29EC846BD2E40B)),
    ((ONES,) * 8, (0x29C24097942BBA1B, 0x0371BBFB0F6F4E11, 0x3C231FFA33F83A1C, 0xCD29113FDE32D168)),
    (DIGITS_OF_PI, (0xA7E8FDE591651BD9, 0xBAAFD0C30138319B, 0x84A5C1A729E685B9, 0x901D406CCEBC1BA4)),
)
"""Counter and key, and the block: Threefry-4x64 of 20 rounds in the known answers of Random123."""


def words(*values: int) -> Array:
    return np.asarray(values, np.uint64)


def computed(op: type[RelayOp], key: Array, **attrs: Any) -> list[Array]:
    """The results by index equations and loops, which must be those of the oracle."""
    results = run_te_func(te_func(op, [KEY], attrs), [key])
    for actual, expected in zip(results, np_results(op, [key], attrs), strict=True):
        np.testing.assert_array_equal(actual, expected)
    return list(results)


@pytest.mark.parametrize(("given", "block"), VECTORS)
def test_the_oracle_gives_the_known_answers(given: tuple[int, ...], block: tuple[int, ...]) -> None:
    counter, key = words(*given[:4]), words(*given[4:])
    np.testing.assert_array_equal(hash_ref(key, counter[:, None], finish=True)[:, 0], words(*block))


# A key whose counter is all ones has no room left and is replaced.
@pytest.mark.parametrize(("given", "block"), [VECTORS[0], VECTORS[2]])
def test_a_block_with_the_key_added_is_the_known_answer(given: tuple[int, ...], block: tuple[int, ...]) -> None:
    counter, key = given[:4], given[4:]
    _, numbers = computed(ThreefryGenerateOp, words(*key, *counter, 1 << 63, 0), out_shape=(4,))
    last = PARITY
    for word in key:
        last ^= word
    schedule = (*key, last)
    added = [schedule[(5 + j) % 5] + (5 if j == 3 else 0) for j in range(4)]
    assert [(int(n) + a) & ONES for n, a in zip(numbers, added, strict=True)] == list(block)


def test_numbers_go_on_where_the_last_ended() -> None:
    after, first = computed(ThreefryGenerateOp, threefry_key(7), out_shape=(8,))
    _, second = computed(ThreefryGenerateOp, after, out_shape=(4,))
    assert len({*map(int, first), *map(int, second)}) == 12
    # A rest of a block counts as a whole one.
    after, _ = computed(ThreefryGenerateOp, threefry_key(7), out_shape=(5,))
    assert int(after[7]) == 8


@pytest.mark.parametrize("position", [(1 << 63, 0), (1, 0), (0, 1 << 63), (0, 1), (0, 0)])
def test_a_counter_that_is_used_up_moves_the_path_or_the_key(position: tuple[int, int]) -> None:
    key = words(1, 2, 3, 4, 0, 0, 0, ONES - 3, *position)
    after, numbers = computed(ThreefryGenerateOp, key, out_shape=(4,))
    assert int(after[7]) == 4 and len(set(map(int, numbers))) == 4
    if position == (0, 0):
        assert not np.array_equal(after[:4], key[:4]) and int(after[8]) == 1 << 63
    else:
        assert np.array_equal(after[:4], key[:4]) and (int(after[4]), int(after[5])) == position


def test_a_split_is_a_bit_of_the_path_and_at_its_end_a_new_key() -> None:
    key = threefry_key(3)
    left, right = computed(ThreefrySplitOp, key)
    assert (int(left[4]), int(right[4])) == (0, 1 << 63)
    for _ in range(127):
        key, _ = np_results(ThreefrySplitOp, [key], {})
    assert (int(key[8]), int(key[9])) == (0, 1)
    key, _ = computed(ThreefrySplitOp, key)
    left, right = computed(ThreefrySplitOp, key)
    assert np.array_equal(left[:4], right[:4]) and not np.array_equal(left[:4], key[:4])
    assert (int(left[4]), int(right[4]), int(left[8])) == (0, 1 << 63, 1 << 62)


def test_keys_of_splits_give_other_numbers() -> None:
    seen: set[int] = set()
    keys = [threefry_key(0)]
    for _ in range(4):
        keys = [part for key in keys for part in computed(ThreefrySplitOp, key)]
    for key in keys:
        seen |= set(map(int, generate_ref(key, 64)[1]))
    assert len(seen) == len(keys) * 64


def test_a_seed_is_a_number_of_256_bits() -> None:
    assert list(map(int, threefry_key((5 << 64) + 9))) == [9, 5, 0, 0, 0, 0, 0, 0, 1 << 63, 0]
    with pytest.raises(OverflowError):
        threefry_key(1 << 256)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_drawn_is_spread_as_it_should_be(dtype: str) -> None:
    scalar = TensorInfo((), dtype)
    attrs = {"out_shape": [50_000], "out_dtype": dtype}
    given = [threefry_key(11), np.asarray(-2, dtype), np.asarray(3, dtype)]
    _, drawn = np_results(UniformOp, given, attrs)
    assert -2 <= drawn.min() < -1.99 and 2.99 < drawn.max() < 3
    counts, _ = np.histogram(drawn, 50, (-2, 3))
    assert abs(counts - 1000).max() < 150
    _, drawn = np_results(NormalOp, given, attrs)
    assert abs(drawn.mean() + 2) < 0.05 and abs(drawn.std() - 3) < 0.05
    assert abs((np.abs(drawn + 2) < 3).mean() - 0.6827) < 0.01
    attrs["out_shape"] = [7, 3]
    for op in (UniformOp, NormalOp):
        key, values = run_te_func(te_func(op, [KEY, scalar, scalar], attrs), given)
        expected_key, expected = np_results(op, given, attrs)
        np.testing.assert_array_equal(key, expected_key)
        np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-5)
