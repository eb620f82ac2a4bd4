"""The cache of whole programs: what it trusts, what it survives, and that builds are the same bytes everywhere."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.backends.cpu.object_cache import CacheWarning
from lamina.runtime.program_file import StoredProgram, digest_of
from lamina.store import program_cache
from lamina.store.program_cache import ProgramCache, enabled, program_key

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
KEY = "ab" * 32


def program(seed: int = 0) -> StoredProgram:
    random = np.random.default_rng(seed)
    params: list[np.ndarray[Any, Any]] = [
        random.standard_normal((3, 5)).astype(np.float32),
        np.array(7, np.int64),
        np.zeros((0, 4), np.float64),
        np.array([True, False]),
        random.integers(0, 99, 1001).astype(np.uint8),
    ]
    return StoredProgram({"name": "main", "arena": 64}, {"k": bytes(range(200)), "": b"x"}, tuple(params))


def model(value: float = 1.0) -> onnx.ModelProto:
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4, 32]) for n in ("x", "y")]
    weight = np.full((32, 32), value, np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], name="product"),
        helper.make_node("Relu", ["m"], ["y"], name="relu"),
    ]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_what_goes_in_comes_out_mapped_and_aligned(tmp_path: Path) -> None:
    cache = ProgramCache(tmp_path / "c")
    assert cache.load(KEY) is None
    cache.store(KEY, program())
    found = ProgramCache(tmp_path / "c").load(KEY)
    assert found is not None
    assert found.description == program().description and found.objects == program().objects
    for a, b in zip(found.params, program().params, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_array_equal(a, b)
        assert not a.size or a.ctypes.data % 64 == 0
        assert not a.flags.writeable or not a.size


def test_the_same_program_is_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        ProgramCache(tmp_path / name).store(KEY, program())
    files = [next((tmp_path / n).rglob("*.program")).read_bytes() for n in ("a", "b")]
    assert files[0] == files[1]


@pytest.mark.parametrize("place", [0, 20, 60, 90, 200, 400, -1])
def test_a_changed_byte_counts_as_absent(tmp_path: Path, place: int) -> None:
    cache = ProgramCache(tmp_path / "c")
    cache.store(KEY, program())
    path = next((tmp_path / "c").rglob("*.program"))
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    assert cache.load(KEY) is None
    cache.store(KEY, program())
    assert cache.load(KEY) is not None


@pytest.mark.parametrize("length", [0, 1, 50, 104, 300])
def test_a_torn_file_counts_as_absent(tmp_path: Path, length: int) -> None:
    cache = ProgramCache(tmp_path / "c")
    cache.store(KEY, program())
    path = next((tmp_path / "c").rglob("*.program"))
    path.write_bytes(path.read_bytes()[:length])
    assert cache.load(KEY) is None


def test_an_entry_under_another_key_is_refused(tmp_path: Path) -> None:
    cache = ProgramCache(tmp_path / "c")
    cache.store(KEY, program())
    other = "ab" + "cd" * 31
    path = next((tmp_path / "c").rglob("*.program"))
    shutil.copy(path, path.with_name(other + ".program"))
    assert cache.load(other) is None


@pytest.mark.skipif(os.name != "posix", reason="links and modes of POSIX")
def test_links_and_open_folders_are_not_trusted(tmp_path: Path) -> None:
    cache = ProgramCache(tmp_path / "c")
    cache.store(KEY, program())
    path = next((tmp_path / "c").rglob("*.program"))
    moved = tmp_path / "elsewhere"
    path.rename(moved)
    path.symlink_to(moved)
    assert cache.load(KEY) is None
    path.unlink()
    moved.rename(path)
    path.chmod(0o666)
    assert cache.load(KEY) is None
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.warns(CacheWarning, match="others may write"):
        ProgramCache(tmp_path / "open").store(KEY, program())
    assert not any((tmp_path / "open").iterdir())


def test_a_folder_that_cannot_be_made_costs_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ProgramCache(tmp_path / "file")
    with pytest.warns(CacheWarning) as warned:
        cache.store(KEY, program())
        cache.store(KEY, program())
        assert cache.load(KEY) is None
    assert len(warned) == 1


def test_many_writers_and_readers(tmp_path: Path) -> None:
    """Whatever a reader finds while others write is whole."""
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from test_program_cache import KEY, program
from lamina.store.program_cache import ProgramCache
cache = ProgramCache(Path({str(tmp_path / "c")!r}))
for n in range(30):
    cache.store(KEY, program())
    found = cache.load(KEY)
    assert found is not None and found.objects == program().objects
"""
    workers = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(4)]
    for worker in workers:
        _, err = worker.communicate()
        assert worker.returncode == 0, err.decode()
    assert not list((tmp_path / "c").rglob("*.tmp"))


def test_the_key_depends_on_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    base = program_key("m", {"x": [1, 2]}, "t", 3)
    assert base == program_key("m", {"x": (1, 2)}, "t", 3)
    others = [
        program_key("n", {"x": [1, 2]}, "t", 3),
        program_key("m", {"x": [1, 3]}, "t", 3),
        program_key("m", {}, "t", 3),
        program_key("m", {"x": [1, 2]}, "u", 3),
        program_key("m", {"x": [1, 2]}, "t", 2),
    ]
    monkeypatch.setattr(lamina, "__version__", "9")
    others.append(program_key("m", {"x": [1, 2]}, "t", 3))
    monkeypatch.undo()
    monkeypatch.setattr(program_cache, "sources_digest", lambda: "changed")
    others.append(program_key("m", {"x": [1, 2]}, "t", 3))
    assert len({base, *others}) == len(others) + 1


