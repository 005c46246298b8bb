"""Hidden traces of a contest: drawn from the teacher's seed, or the teacher's files."""

from ackclock.course.tasks.control import HIDDEN, ControlTask


def traces(folder, seed):
    folder.mkdir()
    items, problems = ControlTask().items({}, seed, None, folder)
    assert problems == []
    assert [item.name for item in items] == [f"hidden {i}" for i in range(1, HIDDEN + 1)]
    files = [item.data["file"] for item in items]
    assert files == [str(folder / f"hidden-{i}.trace") for i in range(1, HIDDEN + 1)]
    return [(folder / f"hidden-{i}.trace").read_bytes() for i in range(1, HIDDEN + 1)]


def test_each_seed_has_its_own_five_and_always_the_same(tmp_path):
    """Who knows the traces of one seed knows none of the next."""
    first, second = (traces(tmp_path / str(seed), seed) for seed in (1, 2))
    assert len({*first, *second}) == 2 * HIDDEN
    assert traces(tmp_path / "again", 2) == second
