"""A normal, not editable installation holds everything that runs."""

import shutil
import subprocess
import sys

import pytest
from running import ROOT, SYSTEM

PACKAGES = ("bot", "tools", "workers")
LEFT_OUT = shutil.ignore_patterns(".*", "var", "artefacts", "build", "*.egg-info", "__pycache__", "tests")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder into which pip installed a copy of the project."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "source", ignore=LEFT_OUT)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--disable-pip-version-check",
            "--target",
            str(folder / "site"),
            str(folder / "source"),
        ],
        text=True,
        capture_output=True,
        timeout=300,
    )
    if "setuptools" in done.stderr and done.returncode:
        pytest.skip("pip cannot get setuptools, with which the project is built")
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_every_file_is_installed(installed):
    """Templates, texts, prompts, fonts, topics and migrations are all there."""
    wanted = {p.relative_to(ROOT) for name in PACKAGES for p in (ROOT / name).rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert {p.suffix for p in wanted} >= {".py", ".html", ".css", ".js", ".toml", ".md", ".ttf"}
    assert {str(p) for p in wanted if not (installed / p).is_file()} == set()


def test_the_installed_commands_work(installed, tmp_path):
    """From the installed files alone: a database, an account, a lesson and a PDF."""
    environ = SYSTEM | {"PYTHONPATH": str(installed), "PALABRE_HOME": str(tmp_path / "var")}

    def command(*args: str, said: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-P", *args], env=environ, cwd=tmp_path, input=said, text=True, capture_output=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert command("-c", "import bot; print(bot.__file__)").startswith(str(installed))
    command("-m", "bot.cli", "migrate")
    command("-m", "bot.cli", "users", "add", "+2250701020304", "--mode", "child", "--credits", "5")
    talk = command("-m", "bot.cli", "chat", said="Aide-moi avec les fractions\nfais-moi un résumé en PDF\n")
    assert "dénominateur" in talk and "[fichier] http" in talk and talk.strip().endswith(".pdf")
