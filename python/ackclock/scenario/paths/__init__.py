"""Paths with names: ``[net] kind = "path"``, models of access networks after measurements.

`models.py` has the models with the source of each number, `kind.py` spells them out as a dumbbell
with schedules and impairments. They are models, not recordings.
"""
