"""Conformance suites: whether a control does what the test cases of its specification say."""

from ackclock.studies.conform.run import Conformance, conform
from ackclock.studies.conform.suite import Suite, find_suite

__all__ = ["Conformance", "Suite", "conform", "find_suite"]
