"""Searches, guided by coverage, for octets that break a target: `make fuzz`.

    python tests/fuzz/fuzz.py smtp 10        # ten minutes; several targets: smtp,mime,reply,command

What is found stands in ``var/fuzz/TARGET/``: inputs that reached new code, and crash-… for each
input that broke a rule. Needs the extra ``fuzz`` (atheris: Linux, CPython 3.11 and newer).
"""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FOUND = Path("var/fuzz")
TESTS = HERE.parent
SEEDS = {
    "smtp": [HERE / "corpus/smtp"],
    "mime": [HERE / "corpus/mime", TESTS / "replies", TESTS / "sealed"],
    "reply": [HERE / "corpus/reply"],
    "command": [HERE / "corpus/command"],
    "sender": [HERE / "corpus/sender"],
    "report": [HERE / "corpus/report"],
}
LONGEST = {
    "smtp": 4096,
    "mime": 4096,
    "reply": 1024,
    "command": 512,
    "sender": 2048,
    "report": 4096,
}


def main() -> int:
    """Fuzz each target that is named in turn; 1 when one of them was broken."""
    names, minutes = sys.argv[1].split(","), float(sys.argv[2])
    if len(names) == 1:
        return _fuzz(names[0], minutes)
    # libFuzzer ends its process, so each target has one of its own.
    command = [sys.executable, __file__]
    codes = [subprocess.run([*command, name, str(minutes)], check=False).returncode
             for name in names]  # fmt: skip
    return int(any(codes))


def _fuzz(name: str, minutes: float) -> int:
    import atheris

    logging.getLogger().addHandler(logging.NullHandler())  # or aiosmtpd's log fills the screen
    with atheris.instrument_imports(include=["pbmserv", "aiosmtpd"], enable_loader_override=False):
        from targets import TARGETS
    findings = FOUND / name
    findings.mkdir(parents=True, exist_ok=True)
    print(
        f"fuzzing {name} for {minutes:g} minutes; what is found is kept in {findings}", flush=True
    )
    atheris.Setup(
        [
            sys.argv[0],
            f"-max_total_time={round(minutes * 60)}",
            f"-max_len={LONGEST[name]}",
            "-timeout=10",
            "-rss_limit_mb=2048",
            "-print_final_stats=1",
            f"-artifact_prefix={findings}/",
            str(findings),
            *map(str, SEEDS[name]),
        ],
        TARGETS[name],
    )
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(TESTS), str(TESTS.parent)]
    sys.exit(main())