def test_the_sources_are_all_that_decides() -> None:
    root = Path(lamina.__file__).parent
    names = {p.relative_to(root).as_posix() for p in program_cache._sources(root)}  # type: ignore[reportPrivateUsage]
    for name in (
        "driver/api.py",
        "backends/llvm/emit.py",
        "backends/cpu/runtime/pool.mlir",
        "passes/tir_to_llvm/tir_to_llvm.py",
    ):
        assert name in names
    assert not any("__pycache__" in n for n in names)


def test_digest_of_pieces() -> None:
    data = os.urandom(9 << 20)
    assert digest_of(data) == digest_of(memoryview(bytearray(data)))
    assert digest_of(data) != digest_of(data + b"\0") != digest_of(b"")
    pieces = b"".join(hashlib.sha256(data[i : i + (4 << 20)]).digest() for i in range(0, len(data), 4 << 20))
    assert digest_of(data) == hashlib.sha256(len(data).to_bytes(8, "little") + pieces).digest()


# -- through the API -----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("LAMINA_CACHE", raising=False)
    return tmp_path / "cache"


def test_the_second_compilation_comes_from_the_cache(folder: Path) -> None:
    x = np.random.default_rng(0).standard_normal((4, 32)).astype(np.float32)
    first, second = (lamina.compile(model(), threads=1) for _ in range(2))
    assert not first.cached and second.cached
    np.testing.assert_array_equal(first(x), second(x))
    assert first.inputs == second.inputs and first.outputs == second.outputs
    assert [r.nodes for r in second.profile(repeats=1)] and second.text("relay") == first.text("relay")
    for options in ({"opt_level": 0}, {"target": "x86-64"}):
        assert not lamina.compile(model(), threads=1, **options).cached  # type: ignore[arg-type]
    other = lamina.compile(model(2.0), threads=1)
    assert not other.cached
    np.testing.assert_allclose(other(x), 2 * first(x), rtol=1e-4, atol=1e-4)


def test_a_corrupt_program_is_built_again(folder: Path) -> None:
    lamina.compile(model(), threads=1)
    path = next(folder.rglob("*.program"))
    data = bytearray(path.read_bytes())
    data[-100] ^= 255
    path.write_bytes(data)
    assert not lamina.compile(model(), threads=1).cached
    assert lamina.compile(model(), threads=1).cached


def test_no_cache_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lamina.compile(model(), threads=1, cache=False)
    monkeypatch.setenv("LAMINA_CACHE", "off")
    assert not enabled(True)
    lamina.compile(model(), threads=1)
    assert not list(folder.rglob("*.program")) and not list(folder.rglob("*.obj"))


def test_a_changed_file_is_another_model(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    x = np.ones((4, 32), np.float32)
    path.write_bytes(model(1.0).SerializeToString())
    assert lamina.compile(path, threads=1)(x)[0, 0] == 32
    path.write_bytes(model(2.0).SerializeToString())
    assert lamina.compile(path, threads=1)(x)[0, 0] == 64


def test_external_weights_count(folder: Path, tmp_path: Path) -> None:
    x = np.ones((4, 32), np.float32)
    path = tmp_path / "m.onnx"
    for value in (1.0, 2.0):
        (tmp_path / "w.bin").unlink(missing_ok=True)
        save = cast(Any, onnx).save
        save(model(value), path, save_as_external_data=True, location="w.bin", size_threshold=0)
        text = path.read_bytes()
        exe = lamina.compile(path, threads=1)
        assert not exe.cached and exe(x)[0, 0] == 32 * value
    assert path.read_bytes() == text and lamina.compile(path, threads=1).cached


# -- the same bytes everywhere -------------------------------------------------------------------------------

BUILD = """
import sys
from pathlib import Path
import lamina
out = Path(sys.argv[2])
exe = lamina.compile(sys.argv[1], threads=2)
exe.save_texts(out)
for n, path in enumerate(sorted(Path(sys.argv[3]).rglob("*.program"))):
    # The key of the file covers the label of the model and the versions: equal here.
    (out / f"program{n}").write_bytes(path.read_bytes())
"""


def test_builds_are_byte_identical(tmp_path: Path) -> None:
    """Under different hash seeds, from different folders, with an empty cache."""
    outputs: list[dict[str, str]] = []
    for seed, name in (("1", "one"), ("77", "a/longer/path")):
        place = tmp_path / name
        (place / "in").mkdir(parents=True)
        (place / "in" / "m.onnx").write_bytes(model().SerializeToString())
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LAMINA_CACHE_DIR": str(place / "cache")}
        words = [sys.executable, "-c", BUILD, "in/m.onnx", "out", str(place / "cache")]
        subprocess.run(words, check=True, cwd=place, env=environment)
        found = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in (place / "out").iterdir()}
        outputs.append(found)
    assert outputs[0] == outputs[1] and len(outputs[0]) == 8
