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

# A secret one is a key of a Secret, which may not be longer.
ENV_PATTERN = "^[A-Za-z_][A-Za-z0-9_]{0,252}$"
SEGMENT_PATTERN = "[A-Za-z0-9_][A-Za-z0-9._-]*"
DIRECTORY_PATTERN = "^[A-Za-z0-9._/-]+$"
PREFIX_PATTERN = "^[A-Za-z0-9._~/-]*$"

# RFC 1123 subdomains: names of most objects of Kubernetes.
SUBDOMAIN_PATTERN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_LONGEST_SUBDOMAIN = 253
HOST_PATTERN = r"^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$|^[0-9A-Fa-f:]*:[0-9A-Fa-f:.]+$"
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_REGISTRY_HOST = r"[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?(?::[0-9]{1,5})?"
REGISTRY_PATTERN = rf"^{_REGISTRY_HOST}(?:/{_COMPONENT})*$"
# https://github.com/distribution/reference: name, tag, digest.
IMAGE_PATTERN = (
    rf"^(?:{_REGISTRY_HOST}/)?{_COMPONENT}(?:/{_COMPONENT})*"
    r"(?::[A-Za-z0-9_][-A-Za-z0-9_.]{0,127})?(?:@sha256:[0-9a-f]{64})?$"
)
URL_PATTERN = r"^https?://[^\s/?#]+(?:[/?][^\s#]*)?$"
SHA256_PATTERN = "^[0-9A-Fa-f]{64}$"

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
    if path.startswith(".."):
        raise BadValueError("must not start with two dots, which no volume of a pod can hold")
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


def parse_kubeconfig(text: str) -> str:
    """A path of a file, with ~ for the user's home."""
    if not text.strip():
        raise BadValueError("must not be empty", "remove it, or name a file")
    if text.startswith("~") and not text.startswith("~/"):
        raise BadValueError("must start with ~/, not with another user's home")
    return posixpath.normpath(text)


def parse_absolute(text: str) -> str:
    """The shortest spelling of an absolute path without .. in it."""
    if not text.startswith("/") or ".." in text.split("/"):
        raise BadValueError("must be an absolute path without ..")
    return "/" + posixpath.normpath(text).lstrip("/")


def parse_mount_path(text: str) -> str:
    """An absolute path that hides nothing that a replica needs."""
    path = parse_absolute(text)
    if ":" in path:
        raise BadValueError("must not hold a colon")
    for taken in ("/training", "/tmp", "/opt/ack-training", "/dev", "/proc", "/sys"):
        if path == "/" or path == taken or path.startswith(f"{taken}/"):
            raise BadValueError(
                "must not be /, nor /training, /tmp, /opt/ack-training, /dev, /proc or /sys or "
                "below them",
                "a role's shm is the size of /dev/shm" if path == "/dev/shm" else "",
            )
    return path


def parse_data_path(text: str) -> str:
    """The shortest spelling of a path, absolute or not, without .. in it."""
    if not text.strip() or text.startswith("~") or ".." in text.split("/"):
        raise BadValueError("must be a path without ..")
    return posixpath.normpath(text)


def parse_subdomain(text: str) -> str:
    """`text` when it can name an object of Kubernetes."""
    if len(text) > _LONGEST_SUBDOMAIN or not re.fullmatch(SUBDOMAIN_PATTERN, text):
        raise BadValueError(
            "must be a name of lower-case letters, digits, - and ., starting and ending with a "
            "letter or digit"
        )
    return text


def parse_secret_key(text: str) -> str:
    """`text` when it can be a key of a Secret."""
    if len(text) > _LONGEST_SUBDOMAIN or not re.fullmatch("[-._A-Za-z0-9]+", text):
        raise BadValueError("must consist of letters, digits, -, _ and .")
    if text == "." or text.startswith(".."):
        raise BadValueError("must not be . nor start with two dots")
    return text


def parse_host(text: str) -> str:
    """`text` when it can be a host's name or address."""
    if not re.fullmatch(HOST_PATTERN, text):
        raise BadValueError("must be the name or address of a server")
    return text


def parse_registry(text: str) -> str:
    """`registry.example.com/team` without a slash at its end."""
    path = text.rstrip("/")
    if "://" in text:
        raise BadValueError("must be without https://", "write registry.example.com/team")
    if not re.fullmatch(REGISTRY_PATTERN, path):
        raise BadValueError("must be a registry and a path such as registry.example.com/team")
    return path


def parse_image(text: str) -> str:
    """`text` when it names a container image."""
    if not re.fullmatch(IMAGE_PATTERN, text):
        raise BadValueError(
            "must be a container image such as registry.example.com/team/name:1.0",
            "write it in lower case" if re.fullmatch(IMAGE_PATTERN, text.lower()) else "",
        )
    return text


def parse_url(text: str) -> str:
    """`text` when it is an http or https URL without a password in it."""
    if not re.fullmatch(URL_PATTERN, text):
        raise BadValueError("must be a URL that starts with https:// or http://")
    if "@" in text.split("/", 3)[2]:
        raise BadValueError(
            "must not hold a user or password: it stands in the state in plain text"
        )
    return text


def parse_sha256(text: str) -> str:
    """`text` in lower case when it is a SHA-256."""
    if not re.fullmatch(SHA256_PATTERN, text):
        raise BadValueError("must be 64 hexadecimal digits")
    return text.lower()


Label = Annotated[str, Text(parse_label, "a string", LABEL_PATTERN)]
String = Annotated[str, Text(parse_text, "a string")]
FilledString = Annotated[str, Text(parse_filled, "a string", r"\S")]
ProgramPath = Annotated[str, Text(parse_program, "a path of a Python file", r"\.py$")]
Directory = Annotated[str, Text(parse_directory, "a path", DIRECTORY_PATTERN)]
PathPrefix = Annotated[str, Text(parse_path_prefix, "a URL path such as /tb", PREFIX_PATTERN)]
StoragePath = Annotated[str, Text(parse_storage_path, "a path", r"\S")]
KubeconfigPath = Annotated[str, Text(parse_kubeconfig, "a path", r"\S")]
AbsolutePath = Annotated[str, Text(parse_absolute, "an absolute path", "^/")]
MountPath = Annotated[str, Text(parse_mount_path, "an absolute path", "^/.")]
DataPath = Annotated[str, Text(parse_data_path, "a path", r"\S")]
Subdomain = Annotated[str, Text(parse_subdomain, "a string", SUBDOMAIN_PATTERN)]
SecretKey = Annotated[str, Text(parse_secret_key, "a string", "^[-._A-Za-z0-9]+$")]
Host = Annotated[str, Text(parse_host, "a string", HOST_PATTERN)]
Registry = Annotated[
    str, Text(parse_registry, "a string", rf"^{_REGISTRY_HOST}(?:/{_COMPONENT})*/*$")
]
Image = Annotated[str, Text(parse_image, "a string", IMAGE_PATTERN)]
Url = Annotated[str, Text(parse_url, "a URL", URL_PATTERN)]
Sha256 = Annotated[str, Text(parse_sha256, "a string", SHA256_PATTERN)]
