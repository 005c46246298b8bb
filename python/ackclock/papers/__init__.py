"""Reproductions of papers, as data: one folder each. `ackclock.reproduce` reads them."""
