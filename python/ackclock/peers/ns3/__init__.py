"""Scenarios as C++ programs for ns-3.

Source: attributes of ns-3.37 as its documentation lists them.
"""
