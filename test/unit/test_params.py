"""The parameter store: identity by digest, lazy derivation, deterministic files, clear errors."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from lamina.dialects.dtypes import DTYPES, numpy_dtype, tensor_type
from lamina.dialects.relay.params import ParamAttr, ParamStore, array_dense, dense_array
from lamina.errors import InputError


def test_equal_arrays_under_one_key_are_one_parameter():
    store = ParamStore()
    a = store.add("w", np.arange(6, dtype=np.float32))
    b = store.add("w", np.arange(6, dtype=np.float32))
    c = store.add("w", np.arange(6, dtype=np.float32).reshape(2, 3))
    assert a == b and hash(a) == hash(b) and a != c


def test_derived_parameter_is_computed_at_first_get_only():
    store = ParamStore()
    w = store.add("w", np.arange(6, dtype=np.float32))
    calls: list[int] = []

    def twice(x: np.ndarray) -> np.ndarray:
        calls.append(1)
        return x * 2

    d = store.derive([w], "twice", tensor_type((6,), "float32"), twice)
    again = store.derive([w], "twice", tensor_type((6,), "float32"), twice)
    assert d == again and not calls and d in store
    assert store.get(d)[3] == 6 and store.get(d)[1] == 2
    assert len(calls) == 1
    store.release(d)
    assert store.get(d)[3] == 6 and len(calls) == 2


def test_derived_digest_depends_on_recipe_and_inputs_not_on_bytes_computed():
    store = ParamStore()
    t = tensor_type((2,), "float32")
    w, v = store.add("w", np.zeros(2, np.float32)), store.add("v", np.ones(2, np.float32))
    attrs = [
        store.derive(i, r, t, lambda *_: np.zeros(2, np.float32))
        for i, r in (([w], "a"), ([v], "a"), ([w], "b"), ([w, array_dense(np.ones((), np.float32))], "a"))
    ]
    assert len({a.digest.data for a in attrs}) == 4


def plus_one(x: np.ndarray) -> np.ndarray:
    return x + np.float32(1)


def test_long_chains_of_derivations_do_not_recurse():
    store = ParamStore()
    t = tensor_type((1,), "float32")
    attr = store.add("w", np.zeros(1, np.float32))
    for i in range(5000):
        attr = store.derive([attr], f"step {i}", t, plus_one)
    assert store.get(attr)[0] == 5000
    assert len(attr.key.data) < 100


def test_save_and_open_round_trip_and_are_deterministic(tmp_path: Path):
    store = ParamStore()
    attrs = [store.add(f"k{d}", np.arange(6).reshape(2, 3).astype(numpy_dtype(d))) for d in DTYPES]
    attrs.append(store.add("scalar", np.array(2.5, ml_dtypes.bfloat16)))
    attrs.append(store.add("empty", np.zeros((0, 3), np.float32)))
    attrs += [store.add("same", np.zeros(2, np.float32)), store.add("same", np.ones(2, np.float32))]
    store.save(tmp_path / "a.safetensors", attrs)
    store.save(tmp_path / "b.safetensors", reversed(attrs))
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    loaded = ParamStore()
    loaded.open(tmp_path / "a.safetensors")
    for a in attrs:
        want, got = store.get(a), loaded.get(a)
        assert got.dtype == want.dtype and got.shape == want.shape and np.array_equal(got, want)
    assert {loaded.attr(k) for k in loaded.keys()} == set(attrs)


def test_files_agree_with_the_safetensors_library(tmp_path: Path):
    from safetensors.numpy import load_file, save_file  # pyright: ignore[reportUnknownVariableType]

    store = ParamStore()
    a = store.add("w", np.arange(6, dtype=np.float32).reshape(2, 3))
    store.save(tmp_path / "a.safetensors", [a])
    assert np.array_equal(load_file(tmp_path / "a.safetensors")["w"], store.get(a))
    save_file({"w": np.arange(6, dtype=np.float32).reshape(2, 3)}, tmp_path / "b.safetensors")
    loaded = ParamStore()
    loaded.open(tmp_path / "b.safetensors")
    assert loaded.attr("w") == a and np.array_equal(loaded.get(a), store.get(a))


def test_unknown_missing_and_damaged_are_one_clear_error(tmp_path: Path):
    store = ParamStore()
    with pytest.raises(InputError, match="no value for the parameter 'w'"):
        store.get(ParamAttr.of("w", "0" * 16))
    with pytest.raises(InputError, match="cannot read the weights: No such file"):
        store.open(tmp_path / "none.safetensors")
    for name, text in (
        ("short", b"abc"),
        ("header", b"\xff" * 20),
        ("json", b"\x02\0\0\0\0\0\0\0[]"),
        ("offsets", (77).to_bytes(8, "little") + b'{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,99]}}'.ljust(77)),
    ):
        (tmp_path / name).write_bytes(text)
        with pytest.raises(InputError, match="weights file|safetensors"):
            store.open(tmp_path / name)


def test_other_bytes_than_the_module_expects_are_refused(tmp_path: Path):
    store = ParamStore()
    store.save(tmp_path / "a.safetensors", [store.add("w", np.zeros(2, np.float32))])
    other = ParamStore()
    other.open(tmp_path / "a.safetensors")
    with pytest.raises(InputError, match="other bytes"):
        other.get(ParamAttr.of("w", "0123456789abcdef"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dense_attribute_round_trip(dtype: str):
    array = np.array([[0, 1, 2]]).astype(numpy_dtype(dtype))
    back = dense_array(array_dense(array))
    assert back.dtype == array.dtype and np.array_equal(back, array)
