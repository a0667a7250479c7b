"""What the service of a study and its parties get before they meet: certificates and tokens."""

from __future__ import annotations

from pathlib import Path

from ogive.errors import ParameterError, plain
from ogive.study.common import Document
from ogive.study.document import Study
from ogive.study.https.certificates import check_host, issue, make_authority
from ogive.study.https.tokens import TOKEN_BYTES, Tokens, make_token, token_digest
from ogive.study.keys import new_folder, write_private

SERVICE, TOKENS = "service", "tokens"
"""Names of the files of the service's certificate, and of the list of tokens' digests."""


def equip(folder: Path, study: Document, *, hosts: tuple[str, ...], clients: bool = False) -> None:
    """Make the authority, the service's certificate and the tokens of all parties, in a new folder.

    Args:
        folder: To be made.
        study: Says who the parties are.
        hosts: Names and addresses under which the service is reached.
        clients: Whether each party gets a certificate, too.

    Raises:
        ParameterError: the folder is there already, or cannot be written, or a host is none.
    """
    for host in hosts:
        check_host(host)
    with new_folder(folder):
        make_authority(folder, study.name)
        issue(folder, SERVICE, hosts=hosts)
        if not isinstance(study, Study):
            return  # there are no parties
        digests = {}
        for number, party in enumerate(study.parties, 1):
            token = make_token()
            write_private(folder / f"{party.name}.token", f"{token}\n".encode())
            digests[number] = token_digest(token)
            if clients:
                issue(folder, party.name)
        write_private(folder / TOKENS, Tokens(digests).to_text(study).encode())


def read_token(path: Path) -> str:
    """A party's token from its file.

    Raises:
        ParameterError: the file cannot be read, or holds none.
    """
    try:
        with path.open(encoding="ascii") as file:
            token = file.read(1000).strip()
    except OSError as problem:
        raise ParameterError(f"the token {plain(path)} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        token = ""
    if len(token) != 2 * TOKEN_BYTES or not token.isalnum():
        raise ParameterError(f"{plain(path)} holds no token")
    return token
