"""A run bundle from somebody else: it has no links, and what they lead to is not read."""

import os

import pytest

import ackclock as ac
from ackclock.cli.main import main
from ackclock.errors import AckclockError
from ackclock.results.bundle import read_bundle
from ackclock.scenario.load import load_run
from conftest import SMALL


@pytest.fixture
def bundle(tmp_path):
    folder = tmp_path / "bundle"
    ac.load(SMALL).run().save(folder)
    return folder


@pytest.mark.parametrize("name", ["provenance.json", "summary.json", "packets.parquet", "x/y"])
@pytest.mark.parametrize("target", ["/dev/zero", "/etc/hostname", "scenario.toml", "nowhere"])
def test_a_link_in_a_run_bundle_is_refused_wherever_it_leads(
    bundle, tmp_path, capsys, name, target
):
    at = bundle / name
    at.parent.mkdir(exist_ok=True)
    at.unlink(missing_ok=True)
    at.symlink_to(target if target.startswith("/") else bundle / target)
    with pytest.raises(AckclockError) as caught:
        load_run(bundle)
    expected = f"{bundle} is no run bundle that is read: {at}: it is a link; expected files and"
    assert str(caught.value).startswith(expected)
    picture = tmp_path / "windows.svg"
    assert main(["plot", str(bundle), "--kind", "windows", "--out", str(picture)]) == 2
    assert "it is a link" in capsys.readouterr().err
    # Nothing is changed, and nothing is written.
    assert at.is_symlink()
    assert not picture.exists()


def test_a_run_bundle_whose_table_is_a_link_to_a_true_one_is_refused(bundle, tmp_path):
    other = tmp_path / "summary.json"
    (bundle / "summary.json").rename(other)
    (bundle / "summary.json").symlink_to(other)
    with pytest.raises(AckclockError, match="it is a link"):
        load_run(bundle)


def test_a_pipe_in_a_run_bundle_is_refused_and_not_waited_for(bundle):
    (bundle / "summary.json").unlink()
    os.mkfifo(bundle / "summary.json")
    with pytest.raises(AckclockError, match="no regular file"):
        load_run(bundle)


def test_a_run_bundle_may_be_reached_through_a_link(bundle, tmp_path):
    (tmp_path / "here").symlink_to(bundle)
    assert load_run(tmp_path / "here").summary == load_run(bundle).summary


def test_the_tables_of_a_bundle_share_the_memory_that_they_may_take(tmp_path):
    """Each alone has room in what the largest takes; all together have not."""
    folder = tmp_path / "bundle"
    ac.load(SMALL).run(record=["windows", "rtts", "flow_samples"]).save(folder)
    sizes = [table.nbytes for table in read_bundle(folder)[1].values()]
    largest = 1.1 * max(sizes)
    assert sum(sizes) > largest
    with pytest.raises(AckclockError, match="is a damaged run bundle"):
        read_bundle(folder, largest)
    assert [table.nbytes for table in read_bundle(folder, 1.1 * sum(sizes))[1].values()] == sizes
