"""Every command: its help, its exit code, and one clear line when something is wrong."""

import json
import shutil
import sqlite3

import pytest
from fakes import call, text
from running import ModelServer, TwilioServer, run

AWA = "+2250701020304"
COMMANDS = (
    "",
    "start",
    "web",
    "worker",
    "clock",
    "migrate",
    "doctor",
    "chat",
    "events",
    "replay",
    "fork",
    "users",
    "users add",
    "users list",
)
SERVICE = {
    "REDIS_URL": "redis://127.0.0.1:1",
    "SECRET_KEY": "s",
    "OPERATOR_TOKEN": "o",
    "TWILIO_ACCOUNT_SID": "AC" + "1" * 32,
    "TWILIO_AUTH_TOKEN": "t",
    "TWILIO_WHATSAPP_FROM": "whatsapp:+14155238886",
    "TWILIO_SMS_FROM": "+14155550100",
    "OPENROUTER_API_KEY": "sk",
    "PUBLIC_URL": "https://palabre.example.org",
}
NEEDED = sorted(set(SERVICE) - {"PUBLIC_URL"})
QUIZ = {"question": "Combien font 1/2 + 1/4 ?", "options": ["2/6", "3/4"], "correct_index": 1, "explanation": "1/2 vaut 2/4."}


@pytest.fixture
def home(tmp_path):
    return tmp_path / "var"


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("empty") / "var"
    assert run("migrate", home=folder).returncode == 0
    return folder


@pytest.fixture
def migrated(empty, home):
    """A folder with an empty database."""
    shutil.copytree(empty, home)


@pytest.fixture
def model():
    server = ModelServer()
    yield server
    server.close()


@pytest.fixture
def twilio():
    server = TwilioServer()
    yield server
    server.close()


def one_line(done, *said: str, code: int = 1) -> None:
    """The command failed and said so in one line that holds each of *said*."""
    assert done.returncode == code and done.stdout == "", (done.stdout, done.stderr)
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("palabre: "), done.stderr
    assert all(word in done.stderr for word in said), done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name, home):
    """--help explains the command and its options, and touches nothing."""
    done = run(*name.split(), "--help", home=home)
    assert done.returncode == 0 and done.stderr == "" and done.stdout.startswith(f"usage: palabre {name}".strip())
    assert not home.exists()


WRONG_USAGE = {
    "no command": "",
    "an unknown command": "restart",
    "a port that is none": "start --port 70000",
    "no worker": "start --workers 0",
    "no process": "worker --processes 0",
    "an unknown queue": "worker --queues chat,mail",
    "no queue": "worker --queues ,",
    "no mode": f"users add {AWA}",
    "an unknown mode": f"users add {AWA} --mode guest",
    "credits in words": f"users add {AWA} --mode child --credits dix",
    "fewer than no credits": f"users add {AWA} --mode child --credits -3",
    "more credits than can be counted": f"users add {AWA} --mode child --credits {10**20}",
    "no conversation": "events",
    "event number nought": "fork abc 0",
    "an unknown channel": "chat --channel fax",
    "users without an action": "users",
}


@pytest.mark.parametrize("name", WRONG_USAGE)
def test_wrong_usage(name, home):
    """Wrong usage is exit code 2, with the usage and one line of error."""
    done = run(*WRONG_USAGE[name].split(), home=home)
    assert done.returncode == 2 and done.stdout == "" and not home.exists()
    assert done.stderr.startswith("usage: palabre") and ": error: " in done.stderr.splitlines()[-1]


# -- settings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["web", "worker", "clock"])
def test_all_that_is_missing_is_named_at_once(command, home):
    """A part of the service names every missing setting in one line."""
    one_line(run(command, home=home), *NEEDED)


@pytest.mark.parametrize("left_out", NEEDED)
def test_one_missing_setting_stops_the_start(left_out, home):
    """A single missing setting is enough, half a Twilio account too, and only that one is named."""
    done = run("web", home=home, **{k: v for k, v in SERVICE.items() if k != left_out})
    one_line(done, f"{left_out} is not set")
    assert done.stderr.count("is not set") == 1


WRONG_SETTINGS = {
    "a plain address for a real account": ({"PUBLIC_URL": "http://palabre.example.org"}, ["PUBLIC_URL must be a public https address"]),
    "a private address for a real account": ({"PUBLIC_URL": "https://192.168.1.4"}, ["PUBLIC_URL must be a public https address"]),
    "an address that is none": ({"PUBLIC_URL": "palabre"}, ["PUBLIC_URL must be an address"]),
    "two numbers that are none": ({"TURN_SECONDS": "soon", "MAX_ITERATIONS": "0"}, ["TURN_SECONDS must be", "MAX_ITERATIONS must be"]),
    "a number without end": ({"DEBOUNCE_SECONDS": "nan"}, ["DEBOUNCE_SECONDS must be"]),
    "a database of an unknown kind": ({"DATABASE_URL": "mysql://localhost/x"}, ["DATABASE_URL must be"]),
    "a Redis of an unknown kind": ({"REDIS_URL": "localhost:6379"}, ["REDIS_URL must begin with"]),
    "files elsewhere": ({"MEDIA_URL": "ftp://files"}, ["MEDIA_URL must begin with"]),
}


