"""What a study and its participants get before they meet: a file to be edited, keys, certificates and tokens."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import ipaddress
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ogive.core.files import PUBLIC, write_atomically
from ogive.errors import ParameterError, plain
from ogive.study.common import FORMAT, LARGEST_FILE, Document, read_bytes
from ogive.study.document import MERGE, PAIRS, SECAGG, SERVERS, Study, parse_study

# --- The file of a new study

_TEXT = """\
# What is computed, by whom, and at what price. Everybody reads the same bytes: compare `sha256sum` of the file.
ogive-study = {format}
name = "{name}"
title = ""
{terms}
# what {releases} may cost the {owner}
budget = {{ epsilon = 1 }}
{unit}{members}
[[release]]
{release}
privacy = {{ epsilon = 1 }}
{columns}
"""
_UNIT = """
[unit]
# "replace" makes the number of records public; "add_or_remove" keeps it private{too}
adjacency = "replace"
"""
_RECORDS = """\
# about how many records all parties have together; methods are chosen by it
records = {records}
"""
_TERMS = {
    SECAGG: _RECORDS
    + """\
# how many parties may collude with the coordinator, or read the release; how many may leave a release
colluding = 1
dropouts = {dropouts}""",
    MERGE: _RECORDS
    + """\
# each party releases its own curves, which are added up; how many parties may be missing from the sum
trust = "merge"
dropouts = {dropouts}""",
    SERVERS: """\
# people split their record into shares for these servers, of which at least one must be honest
trust = "servers"
# about how many people will upload; what is uploaded and methods are chosen by it
records = {records}
# where organizations upload the sums of their records instead: how many there are, such as
# parties = 4
# how many uploads there are at the least before a release ends them; with fewer it is refused, and nothing is spent
min_uploads = 1""",
    PAIRS: """\
