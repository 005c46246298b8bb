"""Controls of released libraries: flows where the build has them, one sentence where not."""

import pytest
from click.testing import CliRunner

import ackclock as ac
from ackclock.catalogue import schema
from ackclock.cli.main import cli

SHIPPED = sorted(schema.find_bundled())
with_libraries = pytest.mark.skipif(not SHIPPED, reason="this build has no libraries: make stacks")
without_libraries = pytest.mark.skipif(bool(SHIPPED), reason="this build has the libraries")


def scenario(cc, transport="quic"):
    return ac.Scenario.from_data(
        {
            "net": {
                "kind": "dumbbell",
                "pairs": 2,
                "rate": "10 Mbps",
                "rtt": "40 ms",
                "buffer": "1 bdp",
            },
            "flows": [
                {"pair": 0, "cc": cc, "transport": transport},
                {"pair": 1, "cc": "cubic", "transport": transport},
            ],
            "duration": "20 s",
            "warmup": "5 s",
        }
    )


@without_libraries
@pytest.mark.parametrize(
    ("name", "crate"),
    [
        ("s2n/bbr2", "s2n-quic-core"),
        ("quinn/cubic", "quinn-proto"),
        ("noq/bbr3", "noq-proto"),
    ],
)
def test_a_build_without_the_library_names_its_crate_and_the_command_that_builds_it(name, crate):
    with pytest.raises(ac.ScenarioError) as raised:
        scenario(name).check()
    [problem] = raised.value.problems
    assert problem.path == "flows[0].cc"
    assert problem.message == (
        f'"{name}" is of the crate {crate}, which this build lacks; "make stacks" in a checkout'
        " builds it"
    )


def test_a_library_that_nobody_knows_is_an_unknown_name():
    with pytest.raises(ac.ScenarioError, match='there is no cc "mine/cubic"'):
        scenario("mine/cubic").check()


@with_libraries
def test_a_misspelt_control_of_a_library_gets_the_nearest_name():
    with pytest.raises(ac.ScenarioError, match='did you mean "s2n/cubic"'):
        scenario("s2n/cubik").check()


@with_libraries
@pytest.mark.parametrize("name", SHIPPED)
def test_a_flow_of_a_library_runs_beside_ours_and_repeats(name):
    first = scenario(name).run()
    rates = [flow["goodput_bps"] for flow in first.summary["flows"]]
    assert sum(rates) == pytest.approx(9.4e6, rel=0.05)
    # quinn's BBR fills the buffer whatever is lost, and leaves CUBIC next to nothing.
    assert min(rates) > (1e5 if name == "quinn/bbr" else 1e6)
    assert scenario(name).run().summary["digest"] == first.summary["digest"]


@with_libraries
@pytest.mark.parametrize("name", [name for name in SHIPPED if name.startswith(("quinn/", "noq/"))])
def test_a_whole_connection_is_refused_over_tcp_and_with_an_application_that_pauses(name):
    with pytest.raises(ac.ScenarioError, match='expected transport = "quic"'):
        scenario(name, "tcp").check()
    with pytest.raises(ac.ScenarioError, match="expected neither app nor stop"):
        scenario(name).replace(**{"flows[0].stop": "10 s"}).check()


@with_libraries
def test_the_command_line_lists_them_with_crate_and_version():
    listed = CliRunner().invoke(cli, ["list", "cc"]).output
    for name in SHIPPED:
        [line] = [line for line in listed.splitlines() if f" {name} " in f" {line} "]
        assert schema.find_bundled()[name]["crate"] in line
        assert "shipped" in line
    shown = CliRunner().invoke(cli, ["show", "s2n/bbr2"]).output
    assert "Python: 's2n/bbr2'" in shown


@with_libraries
def test_a_counterexample_runs_over_connections_of_a_library():
    pytest.importorskip("z3")
    pytest.importorskip("cvc5")
    arguments = ["prove", "bbr", "--property", "utilisation=0.1", "--replay", "stacks"]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code in (0, 1), result.output
    assert "quinn: the violation is" in result.output
