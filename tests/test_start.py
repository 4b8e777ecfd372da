"""`palabre start`: everything in one terminal, kept running, ended cleanly."""

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest
import requests
from running import PALABRE, SYSTEM, Embedded, free_port, kill, processes, run, until

AWA, KOFFI = "+2250701020304", "+2250505060708"
QUESTION = "Aide-moi à préparer mon devoir de maths sur les fractions"


@pytest.fixture(scope="module")
def palabre(tmp_path_factory):
    """One that runs, in a folder with a blank, an accent and an apostrophe in its name."""
    started = Embedded(tmp_path_factory.mktemp("start") / "maison d'Awa é")
    try:
        yield started.ready()
    finally:
        started.end()
        kill(processes(str(started.home)))


@pytest.mark.parametrize(("path", "status"), {"/simulator": 200, "/healthz": 200, "/readyz": 200, "/metrics": 200, "/nowhere": 404}.items())
def test_pages(palabre, path, status):
    """The simulator and the health pages answer; what is not there is a 404."""
    assert palabre.get(path) == status


def test_the_addresses_are_printed_once_they_answer(palabre):
    """The terminal shows where to look, and the operator's token it shows opens the API."""
    token = palabre.printed.split("Bearer ")[1].split(")")[0]
    assert f"{palabre.url}/simulator" in palabre.printed and palabre.printed.count("Simulateur") == 1
    assert requests.get(f"{palabre.url}/api/conversations", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert requests.get(f"{palabre.url}/api/conversations", headers={"Authorization": "Bearer guess"}).status_code == 401


KILLED = {  # which processes die, by a word of their command, and whether all of them or only the one that was started first
    "all workers": ("workers.serve", True),
    "the workers' parent": ("workers.serve", False),
    "all of the web server": ("gunicorn", True),
    "the web server's parent": ("gunicorn", False),
    "the clock": ("workers.schedule", True),
    "Valkey": ("valkey-server", True),
}


@pytest.mark.parametrize("name", KILLED)
def test_what_dies_is_started_again(palabre, name):
    """After a kill -9 a message is answered as before, and nothing runs twice."""
    word, all_of_them = KILLED[name]

    def running() -> list[int]:
        return sorted(pid for pid, command in processes(str(palabre.home)).items() if word in command)

    before = running()
    assert before
    kill(before if all_of_them else [p for p in before if parent(p) not in before])

    until(lambda: len(running()) == len(before) and not set(running()) & set(before), 30, f"{name} started again", lambda: palabre.printed)
    assert palabre.say(QUESTION, AWA)
    palabre.ready()


def test_restart_keeps_everything_and_ctrl_c_leaves_nothing(tmp_path):
    """Ctrl-C ends every process cleanly; accounts, an open quiz and the secrets are still there afterwards."""
    home = tmp_path / "var"
    first = Embedded(home).ready()
    assert run("users", "add", "+2250709080706", "--mode", "child", "--credits", "7", home=home).returncode == 0
    first.say(QUESTION, "+2250709080706")
    until(lambda: any("1)" in text for text in first.received("+2250709080706")), 10, "a quiz is sent")

    assert first.end(signal.SIGINT) == 0
    assert processes(str(home)) == {}
    assert "Traceback" not in first.printed and "ERROR" not in first.printed

    second = Embedded(home).ready()
    verdict = second.say("1", "+2250709080706")
    assert any(word in verdict for word in ("Juste", "Ce n'est pas", "bonne réponse")), verdict
    assert "+2250709080706" in run("users", "list", home=home).stdout
    assert first.printed.split("Bearer ")[1][:24] == second.printed.split("Bearer ")[-1][:24]

    second.end(signal.SIGKILL)
    until(lambda: not processes(str(home)), 30, "the supervisor's kill -9 ends the others too")


def test_a_second_one_on_the_same_folder(palabre):
    """A second instance on one PALABRE_HOME is one clear line, and the first goes on."""
    refused(run("start", "--port", str(free_port()), home=palabre.home), "another Palabre is running", str(palabre.home))
    assert palabre.get("/readyz") == 200


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_busy_port(tmp_path, address):
    """A port that somebody listens on is one clear line."""
    with socket.create_server((address, 0)) as other:
        port = other.getsockname()[1]
        refused(run("start", "--port", str(port), home=tmp_path / "var"), f"port {port} is in use", "--port")


def test_a_file_in_the_place_of_the_folder(tmp_path):
    """PALABRE_HOME that is a file is one clear line."""
    (tmp_path / "var").write_text("")
    refused(run("start", "--port", str(free_port()), home=tmp_path / "var"), "PALABRE_HOME", str(tmp_path / "var"))


@pytest.mark.parametrize("home", ["locked", "locked/var"])
def test_a_folder_that_cannot_be_written_to(tmp_path, home):
    """PALABRE_HOME without the right to write there is one clear line."""
    without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []  # root writes everywhere
    if without and not shutil.which("setpriv"):
        pytest.skip("setpriv is not installed, and root may write everywhere")
    (tmp_path / "locked").mkdir(mode=0o555)
    done = subprocess.run(
        [*without, *PALABRE, "start", "--port", str(free_port())],
        env=SYSTEM | {"PALABRE_HOME": str(tmp_path / home)},
        cwd=tmp_path,
        text=True,
        capture_output=True,
        timeout=60,
    )
    refused(done, "PALABRE_HOME", str(tmp_path / home), "Permission denied")


WRONG = {  # the settings, and what is said about them
    "half a Twilio account": ({"TWILIO_ACCOUNT_SID": "AC" + "1" * 32}, "TWILIO_AUTH_TOKEN is not set"),
    "a private address for a real account": (
        {
            "TWILIO_ACCOUNT_SID": "AC" + "1" * 32,
            "TWILIO_AUTH_TOKEN": "x",
            "TWILIO_WHATSAPP_FROM": "whatsapp:+14155238886",
            "TWILIO_SMS_FROM": "+14155550100",
        },
        "PUBLIC_URL must be a public https address",
    ),
    "secrets that were damaged": ({}, "secrets.json cannot be read"),
    "a database that is none": ({"DATABASE_URL": "sqlite:///secrets"}, "the database cannot be opened"),
    "a database that is not there": ({"DATABASE_URL": "postgresql+psycopg://127.0.0.1:1/x"}, "the database cannot be opened"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_settings(tmp_path, name):
    """Start-up fails closed, with one line."""
    environ, said = WRONG[name]
    (tmp_path / "var").mkdir()
    (tmp_path / "secrets").write_text("nothing that a database would begin with\n" * 40)
    if said.startswith("secrets"):
        (tmp_path / "var/secrets.json").write_text("{")
    refused(run("start", "--port", str(free_port()), home=tmp_path / "var", **environ), said)
    assert processes(str(tmp_path)) == {}


def test_a_folder_with_a_very_long_name(tmp_path):
    """Valkey's socket is found elsewhere when the folder's path is too long for one."""
    home = tmp_path / ("x" * 60) / ("y" * 60)
    started = Embedded(home, log=tmp_path / "log").ready()
    assert started.say("SOLDE", AWA)
    assert started.end(signal.SIGTERM) == 0 and processes(str(home)) == {}


def refused(done: subprocess.CompletedProcess, *said: str) -> None:
    assert done.returncode == 1 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("palabre: "), done.stderr
    assert all(word in done.stderr for word in said), done.stderr


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
