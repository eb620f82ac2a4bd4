"""The object cache gives back what was stored, or nothing: never what someone else put there."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lamina.backends.cpu.cache_directory import default_directory
from lamina.backends.cpu.object_cache import CacheWarning, ObjectCache, cache_key
from lamina.backends.cpu.runtime import modules as pool

KEY = cache_key("some", "kernel")
DATA = b"object code" * 1000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)
        yield


def entry(folder: Path, key: str = KEY) -> Path:
    return folder / key[:2] / f"{key}.obj"


def test_what_was_put_comes_back(folder: Path) -> None:
    cache = ObjectCache(folder)
    assert cache.get(KEY) is None
    cache.put(KEY, DATA)
    assert cache.get(KEY) == DATA
    assert ObjectCache(folder).get(KEY) == DATA
    assert (cache.hits, cache.misses) == (1, 1)
    assert cache.clear() == 1 and cache.get(KEY) is None


def test_only_the_owner_may_enter(folder: Path) -> None:
    ObjectCache(folder).put(KEY, DATA)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(folder).stat().st_mode) == 0o600


def test_no_two_lists_of_parts_have_one_key() -> None:
    assert cache_key("ab", "c") != cache_key("a", "bc") != cache_key("abc")
    with pytest.raises(ValueError, match="SHA-256"):
        ObjectCache(Path("/nonexistent")).get("../../etc/passwd")


def _flipped(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def _of_another_format(data: bytes) -> bytes:
    return b"another format 9\n" + data[17:]


def _cut(data: bytes) -> bytes:
    return data[:-1]


def _cut_in_the_header(data: bytes) -> bytes:
    return data[:10]


def _longer(data: bytes) -> bytes:
    return data + b"more"


@pytest.mark.parametrize("damage", [_flipped, _of_another_format, _cut, _cut_in_the_header, _longer])
def test_a_damaged_entry_is_absent_and_replaced(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    cache = ObjectCache(folder)
    cache.put(KEY, DATA)
    path = entry(folder)
    path.write_bytes(damage(path.read_bytes()))
    assert cache.get(KEY) is None
    cache.put(KEY, DATA)
    assert cache.get(KEY) == DATA


def test_an_entry_under_another_key_is_absent(folder: Path) -> None:
    cache = ObjectCache(folder)
    other = cache_key("other")
    cache.put(KEY, DATA)
    entry(folder, other).parent.mkdir(exist_ok=True)
    entry(folder).rename(entry(folder, other))
    assert cache.get(other) is None


def test_a_link_in_place_of_an_entry_is_absent(folder: Path, tmp_path: Path) -> None:
    cache = ObjectCache(folder)
    cache.put(KEY, DATA)
    target = tmp_path / "elsewhere"
    entry(folder).rename(target)
    entry(folder).symlink_to(target)
    assert cache.get(KEY) is None
    cache.put(KEY, DATA)
    assert cache.get(KEY) == DATA and not entry(folder).is_symlink()


def test_an_entry_that_others_may_write_is_absent(folder: Path) -> None:
    cache = ObjectCache(folder)
    cache.put(KEY, DATA)
    entry(folder).chmod(0o666)
    assert cache.get(KEY) is None


def refused(folder: Path, reason: str) -> None:
    cache = ObjectCache(folder)
    with pytest.warns(CacheWarning, match=reason):
        assert cache.get(KEY) is None
    # One warning, not one a kernel.
    cache.put(KEY, DATA)
    assert cache.get(KEY) is None


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722])
def test_a_folder_that_others_may_write_is_refused(folder: Path, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    refused(folder, "others may write")


def test_a_link_to_a_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "real")
    refused(folder, "symbolic link")


def test_a_file_in_place_of_the_folder_is_refused(folder: Path) -> None:
    folder.write_text("")
    refused(folder, "not a folder")


def test_a_folder_of_another_user_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    refused(folder, "another user")


def test_a_place_that_cannot_be_made_costs_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(tmp_path / "file" / "cache", "cannot create")


def test_a_full_disk_costs_one_warning(folder: Path) -> None:
    cache = ObjectCache(folder)
    cache.put(KEY, DATA)
    other = cache_key("other")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        with pytest.warns(CacheWarning, match=r"cannot write .* \(11000 bytes\)"):
            cache.put(other, DATA)
        cache.put(other, DATA)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert cache.get(other) is None and cache.get(KEY) == DATA
    assert not list(folder.glob("*/*.tmp"))


_WRITER = """
import sys
from pathlib import Path
from lamina.backends.cpu.object_cache import ObjectCache, cache_key
cache = ObjectCache(Path(sys.argv[1]))
for i in range(40):
    key = cache_key(str(i % 10))
    found = cache.get(key)
    assert found is None or found == key.encode() * 500
    cache.put(key, key.encode() * 500)
"""


def test_many_writers(folder: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", _WRITER, str(folder)]
    writers = [subprocess.Popen(command) for _ in range(6)]
    assert [writer.wait() for writer in writers] == [0] * 6
    cache = ObjectCache(folder)
    for i in range(10):
        key = cache_key(str(i))
        assert cache.get(key) == key.encode() * 500
    assert not list(folder.glob("*/*.tmp"))


def test_the_entries_used_longest_ago_go_first(folder: Path) -> None:
    cache = ObjectCache(folder, limit=10_000)
    keys = [cache_key(str(i)) for i in range(9)]
    for i, key in enumerate(keys):
        cache.put(key, b"x" * 1000)
        past = time.time() - 1000 + i
        os.utime(entry(folder, key), (past, past))
    assert cache.get(keys[0]) is not None  # used: now the youngest
    cache.put(cache_key("more"), b"x" * 1500)
    left = [key for key in keys if entry(folder, key).exists()]
    assert keys[0] in left and keys[1] not in left
    assert sum(path.stat().st_size for path in folder.glob("*/*.obj")) <= 9_000


def test_many_short_processes_keep_the_limit_and_seldom_count(folder: Path) -> None:
    """Each adds one entry, and has not counted the folder before: 1,000 of them add three times what it may hold."""
    limit, counted = 400_000, 0
    for n in range(1000):
        cache = ObjectCache(folder, limit)
        cache.put(cache_key(str(n)), b"x" * 1100)
        counted += cache.has_counted
        if n % 50 == 49:
            assert sum(path.stat().st_size for path in folder.glob("*/*.obj")) < 1.25 * limit
    assert 32 < counted < 200


def test_where_the_cache_lives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "mine"))
    assert default_directory() == tmp_path / "mine"
    monkeypatch.delenv("LAMINA_CACHE_DIR")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_directory() == tmp_path / "lamina"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_directory() == Path.home() / ".cache" / "lamina"


def test_the_run_time_is_compiled_again_once_the_emitter_is_another() -> None:
    """Its key covers the sources that make LLVM assembly of it, wherever they lie."""
    assert pool._emitter_digest() != cache_key()  # type: ignore[reportPrivateUsage]
