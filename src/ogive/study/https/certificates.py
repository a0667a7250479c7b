"""A small certificate authority of a study's own, which issues certificates to its coordinator and its agents."""

from __future__ import annotations

import datetime
import ipaddress
import re
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ogive.errors import ParameterError, plain
from ogive.files import PUBLIC, write_atomically
from ogive.study.keys import write_private

AUTHORITY_DAYS = 3650
CERTIFICATE_DAYS = 397
_LONGEST_HOST = 253
_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"(\*\.)?{_LABEL}(\.{_LABEL})*")
_SOON = datetime.timedelta(days=30)
_EARLY = datetime.timedelta(days=1)
"""Certificates are valid from a day before, for clocks that disagree."""


def make_authority(folder: Path, name: str) -> None:
    """Make the authority: `ca.pem`, which everybody gets, and `ca.key`, which stays with whoever issues certificates.

    Args:
        folder: In which both files are made.
        name: Of the study.

    Raises:
        ParameterError: there are such files, or they cannot be written.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"ogive study {name}"[:64])])
    certificate = (
        _builder(subject, subject, key.public_key(), AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(authority=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write_private(folder / "ca.key", _private(key))
    write_atomically(folder / "ca.pem", certificate.public_bytes(Encoding.PEM), mode=PUBLIC)


def issue(folder: Path, name: str, *, hosts: tuple[str, ...] = (), days: int = CERTIFICATE_DAYS) -> None:
    """Issue a certificate with the authority in a folder: `NAME.pem` and `NAME.key`.

    Args:
        folder: Holds `ca.pem` and `ca.key`.
        name: Of whom it is for.
        hosts: Names and addresses of a service; none for a client.
        days: How long it is valid.

    Raises:
        ParameterError: there is no authority, or the files are there already or cannot be written.
    """
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
    write_private(folder / f"{name}.key", _private(key))
    write_atomically(folder / f"{name}.pem", certificate.public_bytes(Encoding.PEM), mode=PUBLIC)


def expiry_words(path: Path) -> str | None:
    """A line where a certificate has expired or soon will; None where it is valid for longer.

    Raises:
        ParameterError: it cannot be read.
    """
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
    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def check_host(name: str) -> x509.GeneralName:
    """The name or address of a service as a certificate states it.

    Raises:
        ParameterError: it is neither.
    """
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        if _HOST.fullmatch(name) and len(name) <= _LONGEST_HOST:
            return x509.DNSName(name)
    raise ParameterError(f"`host` must be a name or an address, such as study.example.org, got {plain(name)}")


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
