"""Names that scripts rely on stay where they are."""

import subprocess
import sys

import ackclock as ac


def test_names_of_scripts_work():
    from ackclock.cc import Aimd

    assert ac.cc.Aimd is Aimd
    assert ac.Flow(pair=0, cc=Aimd(b=0.7)).to_data()["cc"] == {"kind": "aimd", "b": 0.7}
    net = ac.topology.Dumbbell(pairs=1, rate="1 Mbps", rtt="10 ms")
    case = ac.Scenario(net, [ac.Flow(pair=0)], duration="1 s")
    assert ac.sweep(case, {"net.rtt": ["10 ms", "20 ms"]}).plan().runs == 2


def test_every_public_name_is_there():
    assert [name for name in ac.__all__ if not hasattr(ac, name)] == []
    assert {"cc", "qdisc", "topology", "Scenario", "Flow", "sweep", "Sweep", "load"} <= set(
        ac.__all__
    )
    assert set(ac.__all__) <= set(dir(ac))


def test_the_package_is_imported_without_its_parts():
    code = "import sys, ackclock; print(sorted(m for m in sys.modules if m.startswith('ackclock')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['ackclock']\n"
