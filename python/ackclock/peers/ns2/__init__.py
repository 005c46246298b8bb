"""Scenarios as Tcl scripts for ns-2.35.

Source: what ns-2.35 does was found by running it; its variables are in its ``ns-default.tcl``.
"""
