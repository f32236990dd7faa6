"""Makes text that anything may have written fit for a terminal, and for the record of an `up`."""

from __future__ import annotations

import re

# What a terminal takes for a command to itself: those that end with BEL or ST (such as one for its
# title) with all that is in them, and those of CSI and the rest. ECMA-48 §5.3 to §5.6.
_STRINGS = "\x1b[\\]PX^_].*?(?:\x07|\x1b\\\\|\x9c|$)"
_COLOURS = "\x1b\\[[0-9;:]*m"
_COMMANDS = "\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|\x1b"
_OTHERS = "[\x00-\x08\x0b-\x1f\x7f-\x9f]"

_BUT_COLOURS = re.compile(f"{_STRINGS}|(?P<colour>{_COLOURS})|{_COMMANDS}|{_OTHERS}")
_RETURN_AT_END = re.compile("\r+(?=\n|\\Z)")


def printable(text: str) -> str:
    """The text without control characters, but for tabs, ends of lines and colours. What overwrote
    its own line, as a progress bar does, is shown line by line."""
    return _BUT_COLOURS.sub(lambda found: found["colour"] or "", _as_lines(text))


def plain(text: str) -> str:
    """The same without colours, for what is kept and read elsewhere."""
    return _BUT_COLOURS.sub("", _as_lines(text))


def _as_lines(text: str) -> str:
    return _RETURN_AT_END.sub("", text).replace("\r", "\n")
