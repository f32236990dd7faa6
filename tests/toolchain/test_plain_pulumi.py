"""`.venv/bin/pulumi`: the user's own backend is kept, else the checkout's with its passphrase."""

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from toolchain import wrapper

Program = Callable[[str, str], Path]
SHOW = 'echo "$PULUMI_BACKEND_URL|$PULUMI_CONFIG_PASSPHRASE_FILE|$*"; echo "$PATH"'


class Checkout:
    def __init__(self, folder: Path, engine: Path) -> None:
        self.root = folder / "a checkout ü"
        self.home = folder / "home"
        self.passphrase = self.home / "pass phrase"
        (self.root / ".venv" / "bin").mkdir(parents=True)
        self.home.mkdir()
        self.passphrase.write_text("secret")
        (self.root / "Pulumi.yaml").write_text("name: x\n")
        self.pulumi = self.root / ".venv" / "bin" / "pulumi"
        self.pulumi.write_text(wrapper.wrapper_text(self.root, engine, self.passphrase, ""))
        self.pulumi.chmod(0o755)

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.pulumi, "preview", "a b"],
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.home), **environment},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def state(self) -> str:
        return (self.root / ".pulumi-state").as_uri() + "?metadata=skip"


@pytest.fixture
def checkout(tmp_path: Path, program: Program) -> Checkout:
    # The system does not know the user: HOME is all there is.
    program("id", "exit 1")
    return Checkout(tmp_path, program("pulumi", SHOW).parent)


def test_without_a_login_the_checkouts_backend_and_passphrase_are_used(checkout: Checkout) -> None:
    ran = checkout.run()
    shown, path = ran.stdout.splitlines()
    assert shown == f"{checkout.state}|{checkout.passphrase}|preview a b"
    assert "%20" in checkout.state
    assert (checkout.root / ".pulumi-state").is_dir()
    assert path.split(":")[0] == str(checkout.root / ".venv" / "bin")


@pytest.mark.parametrize(
    ("environment", "backend"),
    [
        ({"PULUMI_BACKEND_URL": "s3://ours"}, "s3://ours"),
        ({"PULUMI_ACCESS_TOKEN": "pul-1"}, ""),
    ],
)
def test_a_backend_given_by_environment_is_kept(
    checkout: Checkout, environment: dict[str, str], backend: str
) -> None:
    assert checkout.run(**environment).stdout.splitlines()[0] == f"{backend}||preview a b"


@pytest.mark.parametrize("folder", [".pulumi", "elsewhere"])
def test_a_login_is_kept(checkout: Checkout, folder: str) -> None:
    credentials = checkout.home / folder / "credentials.json"
    credentials.parent.mkdir()
    credentials.write_text('{\n    "current": "https://api.pulumi.com"\n}\n')
    home = {"PULUMI_HOME": str(credentials.parent)} if folder != ".pulumi" else {}
    assert checkout.run(**home).stdout.splitlines()[0] == "||preview a b"


def test_a_login_below_HOME_is_none_where_the_user_has_another_home(
    checkout: Checkout, program: Program
) -> None:
    """As Pulumi has it: a runner of CI that sets HOME would be told of a login nobody uses."""
    program("id", "echo someone-else")
    credentials = checkout.home / ".pulumi" / "credentials.json"
    credentials.parent.mkdir()
    credentials.write_text('{\n    "current": "https://api.pulumi.com"\n}\n')
    assert checkout.run().stdout.startswith(checkout.state)


def test_credentials_without_a_current_login_are_no_login(checkout: Checkout) -> None:
    credentials = checkout.home / ".pulumi" / "credentials.json"
    credentials.parent.mkdir()
    credentials.write_text('{\n    "current": "",\n    "accounts": {}\n}\n')
    assert checkout.run().stdout.startswith(checkout.state)


def test_a_backend_in_the_project_file_is_kept(checkout: Checkout) -> None:
    (checkout.root / "Pulumi.yaml").write_text("name: x\nbackend:\n  url: s3://ours\n")
    assert checkout.run().stdout.splitlines()[0] == "||preview a b"


@pytest.mark.parametrize(
    "environment", [{"PULUMI_CONFIG_PASSPHRASE": ""}, {"PULUMI_CONFIG_PASSPHRASE": "mine"}]
)
def test_the_users_passphrase_is_kept(checkout: Checkout, environment: dict[str, str]) -> None:
    assert checkout.run(**environment).stdout.splitlines()[0] == f"{checkout.state}||preview a b"


def test_a_lost_passphrase_is_one_line(checkout: Checkout) -> None:
    checkout.passphrase.unlink()
    ran = checkout.run()
    assert ran.returncode == 1
    assert len(ran.stderr.splitlines()) == 1
    assert str(checkout.passphrase) in ran.stderr
    assert not ran.stdout


def test_a_pulumi_that_is_gone_is_one_line(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "bin" / "pulumi").unlink()
    ran = checkout.run()
    assert ran.returncode == 1
    assert len(ran.stderr.splitlines()) == 1
    assert "make setup" in ran.stderr


def test_the_wrapper_is_known_for_one(checkout: Checkout, tmp_path: Path) -> None:
    assert wrapper.is_wrapper(checkout.pulumi)
    assert not wrapper.is_wrapper(tmp_path / "bin" / "pulumi")
    assert not wrapper.is_wrapper(tmp_path / "absent")


@pytest.fixture
def passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(wrapper, "STATE", tmp_path / "state")
    return tmp_path / "config" / "ack-training" / "passphrase"


def test_the_passphrase_is_made_once_for_this_user_alone(passphrase: Path) -> None:
    wrapper.ensure_passphrase()
    first = passphrase.read_text()
    assert len(first) >= 32
    assert stat.S_IMODE(passphrase.stat().st_mode) == 0o600
    assert stat.S_IMODE(passphrase.parent.stat().st_mode) == 0o700
    wrapper.ensure_passphrase()
    assert passphrase.read_text() == first
    assert os.listdir(passphrase.parent) == ["passphrase"]


def test_no_new_passphrase_is_made_where_stacks_need_the_old_one(
    passphrase: Path, tmp_path: Path
) -> None:
    stacks = tmp_path / "state" / ".pulumi" / "stacks" / "ack-training"
    stacks.mkdir(parents=True)
    (stacks / "local.json").write_text("{}")
    wrapper.ensure_passphrase()
    assert not passphrase.exists()


def test_a_moved_checkout_is_one_line(checkout: Checkout, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    checkout.root.rename(moved)
    ran = subprocess.run(
        [moved / ".venv/bin/pulumi", "version"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    assert f"run 'make setup' in {moved}" in line


def test_the_users_exceptions_from_a_proxy_are_kept(tmp_path: Path, program: Program) -> None:
    show = program("pulumi", 'echo "$no_proxy|$NO_PROXY|$no_grpc_proxy"').parent
    checkout = Checkout(tmp_path, show)
    own = "127.0.0.1,localhost,::1"
    assert checkout.run().stdout == f"{own}|{own}|{own}\n"
    both = f"{own},a.example,b.example"
    ran = checkout.run(no_proxy="a.example", NO_PROXY="b.example", no_grpc_proxy="c.example")
    assert ran.stdout == f"{both}|{both}|{own},c.example\n"
