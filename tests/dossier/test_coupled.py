"""What a profile requires of controls that couple the subflows of a connection."""

from pathlib import Path

from ackclock.dossier.bind import read_control
from ackclock.dossier.read import read
from ackclock.dossier.run import choose_requirements


def test_several_paths_are_measured_for_controls_that_couple_them():
    """Of section 7.10 a control of one path answers questions; a coupled one has numbers."""
    profile = read("rfc9743")
    ids = {}
    for is_coupled in (False, True):
        chosen = choose_requirements(profile, ["7.10"], is_coupled=is_coupled)
        ids[is_coupled] = [one.id for one in chosen]
    assert ids[False] == ["7.10-failover", "7.10-shared"]
    assert ids[True] == ["7.10-coupled-failover", "7.10-coupled-shared", "7.10-coupled-paths"]
    assert all(profile.requirements[name].is_text for name in ids[False])
    assert all(profile.requirements[name].thresholds for name in ids[True])
    controls = ("aimd", "lia", '{kind = "olia"}', "balia", "cubic")
    coupled = [read_control(text, Path()).is_coupled for text in controls]
    assert coupled == [False, True, True, True, False]
