"""Reports: text first, then HTML that opens from disk without a network."""

from __future__ import annotations
