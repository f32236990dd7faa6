"""The programs a test cluster consists of: those built here, and those of Debian packages."""

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from toolchain.go_build import built_programs, module_folder, source_key
from toolchain.places import ROOT
from toolchain.report import Stop
from toolchain.versions import read_versions
from toolchain.wrapper import write_aside

_MODULES = ROOT / "toolchain"
_PACKAGES = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "iptables": "iptables",
    "ip": "iproute2",
    "mount": "mount",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "openssl": "openssl",
    "busybox": "busybox",
    "getent": "libc-bin",
}
"""What must be on PATH, and the Debian package that has it."""

_STAGES = ("node/fast", "node/heartbeat-with-lease", "pod/fast")
"""What kwok is to do with nodes and pods, as folders of its own stages."""

_PLUGIN_FOLDERS = ("/usr/lib/cni", "/opt/cni/bin")
_PLUGINS = ("bridge", "host-local", "loopback", "portmap")


def ensure_machine() -> None:
    """Raises Stop on a machine that cannot run a test cluster; the line says what is missing."""
    if platform.system() != "Linux" or os.geteuid() != 0:
        raise Stop("a test cluster needs Linux and root: run it there, or set KUBECONFIG")
    packages = missing_packages(_path(), _plugin_folder() is not None)
    if packages:
        raise Stop(f"a test cluster needs more programs: apt-get install {' '.join(packages)}")


def missing_packages(path: str, has_plugins: bool) -> list[str]:
    """The Debian packages of the programs that are not on `path`."""
    missing = {package for name, package in _PACKAGES.items() if not shutil.which(name, path=path)}
    return sorted(missing | (set() if has_plugins else {"containernetworking-plugins"}))


def plugin_folder() -> Path:
    """The folder of the network plugins; `ensure_machine` has seen that there is one."""
    folder = _plugin_folder()
    if folder is None:
        raise Stop("there are no network plugins: apt-get install containernetworking-plugins")
    return folder


def _plugin_folder() -> Path | None:
    folders = [Path(folder) for folder in _PLUGIN_FOLDERS]
    whole = (folder for folder in folders if all((folder / name).exists() for name in _PLUGINS))
    return next(whole, None)


def _path() -> str:
    # A service's PATH may lack the folders of an administrator's programs.
    return f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin{os.pathsep}/sbin"


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": _path()}


def run_program(name: str, *arguments: str) -> str:
    """What a program of the system prints; Stop with what it says when it fails."""
    ran = subprocess.run(
        [program(name), *arguments],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise Stop(f"{name} {' '.join(arguments)}: {ran.stderr.strip()}")
    return ran.stdout


def program(name: str) -> str:
    """The path of a program of a package."""
    found = shutil.which(name, path=_path())
    if found is None:
        raise Stop(f"{name} is missing: apt-get install {_PACKAGES[name]}")
    return found


def cluster_programs() -> Mapping[str, Path]:
    """All programs built here by name; builds those that are missing, which takes up to half an
    hour in all."""
    kubernetes = read_versions().modules["k8s.io/kubernetes"]
    major, minor, _ = kubernetes.split(".")
    stamps = {"gitVersion": f"v{kubernetes}", "gitMajor": major, "gitMinor": minor}
    # Clients choose by what the server says of itself, and kubectl says what it is.
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    flags = [f"-X {package}.{key}={value}" for package in packages for key, value in stamps.items()]
    names = "kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl"
    commands = {name: f"k8s.io/kubernetes/cmd/{name}" for name in names.split()}
    folders = {
        built_programs(
            _MODULES / "etcd", {"etcd": "go.etcd.io/etcd/server/v3"}, usually="a minute"
        ),
        built_programs(
            _MODULES / "kubernetes",
            commands,
            usually="3 to 8 minutes for the first of Kubernetes, then 1",
            ldflags=" ".join(flags),
        ),
        built_programs(_MODULES / "coredns", {"coredns": "."}, usually="2 to 5 minutes"),
        _kwok(),
    }
    return {file.name: file for folder in folders for file in folder.iterdir()}


def programs_key() -> str:
    """Other than before when another version of a program is to be built."""
    return source_key(_MODULES / name for name in ("etcd", "kubernetes", "coredns", "kwok"))


def _kwok() -> Path:
    programs = {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}
    return built_programs(_MODULES / "kwok", programs, usually="1 to 4 minutes")


def kwok_stages() -> str:
    """How kwok's nodes and pods behave, as kwok's own files say: a node is Ready at once, a pod
    runs at once and is gone at once. Kept beside the program, as the module's folder may go."""
    kept = _kwok().parent / "stages.yaml"
    if not kept.exists():
        stages = module_folder(_MODULES / "kwok", "sigs.k8s.io/kwok") / "kustomize" / "stage"
        files = [file for name in _STAGES for file in sorted((stages / name).glob("*.yaml"))]
        texts = [file.read_text(encoding="utf-8") for file in files if "kustomiz" not in file.name]
        write_aside(kept, "\n---\n".join(texts), 0o644)
    return kept.read_text(encoding="utf-8")


def training_operator() -> Path:
    """The training operator's program, built when it was not before."""
    package = "github.com/kubeflow/training-operator/cmd/training-operator.v1"
    programs = {"training-operator": package}
    folder = built_programs(_MODULES / "operator", programs, usually="1 to 4 minutes")
    return folder / "training-operator"
