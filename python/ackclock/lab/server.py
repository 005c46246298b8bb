"""Serves the lab's one page on the loopback address, to requests with its token.

The page needs nothing but itself: it could be opened from disk as well. What the server adds is an
address that holds a scenario. It answers GET of that one address; it reads one file, at its start.
"""

from __future__ import annotations

import base64
import secrets
import zlib
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ackclock.errors import AckclockError

__all__ = ["PAGE", "LabServer", "fragment_of", "read_page"]

PAGE = Path(__file__).parent / "lab.html"
"""The page; `make web` builds it."""

_HOST = "127.0.0.1"


def read_page() -> bytes:
    """Read the page.

    Raises
    ------
    AckclockError
        It has not been built.
    """
    try:
        return PAGE.read_bytes()
    except FileNotFoundError:
        message = f"the lab's page {PAGE} is not there; `make web` builds it in a checkout"
        raise AckclockError(message) from None


def fragment_of(toml: str) -> str:
    """Pack a scenario into the fragment of an address, as the page's button "Share" does.

    Parameters
    ----------
    toml
        The scenario as TOML text.

    Returns
    -------
    str
        ``#s=`` and the deflated text (RFC 1951) in base64url (RFC 4648) without padding.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(toml.encode()) + packer.flush()
    return "#s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


class LabServer(ThreadingHTTPServer):
    """A server of the page on the loopback address.

    Parameters
    ----------
    page
        The page.
    port
        Port to listen on; 0 takes a free one.
    """

    daemon_threads = True

    def __init__(self, page: bytes, port: int = 0) -> None:
        self.page = page
        self.token = secrets.token_urlsafe(24)
        super().__init__((_HOST, port), _Answer)

    @property
    def url(self) -> str:
        """Address of the page, with its token."""
        return f"http://{_HOST}:{self.server_port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, str]:
        """What a request's Host may be; another one comes from a page of another origin."""
        return f"{_HOST}:{self.server_port}", f"localhost:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    server: LabServer
    server_version = "ackclock"
    sys_version = ""
    # An idle connection does not hold its thread for ever.
    timeout = 30

    def do_GET(self) -> None:
        if self.headers.get("Host") not in self.server.hosts:
            self._refuse(HTTPStatus.FORBIDDEN)
        elif not secrets.compare_digest(self.path.encode(), f"/{self.server.token}/".encode()):
            self._refuse(HTTPStatus.NOT_FOUND)
        else:
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(status, "text/plain; charset=utf-8", f"{status.phrase}\n".encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name in the standard library
        """Print nothing: the command's output is its address."""
