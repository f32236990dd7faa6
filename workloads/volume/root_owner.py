"""Gives the root of a new volume to the pods' user; all that a container runs as root for."""

from __future__ import annotations

import os

from workloads.volume.place import Volume

# What a new file system holds.
_NOBODYS = {"lost+found"}


def own(volume: Volume, user: int, group: int) -> str:
    """The root belongs to `user` and `group` afterwards if it was root's and empty, as the kubelet
    makes it. Any other is left as it is: it may be the user's. Returns a sentence."""
    status = volume.root.stat()
    shown = volume.shown(volume.root)
    if status.st_uid != 0:
        return f"{shown} belongs to user {status.st_uid}, and is left so"
    if set(os.listdir(volume.root)) - _NOBODYS:
        return f"{shown} is not empty, and is left to root"
    os.chown(volume.root, user, group)
    return f"{shown} was given to user {user}, group {group}"