@pytest.mark.parametrize("name", WRONG_SETTINGS)
def test_wrong_settings(name, home):
    """A setting that cannot be understood stops the start, and its value never opens a door."""
    environ, said = WRONG_SETTINGS[name]
    one_line(run("clock", home=home, **SERVICE | environ), *said)


def test_dotenv_is_read_and_the_environment_wins(home):
    """Settings may stand in .env; what is in the environment counts more."""
    (home.parent / ".env").write_text("# réglages\nTURN_SECONDS=bientôt\nexport MAX_ITERATIONS=zéro\nQUIZ_TTL_SECONDS='0'\n")
    done = run("migrate", home=home, QUIZ_TTL_SECONDS="60")
    one_line(done, "TURN_SECONDS must be a number of at least 1, not 'bientôt'", "MAX_ITERATIONS")
    assert "QUIZ_TTL_SECONDS" not in done.stderr


def test_a_dotenv_that_cannot_be_read(home):
    """A .env that is not text is one line."""
    (home.parent / ".env").write_bytes(b"NAME=\xff\xfe\x00")
    one_line(run("migrate", home=home), ".env cannot be read")


# -- database and accounts -----------------------------------------------------------------------------------------


def test_migrate_twice(home):
    """Migrating a second time changes nothing."""
    first, second = run("migrate", home=home), run("migrate", home=home)
    assert (first.returncode, second.returncode) == (0, 0) and first.stdout == second.stdout != ""


@pytest.mark.parametrize("command", ["users list", f"users add {AWA} --mode child", "events abc", "replay abc", "fork abc 1"])
def test_without_a_database(command, home):
    """Without a database a command says what to do, and makes none by the way."""
    one_line(run(*command.split(), home=home), "run `palabre migrate`")
    assert not home.exists()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///noise.db", "cannot be opened"),
        ("postgresql+psycopg://127.0.0.1:1/x", "cannot be opened"),
        ("postgres://127.0.0.1:1/x", "cannot be opened"),
        ("postgresql+psycopg://127.0.0.1:port/x", "DATABASE_URL must be"),
    ],
    ids=["noise", "down", "its short name", "no port"],
)
@pytest.mark.parametrize("command", ["users list", "migrate"])
def test_with_a_database_that_cannot_be_used(command, url, said, home):
    """A database that is none, or is not there, is one line."""
    (home.parent / "noise.db").write_text("not a database " * 99)
    one_line(run(*command.split(), home=home, DATABASE_URL=url), said)


def test_users(home, migrated):
    """Accounts are made with all they can have, listed in words and as JSON; a number that is there already changes nothing."""
    full = run(
        "users",
        "add",
        "+225 07 01 02 03 04",
        "--mode",
        "child",
        "--grade",
        "cm2",
        "--credits",
        "25",
        "--name",
        "Awa Koné",
        "--email",
        "awa@exemple.ci",
        home=home,
    )
    assert full.returncode == 0 and f"{AWA}: child, CM2, 25 credits" in full.stdout
    assert run("users", "add", "+221771234567", "--mode", "pro", home=home).returncode == 0
    again = run("users", "add", AWA, "--mode", "pro", "--credits", "500", home=home)
    one_line(again, f"there is an account with {AWA}", "nothing was changed")

    listed = json.loads(run("users", "list", "--json", home=home).stdout)
    assert [(u["phone"], u["mode"], u["grade"], u["credits"], u["email"], u["name"]) for u in listed] == [
        (AWA, "child", "CM2", 25, "awa@exemple.ci", "Awa Koné"),
        ("+221771234567", "pro", None, 0, None, None),
    ]
    assert len({u["id"] for u in listed}) == 2
    lines = run("users", "list", home=home).stdout.splitlines()
    assert len(lines) == 2 and "Awa Koné" in lines[0] and "25 credits" in lines[0]


@pytest.mark.parametrize(
    "arguments",
    [
        "0701020304 --mode child",
        "+2250701 --mode child",
        "awa --mode child",
        f"{AWA} --mode child --grade CM9",
        f"{AWA} --mode child --email awa",
    ],
)
def test_accounts_that_cannot_be(arguments, home, migrated):
    """A wrong number, class or e-mail is one line, and no account is made."""
    one_line(run("users", "add", *arguments.split(), home=home))
    assert json.loads(run("users", "list", "--json", home=home).stdout) == []


# -- talking and looking back --------------------------------------------------------------------------------------