# people meet in pairs and show nobody their records; the service sees noisy values
trust = "pairs"
# no pair begins after this
deadline = {deadline}""",
}
_AGE = ('name = "age"\nstatistic = "ecdf"', 'column = "age"\nbounds = [0, 120]\ngrid = "integers"')
_INCOME = ('name = "income"\nstatistic = "ustat"', 'columns = "income"\nkernel = "gini"\nbounds = [0, 100000]')


def template(
    name: str,
    trust: str,
    *,
    coordinator: str | None = None,
    members: Mapping[str, Sequence[str]] | None = None,
    people: Sequence[str] = (),
    records: int | None = None,
    deadline: str | None = None,
) -> str:
    """The text of a study, which `parse_study` reads.

    Keys are texts; `members` has those of each party or server by its name. A `deadline` has a time zone.
    """
    members, parties = members or {}, trust in (SECAGG, MERGE)
    tables = [f'[coordinator]\nkey = "{coordinator}"\n'] if coordinator else []
    for each, keys in members.items():
        lines = [f'{field} = "{key}"' for field, key in zip(("key", "sealing"), keys, strict=False)]
        tables.append("\n".join([f"[[{'party' if parties else 'server'}]]", f'name = "{each}"', *lines, ""]))
    unit = _UNIT.format(too=", and the servers have to as well" if trust == SERVERS else "")
    if parties:
        unit += '# person = "patient"\n'
    elif trust == PAIRS:
        unit = "".join(["# the public key of each person, from ogive study keys\npeople = [\n",
                        *(f'  "{each}",\n' for each in people), "]\n"])  # fmt: skip
    release, columns = _INCOME if trust == PAIRS else _AGE
    text = _TEXT.format(
        format=FORMAT,
        name=name,
        terms=_TERMS[trust].format(records=records, dropouts=1 if len(members) > 3 else 0, deadline=deadline),
        releases="the release" if trust == PAIRS else "all releases together",
        owner="records of each party" if parties else "record of each person",
        unit=unit,
        members="".join(f"\n{each}" for each in tables),
        release=release,
        columns=columns + ('\nmethod = "hat_ls"' if trust == MERGE else ""),
    )
    parse_study(text.encode())
    return text


def read_people(path: Path) -> list[str]:
    try:
        return read_bytes(path, LARGEST_FILE, "the keys of the people").decode("ascii").split()
    except UnicodeDecodeError:
        raise ParameterError(f"{plain(path)} holds no keys; ogive study keys prints them") from None


# --- Enrolment keys in files that only their owner reads

_LARGEST_KEY = 10_000


def make_key(path: str | Path) -> Ed25519PrivateKey:
    """Make a key pair and keep it in a new file, as PEM (PKCS 8), readable by its owner alone."""
    key = Ed25519PrivateKey.generate()
    write_private(path, _pem(key))
    return key


def _pem(key: Ed25519PrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """Make a folder that only its owner may read; if what is written into it fails, nothing of it stays."""
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise ParameterError(f"the folder {plain(folder)} is there already and is kept; name a new one") from None
    except OSError as problem:
        raise ParameterError(f"the folder {plain(folder)} cannot be made: {problem.strerror}") from None
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def write_private(path: str | Path, data: bytes) -> None:
    """Write a new file that only its owner may read, whole or not at all."""
    write_new(path, data, mode=0o600)


def write_new(path: str | Path, data: bytes, *, mode: int = 0o644) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise ParameterError(f"the file {plain(path)} is there already and is not overwritten") from None
    except OSError as problem:
        raise ParameterError(f"the file {plain(path)} cannot be written: {problem.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        Path(path).unlink(missing_ok=True)
        raise ParameterError(f"the file {plain(path)} cannot be written: {problem.strerror}") from None


def load_key(path: str | Path) -> Ed25519PrivateKey:
    data = read_bytes(path, _LARGEST_KEY, "the key")
    try:
        key = load_pem_private_key(data, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise ParameterError(f"{plain(path)} is not a key of a study; ogive study keys makes one")
    return key


# --- A study's own certificate authority, for its coordinator and its agents

AUTHORITY_DAYS = 3650
CERTIFICATE_DAYS = 397
_LONGEST_HOST = 253
_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"(\*\.)?{_LABEL}(\.{_LABEL})*")
_SOON = datetime.timedelta(days=30)
_EARLY = datetime.timedelta(days=1)
"""Certificates are valid from a day before, for clocks that disagree."""


def make_authority(folder: Path, name: str) -> None:
    """Make the authority: `ca.pem`, which everybody gets, and `ca.key`, which stays with the issuer."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"ogive study {name}"[:64])])
    certificate = (
        _builder(subject, subject, key.public_key(), AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(authority=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write_private(folder / "ca.key", _pem(key))
    write_atomically(folder / "ca.pem", certificate.public_bytes(Encoding.PEM), mode=PUBLIC)


def issue(folder: Path, name: str, *, hosts: tuple[str, ...] = (), days: int = CERTIFICATE_DAYS) -> None:
    """Issue a certificate with the authority in a folder: `NAME.pem` and `NAME.key`."""
    authority, signing = _authority(folder)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])
    use = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        _builder(subject, authority.subject, key.public_key(), days)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([use]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key()), critical=False)
    )
    if hosts:
        builder = builder.add_extension(
            x509.SubjectAlternativeName([check_host(each) for each in hosts]), critical=False
        )
    certificate = builder.sign(signing, hashes.SHA256())
    write_private(folder / f"{name}.key", _pem(key))
    write_atomically(folder / f"{name}.pem", certificate.public_bytes(Encoding.PEM), mode=PUBLIC)


