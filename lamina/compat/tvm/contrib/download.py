"""`tvm.contrib.download`: nothing is fetched; a file that lies where TVM would have put it is found."""

from __future__ import annotations

import os
from pathlib import Path

from lamina.errors import InputError


def download_testdata(url: str, relpath: str, module: str | list[str] | None = None, overwrite: bool = False) -> str:
    """The path of a file of TVM's test data. Raises InputError where it is not there: it is not fetched."""
    root = Path(os.environ.get("TEST_DATA_ROOT_PATH", Path.home() / ".tvm_test_data"))
    parts = [module] if isinstance(module, str) else list(module or ())
    path = root.joinpath(*parts, relpath)
    if not path.is_file():
        raise InputError("nothing is fetched from the network", where=url, hint=f"put the file to {path}")
    return str(path)


def download(url: str, path: str, overwrite: bool = False, size_compare: bool = False, retries: int = 3) -> None:
    """Leaves a file that is there. Raises InputError where it is not."""
    if not Path(path).is_file():
        raise InputError("nothing is fetched from the network", where=url, hint=f"put the file to {path}")