def test_chat_events_replay_and_fork(home, migrated, model):
    """A talk in the terminal is logged; it can be read, run again without the model, and branched."""
    model.script = lambda body: (
        text("Juste, continuons.")
        if "[Quiz]" in str(body["messages"][-1])
        else call("interactive_quiz", QUIZ, content="Une fraction est une part.")
    )
    here = {"OPENROUTER_BASE_URL": model.url}
    run("users", "add", AWA, "--mode", "child", "--credits", "10", home=home)
    talk = run("chat", "--as", AWA, home=home, said="Un quiz\n\n2\nSOLDE\n", **here)
    assert talk.returncode == 0 and talk.stderr == ""
    for part in ("Une fraction est une part.", "2) 3/4", "1/2 vaut 2/4.", "Juste, continuons."):
        assert part in talk.stdout
    assert all(key is None for key in model.keys) and len(model.asked) == 2

    by_sms = run("chat", "--as", AWA, "--channel", "sms", home=home, said="SOLDE\n", **here)
    assert by_sms.returncode == 0 and by_sms.stdout.startswith(AWA)

    id = _conversations(home)[0]
    logged = [json.loads(line) for line in run("events", id, "--json", home=home).stdout.splitlines()]
    assert [e["seq"] for e in logged] == list(range(1, len(logged) + 1))
    kinds = {e["kind"] for e in logged}
    assert {"HumanInput", "ModelRequest", "ModelReply", "ToolCall", "ToolResult", "ReplyQueued", "QuizAnswered"} <= kinds
    assert set(logged[0]) == {"seq", "kind", "id", "at", "caused_by", "correlation_id", "payload"}
    assert logged[0]["payload"]["text"] == "Un quiz"
    assert len(run("events", id, home=home).stdout.splitlines()) == len(logged)

    asked = len(model.asked)
    for how in ([], ["--strict"]):
        again = run("replay", id, *how, home=home)
        assert again.returncode == 0 and json.loads(again.stdout)["ok"] is True and json.loads(again.stdout)["divergence"] is None
    assert len(model.asked) == asked

    branch = run("fork", id, "1", "--model", "other/model", home=home)
    assert branch.returncode == 0
    branched = [json.loads(line) for line in run("events", branch.stdout.strip(), "--json", home=home).stdout.splitlines()]
    assert [e["kind"] for e in branched] == ["HumanInput", "Forked"] and branched[1]["payload"]["model"] == "other/model"
    one_line(run("fork", id, "999", home=home), f"1 to {len(logged)}")


def test_chat_without_anything(home):
    """With no setting at all the terminal brings Valkey and the demo model, and says that it is one."""
    talk = run("chat", home=home, said="Aide-moi avec les fractions\n")
    assert talk.returncode == 0 and "sans IA" in talk.stdout and "fraction" in talk.stdout


@pytest.mark.parametrize("arguments", [["--as", "0701"], ["--as", "moi"]])
def test_chat_as_nobody(arguments, home):
    """Talking as somebody without a number is one line."""
    one_line(run("chat", *arguments, home=home, said="Bonjour\n"), "telephone number")


@pytest.mark.parametrize("command", ["events no-such", "replay no-such --strict", "fork no-such 1"])
def test_an_unknown_conversation(command, home, migrated):
    """A conversation that is not there is one line."""
    one_line(run(*command.split(), home=home), "no conversation 'no-such'")


def _conversations(home) -> list[str]:
    with sqlite3.connect(home / "palabre.db") as connection:
        return [row[0] for row in connection.execute("select id from conversations order by number")]


# -- doctor --------------------------------------------------------------------------------------------------------


def test_doctor_in_good_health(home, migrated, model, twilio, valkey_url):
    """With everything set and reachable, each finding is fine and the exit code 0."""
    done = run("doctor", home=home, **SERVICE | {"REDIS_URL": valkey_url, "OPENROUTER_BASE_URL": model.url, "TWILIO_BASE_URL": twilio.url})
    assert done.returncode == 0, done.stdout
    assert all(line.startswith("ok ") for line in done.stdout.splitlines()) and "webhooks/twilio/message" in done.stdout
    assert model.keys == ["Bearer sk"] and twilio.paths == {f"/2010-04-01/Accounts/{SERVICE['TWILIO_ACCOUNT_SID']}/Messages.json"}
    assert "sk" not in done.stdout.split() and SERVICE["TWILIO_AUTH_TOKEN"] not in done.stdout.split()


@pytest.mark.parametrize(
    "environ",
    [{}, SERVICE | {"TWILIO_BASE_URL": "http://127.0.0.1:1", "OPENROUTER_BASE_URL": "http://127.0.0.1:1"}],
    ids=["nothing is set", "nothing is there"],
)
def test_doctor_in_bad_health(environ, home):
    """Every check is made whatever the others say; what is wrong is named, and the exit code is 1."""
    done = run("doctor", home=home, **{"OPENROUTER_BASE_URL": "http://127.0.0.1:1"} | environ)
    wrong = {line.split("  ")[1].split(":")[0] for line in done.stdout.splitlines() if line.startswith("FAUX")}
    assert done.returncode == 1 and done.stderr == "" and len(done.stdout.splitlines()) == 10
    assert {"base de données / database", "Redis", "Twilio", "modèle / model"} <= wrong
    assert not (home / "palabre.db").exists()
