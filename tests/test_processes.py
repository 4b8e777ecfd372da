"""`palabre web`, `worker` and `clock` as processes of their own, with a real Valkey and servers that stand for the model and Twilio."""

import itertools
import signal
import threading
import time
from types import SimpleNamespace

import pytest
import requests
from fakes import call, signature, text
from running import Handler, ModelServer, Server, Started, TwilioServer, free_port, kill, last_said, processes, run, until

from bot import valkey

MESSAGE = "/webhooks/twilio/message"


class PageServer(Server):
    """What browse_url reads: held back while *waits* is clear."""

    def __init__(self):
        self.waits, self.asked = threading.Event(), 0
        server = self

        class Answer(Handler):
            def do_GET(self) -> None:
                server.asked += 1
                server.waits.wait(30)
                self.answer(200, "Une page sur les volcans.", "text/plain")

        super().__init__(Answer)


class Site:
    """The service as it runs on several machines, and the people who write to it."""

    def __init__(self, folder):
        self.folder, self.home = folder, folder / "var"
        self.model, self.twilio, self.page, self.port = ModelServer(self.think), TwilioServer(), PageServer(), free_port()
        self.held = threading.Event()  # the model thinks until it is set
        self.held.set()
        self.valkey, url = valkey.start(folder / "valkey", durable=False)
        self.settings = SimpleNamespace(twilio_auth_token="12345", public_url=f"http://127.0.0.1:{self.port}")
        self.environ = {
            "PALABRE_HOME": str(self.home),
            "REDIS_URL": url,
            "PUBLIC_URL": self.settings.public_url,
            "SECRET_KEY": "secret",
            "OPERATOR_TOKEN": "operator",
            "TWILIO_ACCOUNT_SID": "AC" + "1" * 32,
            "TWILIO_AUTH_TOKEN": "12345",
            "TWILIO_WHATSAPP_FROM": "whatsapp:+14155238886",
            "TWILIO_SMS_FROM": "+14155550100",
            "TWILIO_BASE_URL": self.twilio.url,
            "OPENROUTER_BASE_URL": self.model.url,
            "JINA_BASE_URL": self.page.url,
            "DEBOUNCE_SECONDS": "0.1",
        }
        self.numbers, self.ids = itertools.count(2250700000001), itertools.count(1)
        self.started: list[Started] = []

    def think(self, body: dict) -> dict:
        """Echoes what was said; "lis" reads a page first, "attends" waits until *held* is set."""
        said, last = last_said(body), body["messages"][-1]
        if said.startswith("attends"):
            self.held.wait(30)
        if said.startswith("lis") and last["role"] == "user":
            return call("browse_url", {"url": "https://93.184.215.14/volcans"})
        return text(f"Réponse à : {said}" + (f" ({last['content'][:400]})" if last["role"] == "tool" else ""))

    def start(self, *args: str) -> Started:
        one = Started(*args, log=self.folder / f"{args[0]}{len(self.started)}.log", **self.environ)
        self.started.append(one)
        return one

    def person(self) -> str:
        """A new account's WhatsApp address."""
        number = f"+{next(self.numbers)}"
        done = run("users", "add", number, "--mode", "child", "--credits", "50", home=self.home)
        assert done.returncode == 0, done.stderr
        return f"whatsapp:{number}"

    def post(self, sender: str, body: str, **fields) -> requests.Response:
        form = {
            "MessageSid": f"SM{next(self.ids):032x}",
            "From": sender,
            "Body": body,
            "NumMedia": "0",
            "To": "whatsapp:+14155238886",
            **fields,
        }
        signed = signature(self.settings, MESSAGE, list(form.items()))
        return requests.post(self.settings.public_url + MESSAGE, data=form, headers={"X-Twilio-Signature": signed}, timeout=10)

    def workers(self) -> list[int]:
        """The worker processes and their parent."""
        return [pid for pid, command in processes(str(self.folder)).items() if "workers.serve" in command]

    def ready(self) -> requests.Response | None:
        try:
            return requests.get(f"{self.settings.public_url}/readyz", timeout=10)
        except requests.RequestException:
            return None

    def until_ready(self) -> None:
        until(lambda: (answer := self.ready()) is not None and answer.ok, 20, "the service is ready", self.logs)

    def until_answered(self, people: dict[str, list[str]], seconds: float = 60) -> None:
        """Wait until each address has the answers to these texts, and a little to see that no more come."""
        wanted = {sender: [f"Réponse à : {said}" for said in texts] for sender, texts in people.items()}
        until(
            lambda: all(len(self.answers(sender)) >= len(answers) for sender, answers in wanted.items()),
            seconds,
            "everybody is answered",
            lambda: f"{ {s: self.answers(s) for s in wanted} }\n{self.logs()}",
        )
        self.until_quiet()
        assert {sender: self.answers(sender) for sender in wanted} == wanted

    def until_quiet(self) -> None:
        """Until no conversation is awake and no message waits."""

        def quiet() -> bool:
            metrics = requests.get(f"{self.settings.public_url}/metrics", timeout=10).text
            return (
                "palabre_awake_conversations 0\n" in metrics
                and 'state="waiting"' not in metrics
                and 'state="sending"' not in metrics
                and 'palabre_queued_jobs{queue="chat"} 0' in metrics
            )

        until(quiet, 60, "nothing is left to do", self.logs)

    def answers(self, sender: str) -> list[str]:
        return [body.split(" (")[0] for body in self.twilio.bodies(sender)]

    def logs(self) -> str:
        return "".join(f"--- {one.log.name}\n{one.printed}" for one in self.started)

    def close(self) -> None:
        self.held.set(), self.page.waits.set()
        for one in self.started:
            one.end(signal.SIGKILL)
        until(lambda: not processes(str(self.folder)).keys() - {self.valkey.pid}, 30, "all processes have ended")
        self.valkey.kill(), self.valkey.wait()
        for server in (self.model, self.twilio, self.page):
            server.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("site"))
    try:
        assert run("migrate", home=site.home).returncode == 0
        site.start("web", "--port", str(site.port)), site.start("clock")
        yield site
    finally:
        site.close()


