"""How good a queue discipline is, yours for example: the scenarios of RFC 7928.

`evaluate_queue` runs a discipline beside drop tail and the registry's in each of `SCENARIOS` and
says what the runs support.
"""
