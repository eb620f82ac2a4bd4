"""`tvm.contrib.utils`: folders for files of a while."""

from __future__ import annotations

import os
import tempfile


class TempDirectory:
    """A folder that is removed with its object."""

    def __init__(self, custom_path: str | None = None) -> None:
        self._folder = None if custom_path else tempfile.TemporaryDirectory(prefix="tvm-")
        if custom_path:
            os.makedirs(custom_path, exist_ok=True)
        self.temp_dir: str = custom_path or (self._folder.name if self._folder is not None else "")

    @property
    def path(self) -> str:
        return self.temp_dir

    def relpath(self, name: str) -> str:
        """The path of a file in the folder."""
        return os.path.join(self.temp_dir, name)

    def listdir(self) -> list[str]:
        """The names of what is in the folder."""
        return os.listdir(self.temp_dir)

    def remove(self) -> None:
        """Remove the folder now; one that the caller has named stays."""
        if self._folder is not None:
            self._folder.cleanup()

    def __truediv__(self, name: str) -> str:
        return self.relpath(name)


def tempdir(custom_path: str | None = None, keep_for_debug: bool = False) -> TempDirectory:
    """A new folder, by default one that is removed with its object."""
    return TempDirectory(tempfile.mkdtemp(prefix="tvm-") if keep_for_debug and not custom_path else custom_path)


__all__ = ["TempDirectory", "tempdir"]
