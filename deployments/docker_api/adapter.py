"""Lets the SDK speak over connections that the panel opens itself: it can reach nothing else."""

import socket
from collections.abc import Mapping

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool

from deployments.docker_api.dialing import Dial

NAME = "docker"
"""Stands where a URL needs a host; never resolved."""
MOST_IDLE = 4


class _Connection(HTTPConnection):
    def __init__(self, dial: Dial) -> None:
        super().__init__(NAME)
        self._dial = dial

    def connect(self) -> None:
        """Open what the address leads to."""
        seconds = self.timeout
        self.sock: socket.socket = self._dial(
            seconds if isinstance(seconds, int | float) else 0.0
        )


class _Pool(HTTPConnectionPool):
    def __init__(self, dial: Dial) -> None:
        super().__init__(NAME, maxsize=MOST_IDLE)
        self._dial = dial

    def _new_conn(self) -> _Connection:
        return _Connection(self._dial)


class DialAdapter(HTTPAdapter):
    """Every request of the session, wherever its URL or a redirect points, goes to the engine."""

    def __init__(self, dial: Dial) -> None:
        super().__init__()
        self._pool = _Pool(dial)

    def get_connection_with_tls_context(
        self,
        request: requests.PreparedRequest,
        verify: bool | str | None,  # noqa: FBT001 - the signature of requests
        proxies: Mapping[str, str] | None = None,
        cert: tuple[str, str] | str | None = None,
    ) -> HTTPConnectionPool:
        """The engine's own connections."""
        del request, verify, proxies, cert
        return self._pool

    def request_url(
        self, request: requests.PreparedRequest, proxies: Mapping[str, str] | None
    ) -> str:
        """The path alone; there is no proxy."""
        del proxies
        return str(request.path_url)

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()
        super().close()
