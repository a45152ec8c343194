"""A Postgres server for tests: one that is named, one that runs here, or one started from installed binaries."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAMED = "ADMISSION_TEST_POSTGRES"
RUNNING = "postgresql://127.0.0.1:5432/test"


class NoServer(Exception):
    """Why there is no server to test on."""


@contextmanager
def postgres_address() -> Iterator[str]:
    """A libpq URL, without parameters, of a database the tests may make schemas in. Raises `NoServer`."""
    try:
        import psycopg
    except ImportError as error:
        raise NoServer("psycopg is not installed") from error

    named = os.environ.get(NAMED)
    if named:
        yield named  # one that does not answer is no reason to skip what was asked for
        return
    try:
        psycopg.connect(RUNNING, connect_timeout=5).close()
    except psycopg.OperationalError:
        with _started() as address:
            yield address
    else:
        yield RUNNING


@contextmanager
def _started() -> Iterator[str]:
    binaries = _binaries()
    if binaries is None:
        raise NoServer(f"no Postgres server runs here, none is installed, and {NAMED} names none")
    folder = Path(tempfile.mkdtemp(prefix="admission-postgres-"))
    user = _unprivileged()
    if user is not None:
        shutil.chown(folder, user)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(*command: str) -> None:
        done = subprocess.run(
            command, user=user, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        if done.returncode:
            raise NoServer(f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()}")

    data, log = str(folder / "data"), str(folder / "log")
    try:
        run(str(binaries / "initdb"), "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        run(str(binaries / "pg_ctl"), "-D", data, "-l", log, "-o", options, "-w", "start")
        try:
            yield f"postgresql://tester@127.0.0.1:{port}/postgres"
        finally:
            run(str(binaries / "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path | None:
    """The folder of initdb and pg_ctl: on the path, or where Debian keeps the newest."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    return installed[-1].parent if installed else None


def _unprivileged() -> str | None:
    """Who is to run the server: Postgres refuses to be root. None: this user."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in known), None)
