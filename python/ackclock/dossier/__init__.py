"""The dossier of a congestion control: what it is measured in, judged requirement by requirement.

A profile is a folder of data in the form of a paper's: studies, queries, what they must give.
"""
