"""Files that were compared once are not read whole again, and everything that changes a file makes it strange."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from lamina.driver.model import Origin
from lamina.runtime import program_file
from lamina.runtime.program_file import StoredProgram
from lamina.store import checked_files
from lamina.store.checked_files import CheckedFiles, KnownDigests
from lamina.store.program_cache import ProgramCache, installed_version

KEY = "cd" * 32
WEIGHTS = np.arange(1 << 20, dtype=np.float32)
PROGRAM = StoredProgram({"name": "main"}, {"k": b"code"}, (WEIGHTS,))


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of what is compared with a digest from now on."""
    sizes: list[int] = []
    digest_of = program_file.digest_of

    def counted(data: bytes | memoryview) -> bytes:
        sizes.append(len(data))
        return digest_of(data)

    monkeypatch.setattr(program_file, "digest_of", counted)
    return sizes


def stored(folder: Path) -> Path:
    ProgramCache(folder).store(KEY, PROGRAM)
    return next(folder.rglob("*.program"))


def test_the_weights_of_what_was_just_written_are_not_read(tmp_path: Path, hashed: list[int]) -> None:
    stored(tmp_path / "c")
    hashed.clear()
    found = ProgramCache(tmp_path / "c").load(KEY)
    assert found is not None and max(hashed) < WEIGHTS.nbytes
    np.testing.assert_array_equal(found.params[0], WEIGHTS)


def test_a_file_that_was_touched_is_compared_once(tmp_path: Path, hashed: list[int]) -> None:
    path = stored(tmp_path / "c")
    os.utime(path, (1, 1))
    for expected in (True, False):
        hashed.clear()
        assert ProgramCache(tmp_path / "c").load(KEY) is not None
        assert (max(hashed) >= WEIGHTS.nbytes) == expected


def test_a_changed_weight_is_found_after_loads_that_did_not_look(tmp_path: Path) -> None:
    path = stored(tmp_path / "c")
    assert ProgramCache(tmp_path / "c").load(KEY) is not None
    with open(path, "r+b") as file:
        file.seek(-100, os.SEEK_END)
        file.write(b"\xff")
    assert ProgramCache(tmp_path / "c").load(KEY) is None


def test_after_another_boot_everything_is_compared(
    tmp_path: Path, hashed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(tmp_path / "c")
    for boot in ("another", ""):
        monkeypatch.setattr(checked_files, "_boot", lambda boot=boot: boot)
        hashed.clear()
        assert ProgramCache(tmp_path / "c").load(KEY) is not None
        assert max(hashed) >= WEIGHTS.nbytes


def test_a_mark_is_of_one_file(tmp_path: Path) -> None:
    marks = CheckedFiles(tmp_path / "c")
    for name in "ab":
        (tmp_path / name).write_bytes(b"same")
    marks.add_written(tmp_path / "a")
    assert marks.has((tmp_path / "a").stat()) and not marks.has((tmp_path / "b").stat())


def test_versions_are_those_of_the_installer() -> None:
    from importlib.metadata import version

    for package in ("xdsl", "numpy", "onnx", "llvmlite"):
        assert installed_version(package) == version(package)


def test_a_program_from_the_cache_needs_no_compiler(tmp_path: Path) -> None:
    """Neither xDSL nor ONNX is imported where a program was compiled before, or was saved."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Exp", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    script = """
import sys, numpy, lamina
exe = lamina.compile("m.onnx", threads=1) if sys.argv[1] == "cache" else lamina.Executable.load("m.lamina")
print(exe.cached, exe(numpy.zeros(4, "float32"))[0], sorted({"xdsl", "onnx"} & set(sys.modules)))
if sys.argv[1] == "cache": exe.save("m.lamina")
"""
    environment = {**os.environ, "LAMINA_CACHE_DIR": str(tmp_path / "c"), "LAMINA_CACHE": ""}
    said: list[str] = []
    for kind in ("cache", "cache", "saved"):
        words = [sys.executable, "-c", script, kind]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        said.append(done.stdout.strip())
    assert said == ["False 1.0 ['onnx', 'xdsl']", "True 1.0 []", "False 1.0 []"]


def test_a_digest_is_known_of_a_file_that_has_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"one")
    known = KnownDigests(tmp_path / "c")
    known.put(path.stat(), b"digest")
    assert known.get(path.stat()) is None, "it may change within the same tick"
    monkeypatch.setattr(checked_files, "SETTLED", -1.0)
    known.put(path.stat(), b"digest")
    assert KnownDigests(tmp_path / "c").get(path.stat()) == b"digest"
    before = path.stat()
    path.write_bytes(b"two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    if path.stat().st_ctime_ns != before.st_ctime_ns:
        assert known.get(path.stat()) is None, "the time of the inode tells"


def test_a_model_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "c"))
    monkeypatch.setenv("LAMINA_CACHE", "")
    monkeypatch.setattr(checked_files, "SETTLED", -1.0)
    path = tmp_path / "m.onnx"
    path.write_bytes(b"no model, but a digest all the same")
    first = Origin.of(path, None)
    reads: list[Path] = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: reads.append(self) or read_bytes(self))  # pyright: ignore
    assert Origin.of(path, None).digest == first.digest is not None and first.unchanged()
    assert path not in reads
    path.write_bytes(b"another one, and it is of another size")
    assert not first.unchanged() and path in reads


def test_digests_of_many_are_those_of_each() -> None:
    data = WEIGHTS.view(np.uint8).data
    parts = [data[: 3 << 20], data[:0], data[:1], *[data] * 4, data[5:]]
    assert program_file.digests_of(parts) == [program_file.digest_of(p) if len(p) else b"" for p in parts]
    whole = b"".join(hashlib.sha256(data[start : start + (4 << 20)]).digest() for start in range(0, len(data), 4 << 20))
    assert program_file.digest_of(data) == hashlib.sha256(len(data).to_bytes(8, "little") + whole).digest()
    assert program_file.digest_of(b"") == hashlib.sha256(bytes(8)).digest()
