"""A person at the simulator: two phones in a real browser, on a real `palabre start`."""

import re
import shutil
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.sync_api import expect, sync_playwright
from running import Embedded, kill, processes, until

ARTEFACTS = Path(__file__).parents[1] / "artefacts"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
QUESTION = "Aide-moi à préparer mon devoir de maths sur les fractions"
SUMMARY = "fais-moi un résumé en PDF"
VERDICT = re.compile("Juste|bonne réponse|Pas tout à fait|Ce n'est pas")
QUIZ = re.compile(r"1\).*2\)", re.DOTALL)
SECONDS = 30_000  # milliseconds a thing may take to appear

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def palabre(tmp_path_factory):
    started = Embedded(tmp_path_factory.mktemp("browser") / "var")
    try:
        yield started.ready()
    finally:
        started.end()
        kill(processes(str(started.home)))


@pytest.fixture(scope="module")
def browser():
    ARTEFACTS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(palabre, browser):
    """The simulator's page; at the end nothing was wrong in its console and nothing was asked of another machine."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000}, locale="fr-FR")
    wrong, elsewhere = [], []
    page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda problem: wrong.append(str(problem)))
    page.on("response", lambda answer: wrong.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None)
    page.on("request", lambda request: elsewhere.append(request.url) if not request.url.startswith((palabre.url, "data:")) else None)
    page.goto(f"{palabre.url}/simulator")
    page.set_default_timeout(SECONDS)
    yield page
    page.close()
    assert wrong == [] and elsewhere == []


def write(page, phone: str, text: str) -> None:
    page.locator(f"#{phone}-input").fill(text)
    page.locator(f"#{phone}-send").click()


def opened(page, address: str) -> bytes:
    answer = page.request.get(urljoin(page.url, address))
    assert answer.ok and answer.headers["content-type"] == "application/pdf"
    return answer.body()


def test_whatsapp(page):
    """On the smartphone: an explanation and a quiz, its verdict, a PDF that opens, and ticks that get to "read"."""
    log = page.locator("#whatsapp-log")
    received = log.locator(".bubble.in:not(.typing)")
    write(page, "whatsapp", QUESTION)
    expect(received.filter(has_text=QUIZ).last).to_be_visible(timeout=SECONDS)
    expect(received.filter(has_text="dénominateur").first).to_be_visible()
    expect(log.locator(".bubble.out").first).to_contain_text("devoir de maths")

    write(page, "whatsapp", "2")
    expect(received.filter(has_text=VERDICT).last).to_be_visible(timeout=SECONDS)

    write(page, "whatsapp", SUMMARY)
    link = log.locator(".bubble.in .media a").last
    expect(link).to_be_visible(timeout=SECONDS)
    assert opened(page, link.get_attribute("href")).startswith(b"%PDF")
    expect(log.locator(".bubble.in .ticks[data-status=read]").last).to_be_visible(timeout=SECONDS)
    until_all_are(page, "#whatsapp-log .bubble.in .ticks", "read")
    page.screenshot(path=ARTEFACTS / "simulator-whatsapp.png")
    log.screenshot(path=ARTEFACTS / "whatsapp-log.png")


def test_sms(page):
    """On the feature phone: typed with the keypad and the input, counted in segments, and the PDF is a link in the text."""
    screen, counter = page.locator("#sms-screen"), page.locator("#sms-segments")
    received = screen.locator(".bubble.in:not(.typing)")
    page.locator("#sms-input").fill(QUESTION)
    expect(counter).to_contain_text(re.compile(r"[1-9]\d* SMS"))
    page.locator("#sms-send").click()
    expect(received.filter(has_text=QUIZ).last).to_be_attached(timeout=SECONDS)

    while page.locator("#sms-mode").inner_text() != "123":
        page.locator(".key[data-key='#']").click()
    page.locator(".key[data-key='2']").click()
    expect(page.locator("#sms-input")).to_have_value("2")
    expect(counter).to_contain_text(re.compile(r"1 · 1 SMS"))
    page.locator("#sms-send").click()
    expect(received.filter(has_text=VERDICT).last).to_be_attached(timeout=SECONDS)

    write(page, "sms", SUMMARY)
    link = received.locator("a[href*='.pdf']").last
    expect(link).to_be_attached(timeout=SECONDS)
    assert link.get_attribute("href") in received.last.inner_text() and screen.locator(".media").count() == 0
    assert opened(page, link.get_attribute("href")).startswith(b"%PDF")
    until_all_are(page, "#sms-screen .bubble.in .ticks", "delivered")
    assert all(re.search(r"[1-9]\d* SMS", parts) for parts in screen.locator(".bubble .parts").all_inner_texts())
    page.screenshot(path=ARTEFACTS / "simulator-sms.png")
    screen.screenshot(path=ARTEFACTS / "sms-screen.png")


def test_delivered_twice_is_read_once(page):
    """With "deliver twice" switched on, a message is answered once."""
    page.locator("#whatsapp-number").fill("+2250708091011")
    page.locator("#whatsapp-number").press("Enter")
    page.locator(".trouble[data-trouble=twice]").click()
    expect(page.locator(".trouble[data-trouble=twice]")).to_have_attribute("aria-pressed", "true")
    write(page, "whatsapp", "AIDE")
    received = page.locator("#whatsapp-log .bubble.in:not(.typing)")
    expect(received).to_have_count(1, timeout=SECONDS)
    write(page, "whatsapp", "SOLDE")
    expect(received).to_have_count(2, timeout=SECONDS)
    page.locator(".trouble[data-trouble=twice]").click()
    until_all_are(page, "#whatsapp-log .bubble.in .ticks", "read")
    expect(received).to_have_count(2)


def until_all_are(page, selector: str, status: str) -> None:
    def statuses() -> list[str]:
        return page.eval_on_selector_all(selector, "all => all.map(ticks => ticks.dataset.status)")

    until(lambda: (found := statuses()) and set(found) == {status}, 20, f"all messages are {status}", statuses)
