"""Fixtures of several files, and what tests leave of garbage."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lamina.backends.cpu import compile_kernels
from lamina.backends.cpu.machines import FIGURES, SHIPPED, is_named
from lamina.driver import lowering_processes

from .host_features import hide_from_others, needs

MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
MOST_GARBAGE = MEMORY // (300 * int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1)))
"""Objects that a worker of pytest makes and does not free by itself before it collects cycles: all workers hold two
fifths of the memory (measured: two, 4.6 GB each of 24). To collect as often as Python would takes a twelfth of the time
of the tests."""
SLOW_FILE = re.compile(r"^pytestmark = .*pytest\.mark\.slow\b", re.MULTILINE)


# Each processor has a worker of pytest, which holds many programs. Copies of it would wait for each other, and pay for
# each page that they touch: a fifth of what a compilation takes. Commands and test_lowering_processes do make copies.
compile_kernels.default_workers = lowering_processes.default_workers = lambda: 1
# What was measured here would stand in the texts of all targets.
os.environ.setdefault(FIGURES, SHIPPED)
hide_from_others()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked `needs(...)`, or with a machine as the parameter `target`, are skipped where this one lacks that."""
    for mark in item.iter_markers("needs"):
        needs(*mark.args)
    target = (
        item.callspec.params.get("target") if isinstance(item, pytest.Function) and hasattr(item, "callspec") else None
    )
    if isinstance(target, str) and is_named(target):
        needs(target)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that are slow as a whole where `-m` says so: importing them takes longer than the quick tests."""
    if collection_path.suffix != ".py" or "not slow" not in config.option.markexpr:
        return None
    return True if SLOW_FILE.search(collection_path.read_text()) else None


def pytest_collection_finish() -> None:
    """Leave cycles where they are; `pytest_runtest_logfinish` collects them."""
    gc.disable()


def pytest_runtest_logfinish() -> None:
    """Collect cycles between two tests once there are many."""
    if gc.get_count()[0] > MOST_GARBAGE:
        gc.collect()


def pytest_unconfigure() -> None:
    """No look for garbage at the end: pytest takes five, of seconds each where programs are still alive."""
    gc.freeze()


@pytest.fixture(scope="module")
def kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of its own: most kernels are the same with more outputs, at another level, or when a pass is left out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMINA_CACHE", "on")
        patch.setenv("LAMINA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
