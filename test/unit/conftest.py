"""Fixtures of several files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of its own: most kernels are the same with more outputs, at another level, or when a pass is left out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMINA_CACHE", "on")
        patch.setenv("LAMINA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
