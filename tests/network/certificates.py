"""A certificate authority, and certificates that are good and bad."""

from __future__ import annotations

import subprocess
from pathlib import Path

_CONFIGURATION = "[req]\ndistinguished_name = dn\n[dn]\n"


def _make(folder: Path, name: str, host: str, *options: str | Path) -> None:
    configuration = folder / "openssl.cnf"
    configuration.write_text(_CONFIGURATION)
    subprocess.run(
        ["openssl", "req", "-x509", "-config", configuration, "-newkey", "ec",
         "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={host}",
         "-addext", "subjectKeyIdentifier=hash",
         "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem", *options],
        check=True, capture_output=True,
    )  # fmt: skip


def make_authority(folder: Path, name: str) -> list[str | Path]:
    """The options that have it sign."""
    _make(folder, name, f"Test Authority {name}", "-days", "3",
          "-addext", "basicConstraints=critical,CA:TRUE",
          "-addext", "keyUsage=critical,keyCertSign")  # fmt: skip
    return ["-CA", folder / f"{name}.pem", "-CAkey", folder / f"{name}.key",
            "-addext", "authorityKeyIdentifier=keyid"]  # fmt: skip


def make_leaf(
    folder: Path, name: str, host: str, *options: str | Path, names: str | None = None
) -> None:
    """NAME.pem with NAME.key, for `names` ("DNS:…,IP:…"; default: the host). Without the options of
    an authority it is self-signed."""
    _make(folder, name, host, "-days", "2", "-addext", f"subjectAltName={names or f'DNS:{host}'}",
          "-addext", "basicConstraints=critical,CA:FALSE", *options)  # fmt: skip


def make(folder: Path) -> None:
    """authority.pem, and NAME.pem with NAME.key for each of world.HOSTS."""
    signed = make_authority(folder, "authority")
    strange = make_authority(folder, "nobody's")
    make_leaf(folder, "good", "good.test", *signed)
    make_leaf(folder, "another-name", "good.test", *signed)
    make_leaf(folder, "self-signed", "self-signed.test")
    make_leaf(folder, "strange-authority", "strange-authority.test", *strange)
