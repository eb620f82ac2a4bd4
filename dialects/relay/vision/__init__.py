"""Boxes of detectors, and regions of images. As a namespace, `r.vision`, the package spells the terms of its ops."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from lamina.dialects.relay import term_or_namespace

    return term_or_namespace(f"relay.vision.{name}")
