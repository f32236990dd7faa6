"""Values that the config accepts, the odd and the largest among them."""

from __future__ import annotations

from hypothesis import strategies as st

from config.names import RUNTIME_ENV

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ALNUM = f"{_LETTERS}0123456789"
_UPPER = _LETTERS.upper()

# No NUL and no half of a pair, which no config may hold; all else may stand in a value.
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    st.sampled_from(
        ["", " ", "$(HOME)", "$$(A)", "${A}", "a=b,c", "-", "\n", "\x1b[0m", "ü", "'\""]
    ),
    st.just("x" * 5000),
)
filled = texts.filter(lambda text: bool(text.strip()))


def _word(first: str, middle: str, last: str, longest: int) -> st.SearchStrategy[str]:
    """From one character to `longest`."""
    ends = st.tuples(st.sampled_from(first), st.text(middle, max_size=12), st.sampled_from(last))
    filler = "".join(middle[index % len(middle)] for index in range(longest - 2))
    return st.one_of(
        st.sampled_from(first).filter(lambda letter: letter in last),
        ends.map("".join),
        st.just(f"{first[0]}{filler}{last[-1]}"),
    )


def labels(longest: int = 63) -> st.SearchStrategy[str]:
    """DNS-1035 labels."""
    return _word(_LETTERS, f"{_ALNUM}-", _ALNUM, longest)


_parts = _word(_ALNUM, f"{_ALNUM}-", _ALNUM, 63)
subdomains = st.one_of(
    st.lists(_parts, min_size=1, max_size=3).map(".".join),
    st.just(".".join(["a" * 63] * 3 + ["b" * 61])),
)
_names = _word(_ALNUM + _UPPER, f"{_ALNUM}{_UPPER}-_.", _ALNUM + _UPPER, 63)
label_keys = st.one_of(_names, st.tuples(subdomains, _names).map("/".join))
label_values = st.just("") | _names
env_names = _word(f"{_LETTERS}{_UPPER}_", f"{_ALNUM}{_UPPER}_", f"{_ALNUM}{_UPPER}_", 253).filter(
    lambda name: not RUNTIME_ENV.fullmatch(name) and name not in ("KERAS_BACKEND", "PYTHONPATH")
) | st.sampled_from(["HOME", "PATH", "PYTHONUNBUFFERED", "NCCL_DEBUG", "_", "tf_config"])
secret_keys = _word(f"{_ALNUM}{_UPPER}-_", f"{_ALNUM}{_UPPER}-_.", f"{_ALNUM}.-_", 253)
_segments = _word(f"{_ALNUM}{_UPPER}_", f"{_ALNUM}{_UPPER}_-.", f"{_ALNUM}.-_", 255)
directories = st.lists(_segments, min_size=1, max_size=3).map("/".join) | st.just(
    "/".join(["d" * 255] * 4)
)
images = st.sampled_from(
    [
        "busybox",
        "example.com/train:1",
        "localhost:5000/a/b__c/d-e.f:V_1.0",
        f"registry.example.com/team/name:{'t' * 128}@sha256:{'0' * 64}",
        "192.168.0.1:5000/x",
    ]
)
path_parts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0:/"), min_size=1, max_size=20
).filter(lambda part: part not in (".", ".."))
absolute_paths = st.lists(path_parts, min_size=1, max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)
cpus = st.one_of(
    st.integers(1, 10_000),
    st.integers(1, 10_000_000).map("{}m".format),
    st.just("0.001"),
    st.just(0.25),
    st.just("2.500"),
)
_MEBIBYTE = 1024**2
memories = st.one_of(
    st.integers(_MEBIBYTE, 2**63 - 1),
    st.sampled_from(["1Mi", "8Gi", "500M", "1.5Gi", "7E", "7.5Ei", "1048576", "1048.576k", "1T"]),
)
durations = st.sampled_from(["1s", "90m", "2h30m", "365d", "1d1h1m1s"])
programs = st.sampled_from(
    [
        "a.py",
        "training/programs/mnist.py",
        "my code/größe & co.py",
        "deep/" * 20 + "x.py",
        "./b/../c.py",
        ".hidden/.x.py",
        "n" * 250 + ".py",
        "日本/ü/é.py",
        "new\nline.py",
    ]
)