@pytest.fixture
def site(running):
    """The site with one `palabre worker` at work."""
    running.worker = running.start("worker", "--processes", "2")
    running.until_ready()
    yield running
    running.held.set(), running.page.waits.set()
    assert running.worker.end() == 0


def test_a_dozen_people_at_once(site):
    """A dozen people who write at the same time each get their own answer, and no webhook waits for the model."""
    site.held.clear()
    people = [site.person() for _ in range(12)]
    took: dict[str, float] = {}

    def write(sender: str) -> None:
        begins = time.monotonic()
        assert site.post(sender, f"attends, ici {sender[-4:]}").status_code == 200
        took[sender] = time.monotonic() - begins

    threads = [threading.Thread(target=write, args=(sender,)) for sender in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(took) == 12 and max(took.values()) < 1
    until(lambda: len(site.model.asked) >= 12, 20, "all twelve are thought about at the same time", site.logs)
    site.held.set()
    site.until_answered({sender: [f"attends, ici {sender[-4:]}"] for sender in people})


def test_asked_to_end_in_the_middle_of_a_turn(site):
    """A worker that is asked to end hands its turn back as soon as the model has answered: nothing is thought or said twice."""
    site.held.clear()
    sender = site.person()
    site.post(sender, "attends la fin")
    until(lambda: site.model.times("attends la fin"), 20, "the model is asked", site.logs)

    site.worker.process.terminate()
    until(lambda: len(site.workers()) == 2, 5, "the process that has nothing to do has gone")
    site.held.set()
    assert site.worker.process.wait(10) == 0
    assert site.answers(sender) == []

    site.worker = site.start("worker", "--processes", "2")
    site.until_answered({sender: ["attends la fin"]}, 10)
    assert site.model.times("attends la fin") == 1


def test_killed_in_the_middle_of_a_turn(site):
    """kill -9 of all workers while the model thinks for one and a tool runs for another: after a restart each has one answer."""
    site.held.clear(), site.page.waits.clear()
    thinking, reading = site.person(), site.person()
    site.post(thinking, "attends longtemps"), site.post(reading, "lis cette page")
    before = site.page.asked
    until(lambda: site.model.times("attends longtemps") and site.page.asked > before, 20, "both turns are under way", site.logs)

    kill(site.workers())
    site.worker.process.wait()
    site.held.set(), site.page.waits.set()
    site.worker = site.start("worker", "--processes", "2")
    site.until_answered({thinking: ["attends longtemps"], reading: ["lis cette page"]})
    assert "volcans" in site.twilio.bodies(reading)[0]


def test_redis_loses_everything(site):
    """Redis goes away with all its data while messages are on their way, and comes back: all are answered, once."""
    site.held.clear()
    before, during = [site.person() for _ in range(3)], [site.person() for _ in range(2)]
    for sender in before:
        assert site.post(sender, "attends Redis").status_code == 200
    until(lambda: site.model.times("attends Redis") == 3, 20, "the model is asked", site.logs)

    site.valkey.kill(), site.valkey.wait()
    for sender in during:
        assert site.post(sender, "sans Redis").status_code == 200
    assert site.ready().status_code == 503
    site.held.set()
    site.valkey, _ = valkey.start(site.folder / "valkey", durable=False)

    site.until_answered({sender: ["attends Redis"] for sender in before} | {sender: ["sans Redis"] for sender in during})
    site.until_ready()


def test_logs_tell_nothing_about_people(site):
    """No log holds a number, a text or a traceback, even when things go wrong."""
    sender = site.person()
    site.twilio.refuse[sender] = (400, 21211)
    unsigned = requests.post(site.settings.public_url + MESSAGE, data={"From": sender, "Body": "secret-de-famille"}, timeout=10)
    assert unsigned.status_code == 403
    assert site.post(sender, "secret-de-famille").status_code == 200
    assert site.post(sender, "").status_code == 200
    until(lambda: "21211" in site.logs(), 20, "the refusal is logged", site.logs)
    site.until_quiet()

    logs = site.logs()
    assert "secret-de-famille" not in logs and "Réponse" not in logs and "attends" not in logs
    assert sender.removeprefix("whatsapp:+") not in logs and "22507" not in logs
    assert "Traceback" not in logs
