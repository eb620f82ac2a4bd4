"""Files of arrays: what is written reads back under its name, mistakes are told apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lamina.errors import InputError, UsageError
from lamina.ir.array_files import read_arrays, write_arrays

A = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_names_that_numpy_keeps_for_itself_are_names_of_arrays(tmp_path: Path) -> None:
    arrays = {"file": A, "allow_pickle": A + 1, "gpu_0/softmax_1": A.T, "größe": np.array(3)}
    path = str(tmp_path / "a.npz")
    write_arrays(path, arrays)
    for found in (read_arrays(path), dict(np.load(path))):
        assert isinstance(found, dict) and list(found) == list(arrays)
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("name", ["y", "y.txt", "y.npz"])
def test_the_file_has_the_name_that_was_given(tmp_path: Path, name: str) -> None:
    write_arrays(str(tmp_path / name), {"y": A})
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_an_npy_file_holds_one_array(tmp_path: Path) -> None:
    path = str(tmp_path / "y.npy")
    write_arrays(path, {"y": A})
    np.testing.assert_array_equal(read_arrays(path), A)
    with pytest.raises(UsageError, match=r"y.npy would hold one array, there are 'y', 'z'; give a file .* .npz"):
        write_arrays(path, {"y": A, "z": A})


@pytest.mark.parametrize("content", [b"", b"words", b"\x93NUMPY\x01\x00", b"PK\x03\x04"])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(InputError, match="x.npz: (cannot read: )?not an npy or npz file"):
        read_arrays(str(tmp_path / "x.npz"))


def test_objects_are_not_read(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{}], object))
    with pytest.raises(InputError, match="not an npy or npz file of numbers; save arrays"):
        read_arrays(str(tmp_path / "x.npy"))
