"""Keys that people write under a job and that mean something else here: what to do instead."""

from __future__ import annotations

_TTL = (
    "not supported: the finished job would be deleted and the next up would train it again; "
    "remove it, a finished job costs nothing"
)
_UNDER_ROLE = "stands under a role, such as worker: {{{}: …}}"

REFUSED = {
    "roles": "roles stand directly under the job: worker: {replicas: 2}",
    "tfreplicaspecs": "roles stand directly under the job: worker: {replicas: 2}",
    "runpolicy": "its settings stand directly under the job: cleanPodPolicy, backoffLimit, "
    "deadline, suspend",
    "exportversion": "versions are whole numbers that the exporter counts up itself; "
    "write export: {}",
    "parameterserver": "the role is called ps: ps: {replicas: 2}",
    "parameterservers": "the role is called ps: ps: {replicas: 2}",
    "coordinator": "the role is called chief: chief: {}",
    "activedeadlineseconds": "write deadline with a unit: deadline: 6h",
    "name": "the job's key is its name",
    "priorityclass": "stands under scheduling: scheduling: {priorityClass: high}",
    "priorityclassname": "write scheduling: {priorityClass: high}",
    "gang": "stands under scheduling: scheduling: {gang: volcano}",
    "queue": "stands under scheduling: scheduling: {gang: volcano, queue: research}",
    "schedulingpolicy": "write scheduling: {gang: …, minAvailable: …, queue: …}",
    "hostnetwork": "not offered: pods of this stack have no rights on the node",
    "privileged": "not offered: pods of this stack have no rights on the node",
    "annotations": "not offered; labels and annotations are the stack's own",
    "schedulername": "write scheduling: {gang: …}",
    "entrypoint": "write command",
    **{
        key.lower(): _UNDER_ROLE.format(key)
        for key in (
            *("replicas", "gpus", "cpu", "memory", "cpuLimit", "memoryLimit", "shm", "nodePool"),
            *("tolerations", "restartPolicy"),
        )
    },
    **dict.fromkeys(("ttl", "ttlseconds", "ttlafterfinished", "ttlsecondsafterfinished"), _TTL),
}
