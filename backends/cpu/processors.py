"""Number of processors that this process may keep busy: by affinity, and by the limits of its control groups.

A container may be scheduled on every processor of a machine and yet get but the time of two: then more threads than
two are stopped together, in the middle of a kernel, until the next period begins.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def available_threads(root: Path = Path("/")) -> int:
    """The processors that this process may use, at least 1; `root` is where the files of the system lie."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = group_limit(root)
    # Rounded down: what is beyond the limit would make everybody wait.
    return allowed if limit is None else max(1, min(allowed, int(limit)))


def group_limit(root: Path = Path("/")) -> float | None:
    """The processors' worth of time that control groups leave to this process, of either version; None without limit.

    A limit of a group holds for all groups in it, so the least on the way up is what counts.
    """
    try:
        found = [limit for folder, version in _folders(root) if (limit := _limit(folder, version)) is not None]
    except (OSError, ValueError):
        return None  # no Linux, or files that say something else: no limit that we know of
    return min(found, default=None)


def _folders(root: Path) -> Iterator[tuple[Path, int]]:
    """The folders of this process's groups from its own upwards, and which version of control groups they are of."""
    groups: dict[str, str] = {}
    for line in _lines(root / "proc/self/cgroup"):
        number, controllers, path = line.split(":", 2)
        for controller in ("",) if number == "0" else controllers.split(","):
            groups[controller] = path
    for line in _lines(root / "proc/self/mountinfo"):
        left, right = line.split(" - ", 1)
        kind, _, options = right.split(" ")[:3]
        controller = "" if kind == "cgroup2" else "cpu"
        if kind not in ("cgroup", "cgroup2") or controller not in groups:
            continue
        if kind == "cgroup" and "cpu" not in options.split(","):
            continue
        mounted, point = left.split(" ")[3:5]
        top = root / point.lstrip("/")
        # Inside a container the path may be the host's, of which the mount shows but the end.
        path = groups[controller]
        inside = path.removeprefix(mounted) if mounted != "/" and path.startswith(mounted) else path
        folder = top / inside.strip("/")
        if ".." in folder.parts or not folder.is_dir():
            folder = top
        for place in (folder, *folder.parents):
            yield place, 2 if kind == "cgroup2" else 1
            if place == top:
                break


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line]


def _limit(folder: Path, version: int) -> float | None:
    """The limit of one group."""
    if version == 2:
        file = folder / "cpu.max"
        if not file.is_file():
            return None
        quota, period = file.read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    file = folder / "cpu.cfs_quota_us"
    if not file.is_file():
        return None
    quota = int(file.read_text())
    return quota / int((folder / "cpu.cfs_period_us").read_text()) if quota > 0 else None
