"""Names and paths: what may stand in a DNS name, an environment, the shared storage or a URL."""

from __future__ import annotations

import posixpath
import re
from typing import Annotated

from config.base import BadValueError, Text

# RFC 1035, which Kubernetes demands of Services: each replica of a job gets one of its name.
# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#rfc-1035-label-names
LABEL_PATTERN = "^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$"
LONGEST_LABEL = 63

LABEL_RULE = (
    "must start with a lower-case letter, hold only lower-case letters, digits and -, "
    f"not end with -, and be at most {LONGEST_LABEL} characters long"
)

ENV_PATTERN = "^[A-Za-z_][A-Za-z0-9_]*$"
SEGMENT_PATTERN = "[A-Za-z0-9_][A-Za-z0-9._-]*"
DIRECTORY_PATTERN = "^[A-Za-z0-9._/-]+$"
PREFIX_PATTERN = "^[A-Za-z0-9._~/-]*$"

# What the target itself puts into a replica's environment.
RUNTIME_ENV = re.compile("TF_CONFIG|ACK_TRAINING_.*")


def is_label(name: str) -> bool:
    """Whether `name` is a DNS-1035 label."""
    return re.fullmatch(LABEL_PATTERN, name) is not None


def is_env_name(name: str) -> bool:
    """Whether `name` can be set in every shell and container."""
    return re.fullmatch(ENV_PATTERN, name) is not None


def parse_label(text: str) -> str:
    """`text` when it is a DNS-1035 label."""
    if not is_label(text):
        raise BadValueError(LABEL_RULE)
    return text


def parse_text(text: str) -> str:
    """`text` as it is."""
    return text


def parse_filled(text: str) -> str:
    """`text` when it is more than blanks."""
    if not text.strip():
        raise BadValueError("must not be empty")
    return text


def parse_program(text: str) -> str:
    """The shortest spelling of a relative path to a .py file that stays inside the project."""
    path = posixpath.normpath(text) if text else ""
    if not path or path.startswith(("/", "~", "../")) or path == ".." or "\\" in path:
        raise BadValueError("must be a path inside the project, relative to Pulumi.yaml")
    if not path.endswith(".py"):
        raise BadValueError(
            "must be a Python file (.py)", "for anything else write command instead of program"
        )
    return path


def parse_directory(text: str) -> str:
    """The shortest spelling of a path below the storage root, apart from its `datasets`."""
    if text.startswith(("/", "~")) or "\\" in text:
        raise BadValueError("must be a path relative to the storage root")
    segments = [segment for segment in text.split("/") if segment not in ("", ".")]
    if ".." in segments:
        raise BadValueError("must stay below the storage root, without ..")
    if not segments:
        raise BadValueError("must name a folder below the storage root, not the root itself")
    if not all(re.fullmatch(SEGMENT_PATTERN, segment) for segment in segments):
        raise BadValueError(
            "must consist of letters, digits, ., _ and -, no part of it starting with . or -"
        )
    if max(map(len, segments)) > 255 or len(text) > 1024:
        raise BadValueError("must be at most 1024 characters long, each part at most 255")
    # Without regard to case, because some file systems have none.
    if segments[0].lower() == "datasets":
        raise BadValueError("must not be datasets, where the datasets are, nor lie in it")
    return "/".join(segments)


def parse_path_prefix(text: str) -> str:
    """A URL path that starts with / and does not end with one; empty for the root."""
    segments = [segment for segment in text.split("/") if segment]
    if not re.fullmatch(PREFIX_PATTERN, text) or {".", ".."} & set(segments):
        raise BadValueError("must be a URL path such as /tb, of letters, digits, ., _, ~, - and /")
    return "".join(f"/{segment}" for segment in segments)


def parse_storage_path(text: str) -> str:
    """The shortest spelling of a path of a folder, absolute or relative to the project."""
    if not text.strip():
        raise BadValueError("must not be empty")
    if text.startswith("~"):
        raise BadValueError("must be written out, without ~")
    return posixpath.normpath(text)


Label = Annotated[str, Text(parse_label, "a string", LABEL_PATTERN)]
String = Annotated[str, Text(parse_text, "a string")]
FilledString = Annotated[str, Text(parse_filled, "a string", r"\S")]
ProgramPath = Annotated[str, Text(parse_program, "a path of a Python file", r"\.py$")]
Directory = Annotated[str, Text(parse_directory, "a path", DIRECTORY_PATTERN)]
PathPrefix = Annotated[str, Text(parse_path_prefix, "a URL path such as /tb", PREFIX_PATTERN)]
StoragePath = Annotated[str, Text(parse_storage_path, "a path", r"\S")]
