"""Papers as data: reading them, running them, judging their claims, drawing their figures."""

from __future__ import annotations
