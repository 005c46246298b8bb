"""The lab's server answers one address, to requests that name its own host."""

import http.client
import threading
import zlib
from base64 import urlsafe_b64decode
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.errors import AckclockError
from ackclock.lab import server as lab


@contextmanager
def serving():
    with lab.LabServer(b"<p>the page</p>") as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def get(server, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def test_the_page_is_at_the_address_with_the_token():
    with serving() as server:
        status, body, headers = get(server, f"/{server.token}/")
        assert server.url.endswith(f":{server.server_port}/{server.token}/")
    assert (status, body) == (200, b"<p>the page</p>")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    ["/", "/wrong/", "/{token}", "/{token}/../etc/passwd", "/{token}/%2e%2e/x", "/{token}x/"],
)
def test_no_other_address_is_answered(path):
    with serving() as server:
        status, body, _ = get(server, path.format(token=server.token))
    assert (status, body) == (404, b"Not Found\n")


def test_a_page_of_another_origin_gets_nothing():
    with serving() as server:
        assert get(server, f"/{server.token}/", Host="attacker.example")[0] == 403
        assert get(server, f"/{server.token}/", method="POST")[0] == 501


def test_tokens_differ():
    with serving() as one, serving() as other:
        assert one.token != other.token
        assert len(one.token) >= 32


def test_a_scenario_is_packed_into_the_address():
    text = '# a question\nname = "é"\n'
    coded = lab.fragment_of(text).removeprefix("#s=")
    packed = urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
    assert zlib.decompress(packed, wbits=-15).decode() == text
    assert set(coded) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_a_page_that_is_not_built_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(lab, "PAGE", tmp_path / "lab.html")
    with pytest.raises(AckclockError, match=r"lab.html is not there; `make web` builds it"):
        lab.read_page()


def test_a_control_in_python_is_refused_before_anything_is_served(monkeypatch, tmp_path):
    page = tmp_path / "lab.html"
    page.write_text("x")
    monkeypatch.setattr(lab, "PAGE", page)
    (tmp_path / "mine.py").write_text(
        "import ackclock\n\n@ackclock.control\nclass Mine:\n"
        "    def on_ack(self, window, ack):\n"
        "        window.cwnd += 1 / window.cwnd\n"
        "    def on_congestion(self, window, event):\n"
        "        window.cwnd /= 2\n"
    )
    scenario = tmp_path / "mine.toml"
    flow = ac.Flow(pair=0, cc="mine.py:Mine")
    net = ac.topology.Dumbbell(pairs=1, rate="1 Mbps", rtt="10 ms", buffer="10 pkt")
    made = ac.Scenario(net=net, flows=[flow], duration="1 s")
    scenario.write_text(made.to_toml())
    result = CliRunner().invoke(cli.cli, ["lab", str(scenario), "--no-browser"])
    assert result.exit_code == 2
    assert "algorithms written in Python and guests do not run in the lab" in result.output
