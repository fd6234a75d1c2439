# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the suites share: the programs under test and the count of checks."""

import contextlib
import os
import subprocess
import sys

TOOL = os.environ.get("ANDIRON_TOOL", "andiron")
PROBE = os.environ.get("ANDIRON_PROBE", "andiron_interop_probe")
BURNPACK_PROBE = os.environ.get("ANDIRON_BURNPACK_PROBE", "andiron_burnpack_probe")
# Absent where there is no Rust.
RUST_PEER = os.environ.get("ANDIRON_RUST_PEER")
BURNPACK_PEER = os.environ.get("ANDIRON_BURNPACK_PEER")
# By release; those but 0.21 in the long form alone.
BURN_PEERS = {release: os.environ[variable] for release, variable in (
    ("0.21", "ANDIRON_BURN_PEER"), ("0.19", "ANDIRON_BURN_0_19_PEER"), ("0.20", "ANDIRON_BURN_0_20_PEER"),
    ("0.22", "ANDIRON_BURN_0_22_PEER")) if variable in os.environ}


class Suite:
    """Counts checks; goes on after a failure."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, what, ok, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {what}" + (f": {detail}" if detail else ""))
        return ok

    def equal(self, what, got, expected):
        return self.check(what, got == expected, f"got {shorten(got)}, expected {shorten(expected)}")

    def same_bytes(self, what, got, expected):
        """Says where files differ, which are too long to be shown."""
        at = next((i for i, pair in enumerate(zip(got, expected)) if pair[0] != pair[1]),
                  min(len(got), len(expected)))
        start = max(at - 40, 0)
        return self.check(what, got == expected,
                          f"{len(got)} and {len(expected)} bytes differ from byte {at} on:"
                          f" {got[start:at + 40]} instead of {expected[start:at + 40]}")

    @contextlib.contextmanager
    def case(self, what):
        """A program that fails within is one failed check, and the suite goes on after it."""
        try:
            yield
        except RuntimeError as error:
            self.check(what, False, error)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)


def shorten(value):
    text = repr(value)
    return text if len(text) <= 400 else f"{text[:400]}... ({len(text)} characters)"


def run(*command, stdin=b""):
    """The output of a command that must succeed."""
    done = subprocess.run(command, input=stdin, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {done.returncode}:"
                           f" {done.stderr.decode(errors='replace')}")
    return done.stdout


def exit_code(*command):
    return subprocess.run(command, capture_output=True, check=False).returncode


def check_verdicts(suite, cases, path, read_by_peers, compare):
    """Peers, by name, and we read each file of the lists in `cases`, or refuse it, as its list says.
    `compare(what)` is called for those that all read."""
    lists = [(cases.REFUSED_BY_ALL, False, False), (cases.REFUSED_BY_US_ALONE, True, False),
             (cases.READ_BY_US_ALONE, False, True), (cases.READ_BY_ALL, True, True)]
    for files, peers_read, we_read in lists:
        for what, data in files.items():
            path.write_bytes(data)
            for peer, verdict in read_by_peers(path).items():
                suite.equal(f"{what}: read by {peer}", verdict, peers_read)
            code = exit_code(TOOL, "hash", path)
            suite.check(f"{what}: our exit code", code == 0 if we_read else code in (2, 3), code)
            if peers_read and code == 0:
                compare(what)