def expiry_words(path: Path) -> str | None:
    """A line where a certificate has expired or soon will; None where it is valid for longer."""
    try:
        until = x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc
    except (OSError, ValueError):
        raise ParameterError(f"the certificate {plain(path)} cannot be read") from None
    left = until - datetime.datetime.now(datetime.UTC)
    if left > _SOON:
        return None
    when = "has expired" if left < datetime.timedelta(0) else "will expire"
    return (
        f"the certificate {plain(path)} {when} at {until:%Y-%m-%d %H:%M} UTC, and agents do not connect to an expired "
        "one; make a folder with another by ogive study keys --service"
    )


def _authority(folder: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    try:
        certificate = x509.load_pem_x509_certificate((folder / "ca.pem").read_bytes())
        key = load_pem_private_key((folder / "ca.key").read_bytes(), None)
    except OSError as problem:
        raise ParameterError(f"there is no authority in {plain(folder)}: {problem.strerror}") from None
    except ValueError:
        raise ParameterError(f"the authority in {plain(folder)} is damaged") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        raise ParameterError(f"ca.key in {plain(folder)} does not belong to ca.pem")
    return certificate, key


def _builder(
    subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLY)
        .not_valid_after(now + datetime.timedelta(days=days))
    )


def _usage(*, authority: bool) -> x509.KeyUsage:
    others = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    never = dict.fromkeys((*others, "encipher_only", "decipher_only"), False)
    return x509.KeyUsage(digital_signature=not authority, key_cert_sign=authority, crl_sign=authority, **never)


def check_host(name: str) -> x509.GeneralName:
    """The name or address of a service as a certificate states it."""
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        if _HOST.fullmatch(name) and len(name) <= _LONGEST_HOST:
            return x509.DNSName(name)
    raise ParameterError(f"`host` must be a name or an address, such as study.example.org, got {plain(name)}")


# --- Tokens, by which the service knows a party and of which it stores digests

TOKEN_BYTES = 32
_LARGEST_TOKENS = 1 << 20


def make_token() -> str:
    return secrets.token_hex(TOKEN_BYTES)


def token_digest(token: str) -> str:
    """SHA-256 of a token, hexadecimal; a token is random and long, so that nothing slower is needed."""
    return hashlib.sha256(b"ogive study token\n" + token.encode()).hexdigest()


class Tokens:
    """The digests of all parties' tokens."""

    def __init__(self, digests: Mapping[int, str]) -> None:
        self._digests = dict(digests)

    def party(self, token: str) -> int | None:
        result = token_digest(token)
        matching = [number for number, known in self._digests.items() if hmac.compare_digest(known, result)]
        return matching[0] if matching else None

    def to_text(self, study: Study) -> str:
        return "".join(f"{study.parties[number - 1].name} {each}\n" for number, each in sorted(self._digests.items()))

    @staticmethod
    def read(path: Path, study: Study) -> Tokens:
        try:
            lines = read_bytes(path, _LARGEST_TOKENS, "the list of tokens").decode().replace("\r\n", "\n").split("\n")
        except UnicodeDecodeError:
            raise ParameterError(f"{plain(path)} is not a list of tokens") from None
        result = dict(line.split(" ", 1) for line in lines if line.count(" ") == 1)
        lacking = [party.name for party in study.parties if len(result.get(party.name, "")) != 2 * TOKEN_BYTES]
        if lacking:
            raise ParameterError(f"{plain(path)} has no token of party {plain(lacking[0])}")
        return Tokens({number: result[party.name] for number, party in enumerate(study.parties, 1)})


# --- The folder of the service, with certificates and tokens

SERVICE, TOKENS = "service", "tokens"
"""Names of the files of the service's certificate, and of the list of tokens' digests."""


def equip(folder: Path, study: Document, *, hosts: tuple[str, ...], clients: bool = False) -> None:
    """Make the authority, the service's certificate and the tokens of all parties, in a new folder."""
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
    try:
        token = read_bytes(path, 1000, "the token").decode("ascii").strip()
    except UnicodeDecodeError:
        token = ""
    if len(token) != 2 * TOKEN_BYTES or not token.isalnum():
        raise ParameterError(f"{plain(path)} holds no token")
    return token
