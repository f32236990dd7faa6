"""Where pip on this machine takes packages from, as files that an image's build is handed.

An image is built from the same index as `.venv`, with the same proxy and the same trusted
certificates; none of it, least of all a password, stands in the image.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from toolchain.report import Stop

CERTIFICATES_INSIDE = "/run/secrets/ca.pem"
"""Where a Dockerfile of this project mounts the certificates."""

_PASSED_ON = (
    *("index-url", "extra-index-url", "find-links", "no-index", "trusted-host"),
    *("proxy", "timeout", "retries"),
)


def build_secrets(folder: Path) -> dict[str, Path]:
    """Writes into `folder`, which must be this user's alone, what pip is configured with here, and
    returns the files by the ids that the Dockerfiles know; empty where nothing is configured."""
    settings = effective(_config_list(), os.environ)
    secrets = {}
    certificates = settings.pop("cert", "")
    if certificates:
        copy = folder / "ca.pem"
        try:
            copy.write_bytes(Path(certificates).read_bytes())
        except OSError as error:
            raise Stop(f"{certificates}, which pip is told to trust: {error.strerror}") from error
        secrets["ca.pem"] = copy
        settings["cert"] = CERTIFICATES_INSIDE
    if settings:
        secrets["pip.conf"] = folder / "pip.conf"
        secrets["pip.conf"].write_text(configuration(settings), encoding="utf-8")
    return secrets


def effective(config_list: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The settings that matter inside a build, from what `pip config list` prints.

    Variables come before files, and what is for `pip install` alone before what is for all of pip.
    Folders of this machine are left out: inside a build there are none of them.
    """
    found: dict[str, dict[str, str]] = {"global": {}, "install": {}, ":env:": {}}
    for line in config_list.splitlines():
        key, equals, value = line.partition("=")
        section, _, name = key.rpartition(".")
        if equals and section in found:
            found[section][name] = str(ast.literal_eval(value))
    merged = found["global"] | found["install"] | found[":env:"]
    if "default-timeout" in merged:  # the same setting by its other name
        merged.setdefault("timeout", merged["default-timeout"])
    if "find-links" in merged:
        places = [place for place in merged["find-links"].split() if place.startswith("http")]
        merged["find-links"] = " ".join(places)
    settings = {name: merged[name] for name in _PASSED_ON if merged.get(name)}
    # pip's own, then what the library under it asks for.
    cert = merged.get("cert") or environment.get("REQUESTS_CA_BUNDLE") or ""
    return settings | ({"cert": cert} if cert else {})


def configuration(settings: Mapping[str, str]) -> str:
    """A pip.conf. A value of several lines is a list."""
    lines = [f"{name} = " + "\n    ".join(value.split()) for name, value in settings.items()]
    return "\n".join(["[global]", *lines, ""])


def _config_list() -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise Stop(f"`pip config list` failed: {(ran.stderr.strip().splitlines() or ['?'])[-1]}")
    return ran.stdout
