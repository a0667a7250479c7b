"""Addresses that people write: each that no service can have is one line, before anything is sent."""

import pytest

from ogive.errors import ParameterError
from ogive.study.agent import Connection
from ogive.study.https import Sender, read_address
from ogive.study.pairs.joining import _address

WRONG = (
    "", "localhost", "http://localhost", "https://", "https://localhost:abc", "https://localhost:99999", "https://[::1",
    "https://localhost:0", "https://h ost", "https://localhost/a b", "https://localhost/é", "https://localhost/\x00",
    "https://localhost\n", "https://" + "a" * 300, "https://a..b", "https://me:word@localhost", "https://localhost?a=1",
    "https://localhost#a", "ftp://localhost",
)  # fmt: skip


@pytest.mark.parametrize("url", WRONG)
def test_what_is_no_address_is_one_line(url):
    for use in (
        lambda: read_address(url, "a server"),
        lambda: Sender(bytes(32), url),
        lambda: Connection(url, "north", "token"),
        lambda: _address(url),
    ):
        with pytest.raises(
            ParameterError, match=r"the address of .* must be such as https://study\.example\.org"
        ) as wrong:
            use()
        assert "\n" not in str(wrong.value)


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("https://study.example.org:8443", "study.example.org", 8443),
        ("https://127.0.0.1/path/", "127.0.0.1", None),
        ("https://[::1]:443", "::1", 443),
        ("https://bücher.example", "bücher.example", None),
    ],
)
def test_addresses_are_read(url, host, port):
    parts = read_address(url, "a server")
    assert (parts.hostname, parts.port) == (host, port)
