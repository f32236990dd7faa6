"""The configuration files of the cluster's programs, as texts by file name."""

import json
from collections.abc import Mapping
from pathlib import Path

from toolchain.cluster.place import DOMAIN, Place

SOCKET = "/run/containerd/containerd.sock"
"""In the node's mount namespace, where /run is the cluster's own."""

PAUSE = "test.local/pause:1"
"""The image that holds a pod's namespaces open."""


def configuration(place: Place, plugins: Path) -> dict[str, str]:
    """The files to write into the state folder; `plugins` is the folder of network plugins."""
    documents: Mapping[str, object] = {
        "kubelet.json": _kubelet(place),
        "kube-proxy.json": _kube_proxy(place),
        "network/pods.conflist": _pod_network(place),
    }
    texts = {name: json.dumps(document, indent=2) for name, document in documents.items()}
    return texts | {
        "containerd.toml": _containerd(place, plugins),
        "Corefile": _corefile(place),
        # For pods that ask for the node's name servers. They get the cluster's: there is no way
        # out of here.
        "resolv.conf": f"nameserver {place.dns_address}\n",
    }


def _kubelet(place: Place) -> dict[str, object]:
    certificates = place.state / "certificates"
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(certificates / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(certificates / "serving.crt"),
        "tlsPrivateKeyFile": str(certificates / "serving.key"),
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "clusterDomain": DOMAIN,
        "clusterDNS": [str(place.dns_address)],
        "resolvConf": str(place.state / "resolv.conf"),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{place.control_group}",
        # The rest of this machine is not the cluster's to divide or to measure.
        "enforceNodeAllocatable": [],
        "localStorageCapacityIsolation": False,
        "failSwapOn": False,
        "oomScoreAdj": 0,
        # Images come by import alone: one that was collected would be missing.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "0%"},
        "volumePluginDir": str(place.state / "volume-plugins"),
        "staticPodPath": "",
        "readOnlyPort": 0,
        "kubeAPIQPS": 100,
        "kubeAPIBurst": 200,
    }


def _kube_proxy(place: Place) -> dict[str, object]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "iptables",
        "clientConnection": {"kubeconfig": str(place.state / "kube-proxy.kubeconfig")},
        "clusterCIDR": str(place.pods),
        "healthzBindAddress": "127.0.0.1:10256",
        "metricsBindAddress": "127.0.0.1:10249",
        "oomScoreAdj": 0,
        "iptables": {"localhostNodePorts": False, "minSyncPeriod": "100ms"},
        # The kernel's limits are for the whole machine.
        "conntrack": {
            "maxPerCore": 0,
            "min": 0,
            "tcpEstablishedTimeout": "0s",
            "tcpCloseWaitTimeout": "0s",
        },
    }


def _pod_network(place: Place) -> dict[str, object]:
    addresses = {
        "type": "host-local",
        "ranges": [[{"subnet": str(place.pods)}]],
        "routes": [{"dst": "0.0.0.0/0"}],
        "dataDir": str(place.state / "pod-addresses"),
    }
    bridge = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "ipMasq": True,
        "hairpinMode": True,
        "ipam": addresses,
    }
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "0.4.0", "name": "pods", "plugins": [bridge, ports]}


def _containerd(place: Place, plugins: Path) -> str:
    def quoted(path: Path) -> str:
        return json.dumps(str(path))  # TOML's basic strings are written like JSON's

    return f"""\
version = 2
root = {quoted(place.state / "containerd")}
state = "/run/containerd"
disabled_plugins = [
    "io.containerd.snapshotter.v1.btrfs",
    "io.containerd.snapshotter.v1.zfs",
    "io.containerd.snapshotter.v1.devmapper",
]
[grpc]
address = "{SOCKET}"
[plugins."io.containerd.internal.v1.opt"]
path = {quoted(place.state / "containerd-opt")}
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{PAUSE}"
# Where negative scores are refused to root, runc would end without a word.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = {quoted(plugins)}
conf_dir = {quoted(place.state / "network")}
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
"""


def _corefile(place: Place) -> str:
    # There is no way to names outside: better to say so than to keep one waiting.
    return f"""\
{DOMAIN}:53 in-addr.arpa:53 {{
    bind {place.node_address}
    errors
    health 127.0.0.1:8080
    ready 127.0.0.1:8181
    kubernetes {DOMAIN} in-addr.arpa {{
        kubeconfig {place.kubeconfig}
        pods insecure
        ttl 5
    }}
    cache 5
    loadbalance
}}
.:53 {{
    bind {place.node_address}
    template ANY ANY {{
        rcode NXDOMAIN
    }}
}}
"""
