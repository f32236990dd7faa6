"""What of this machine's pip an image's build is told."""

from pathlib import Path

import pytest

from toolchain import pip_settings
from toolchain.pip_settings import build_secrets, configuration, effective
from toolchain.report import Stop


def test_variables_come_before_files_and_install_before_global() -> None:
    listed = "\n".join(
        [
            "global.index-url='a'",
            "install.index-url='b'",
            "global.timeout='1'",
            ":env:.timeout='2'",
            "global.proxy='p'",
        ]
    )
    assert effective(listed, {}) == {"index-url": "b", "timeout": "2", "proxy": "p"}


def test_only_what_says_where_packages_come_from_is_passed_on() -> None:
    listed = "global.target='/x'\nglobal.user='yes'\nglobal.no-deps='1'\nlist.format='json'"
    assert effective(listed, {}) == {}


def test_the_other_name_of_timeout() -> None:
    assert effective(":env:.default-timeout='180'", {}) == {"timeout": "180"}
    both = ":env:.default-timeout='180'\nglobal.timeout='5'"
    assert effective(both, {}) == {"timeout": "5"}


def test_folders_of_this_machine_are_left_out() -> None:
    assert effective("global.find-links='/opt/wheels'", {}) == {}
    listed = "global.find-links='\\n/opt/wheels\\nhttps://example.com/w'"
    assert effective(listed, {}) == {"find-links": "https://example.com/w"}


@pytest.mark.parametrize(
    ("listed", "environment", "cert"),
    [
        ("global.cert='/a.pem'", {"REQUESTS_CA_BUNDLE": "/b.pem"}, "/a.pem"),
        ("", {"REQUESTS_CA_BUNDLE": "/b.pem"}, "/b.pem"),
    ],
)
def test_certificates(listed: str, environment: dict[str, str], cert: str) -> None:
    assert effective(listed, environment) == {"cert": cert}


def test_configuration_is_what_pip_reads() -> None:
    text = configuration({"timeout": "5", "extra-index-url": "\nhttps://a\nhttps://b"})
    assert text == "[global]\ntimeout = 5\nextra-index-url = https://a\n    https://b\n"


def told(monkeypatch: pytest.MonkeyPatch, listed: str) -> None:
    monkeypatch.setattr(pip_settings, "_config_list", lambda: listed)
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)


def test_secrets_are_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.pem").write_text("certificate")
    told(monkeypatch, f"global.cert='{tmp_path / 'mine.pem'}'\nglobal.index-url='https://u:p@h'")
    secrets = build_secrets(tmp_path)
    assert secrets["ca.pem"].read_text() == "certificate"
    assert secrets["pip.conf"].read_text() == (
        "[global]\nindex-url = https://u:p@h\ncert = /run/secrets/ca.pem\n"
    )


def test_where_nothing_is_configured_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(monkeypatch, "")
    assert build_secrets(tmp_path) == {}


def test_missing_certificates_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, "global.cert='/no/such.pem'")
    with pytest.raises(Stop, match=r"^/no/such\.pem, which pip is told to trust: No such file"):
        build_secrets(tmp_path)


def test_the_real_pip_is_understood(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "pip.conf"
    file.write_text("[global]\nextra-index-url =\n    https://a.example/x\n    https://b.example\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    monkeypatch.setenv("PIP_RETRIES", "7")
    settings = effective(pip_settings._config_list(), {})
    assert settings["extra-index-url"].split() == ["https://a.example/x", "https://b.example"]
    assert settings["retries"] == "7"
