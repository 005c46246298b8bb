"""How good a congestion control is, yours for example: the method of Akella et al. (2002).

`evaluate` runs a control beside seven others in every router and loss recovery of the paper and in
environments of varying bandwidth; `judged` says what the runs support.
"""
