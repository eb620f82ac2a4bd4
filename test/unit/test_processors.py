"""The number of threads: affinity, and the limits of control groups of both versions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lamina.backends.cpu.processors import available_threads, group_limit

V2 = "31 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
V1 = "33 25 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct"
OTHER = "34 25 0:31 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory"


def system(root: Path, mounts: str, groups: str, **files: str) -> Path:
    """A folder with the files that a Linux system would have."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text(f"22 1 8:1 / / rw - ext4 /dev/root rw\n{OTHER}\n{mounts}\n")
    (root / "proc/self/cgroup").write_text(groups)
    (root / "sys/fs/cgroup").mkdir(parents=True)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_version_2_the_least_limit_on_the_way_up(tmp_path: Path) -> None:
    files = {"cpu.max": "max 100000\n", "a/cpu.max": "150000 100000\n", "a/b/cpu.max": "400000 100000\n"}
    assert group_limit(system(tmp_path, V2, "0::/a/b\n", **files)) == 1.5


def test_version_2_without_a_limit(tmp_path: Path) -> None:
    assert group_limit(system(tmp_path, V2, "0::/a\n", **{"a/cpu.max": "max 100000\n"})) is None


def test_version_1(tmp_path: Path) -> None:
    folder = "cpu,cpuacct/a/"
    files = {f"{folder}cpu.cfs_quota_us": "50000\n", f"{folder}cpu.cfs_period_us": "100000\n"}
    root = system(tmp_path, V1, "9:memory:/x\n4:cpu,cpuacct:/a\n0::/\n", **files)
    assert group_limit(root) == 0.5
    assert available_threads(root) == 1


def test_version_1_without_a_limit(tmp_path: Path) -> None:
    files = {"cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n"}
    assert group_limit(system(tmp_path, V1, "4:cpu,cpuacct:/\n", **files)) is None


def test_a_container_sees_the_end_of_its_path_only(tmp_path: Path) -> None:
    mount = V2.replace(" / /sys", " /docker/7f /sys")
    assert group_limit(system(tmp_path, mount, "0::/docker/7f\n", **{"cpu.max": "300000 100000\n"})) == 3.0
    (tmp_path / "proc/self/cgroup").write_text("0::/docker/7f/inner\n")
    assert group_limit(tmp_path) == 3.0


@pytest.mark.parametrize("groups", ["", "nonsense\n", "4:cpu:/missing\n"])
def test_files_that_say_nothing_are_no_limit(tmp_path: Path, groups: str) -> None:
    assert group_limit(system(tmp_path, V1, groups)) is None
    assert group_limit(tmp_path / "none") is None


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
def test_affinity_counts(tmp_path: Path) -> None:
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert available_threads() == 1
    finally:
        os.sched_setaffinity(0, allowed)
    plenty = system(tmp_path, V2, "0::/\n", **{"cpu.max": "90000000 100000\n"})
    assert available_threads(plenty) == len(allowed)
