"""What the demo model sees of a conversation, read out of the messages of one request; and the form of what it says."""

import json
import re
from dataclasses import dataclass

from bot.demo import sums, topics
from bot.demo.language import language_of, plain
from bot.demo.topics import Topic

NOTE = re.compile(r"\[quiz.*|\[[^\]\n]*\]", re.IGNORECASE)  # what Palabre writes beside the person's words: a verdict, an attachment

QUIZ = re.compile(r"\[quiz.*", re.IGNORECASE)  # the note that tells how a question was answered
ATTACHED = re.compile(r"\[(piece jointe|attach)")
SMS = re.compile(r"(canal|channel)\W{1,4}sms")  # how the system prompt says that the channel is SMS


@dataclass(frozen=True)
class Call:
    name: str
    arguments: dict


@dataclass(frozen=True)
class Answer:
    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Result:
    """What a tool answered in this turn."""

    name: str
    content: str

    @property
    def data(self) -> object:
        """The JSON of the answer, also out of the marks around data from outside; or the text as it is."""
        for text in (self.content, self.content[self.content.find("{") : self.content.rfind("}") + 1]):
            try:
                return json.loads(text)
            except ValueError:
                continue
        return self.content

    @property
    def failed(self) -> bool:
        data = self.data
        if isinstance(data, dict):
            return data.get("ok") is False or bool(data.get("error"))
        return bool(re.match(r"\W*(erreur|error|echec|failed|refus)", plain(self.content)))


@dataclass(frozen=True)
class Talk:
    messages: tuple[dict, ...]
    offered: frozenset[str]
    text: str  # the newest message of the person, with the notes that Palabre puts beside it
    has_file: bool  # a picture or a document came with it
    results: tuple[Result, ...]  # of the tools called since then
    first: bool  # nothing had been answered before that message
    count: int  # answers so far: makes each question a new one
    language: str
    brief: bool  # the answer goes out by SMS

    @property
    def said(self) -> str:
        """The person's own words."""
        return NOTE.sub(" ", self.text).strip()

    @property
    def said_since(self) -> str:
        """The person's own words after the answer that a quiz note speaks of."""
        return NOTE.sub(" ", QUIZ.split(self.text)[-1]).strip()

    @property
    def seed(self) -> int:
        return topics.seed_of(self.said, self.count)

    def topic(self) -> Topic | None:
        """What the conversation was last about."""
        for message in reversed(self.messages):
            text = words_of(message)
            if message.get("role") == "user":
                found = topic_in(NOTE.sub(" ", QUIZ.split(text)[-1]))
            elif message.get("role") == "assistant":
                found = topics.named_in(text)
            else:
                found = None
            if found:
                return found
        return None


def topic_in(text: str) -> Topic | None:
    """The topic that a person's words name, or that the sum in them belongs to."""
    if topic := topics.find(text):
        return topic
    solution = sums.solve(text, "fr")
    return topics.bank()[solution.topic] if solution else None


def words_of(message: dict) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content if isinstance(part, dict) and part.get("type") == "text")


def calls_of(message: dict) -> list[tuple[str, str, dict]]:
    """(id, name, arguments) of the tool calls in a message."""
    found = []
    for call in message.get("tool_calls") or []:
        function = call.get("function") or {}
        try:
            arguments = json.loads(function.get("arguments") or "{}")
        except ValueError:
            arguments = {}
        found.append((call.get("id") or "", function.get("name") or "", arguments if isinstance(arguments, dict) else {}))
    return found


def read(messages: list[dict], tools: list[dict]) -> Talk:
    users = [n for n, message in enumerate(messages) if message.get("role") == "user"]
    last = users[-1] if users else len(messages) - 1
    before, since = messages[:last], messages[last + 1 :]
    names = {call_id: name for message in since for call_id, name, _ in calls_of(message)}
    content = messages[last].get("content") if messages else ""
    return Talk(
        messages=tuple(messages),
        offered=frozenset((tool.get("function") or {}).get("name") or "" for tool in tools),
        text=words_of(messages[last]) if users else "",
        has_file=bool(users)
        and (
            ATTACHED.search(plain(words_of(messages[last]))) is not None
            or isinstance(content, list)
            and any(isinstance(part, dict) and part.get("type") == "image_url" for part in content)
        ),
        results=tuple(Result(names.get(m.get("tool_call_id"), m.get("name") or ""), words_of(m)) for m in since if m.get("role") == "tool"),
        first=not any(m.get("role") == "assistant" for m in before),
        count=sum(m.get("role") == "assistant" for m in messages),
        brief=any(SMS.search(plain(words_of(m))) for m in messages if m.get("role") == "system"),
        language=language_of([NOTE.sub(" ", words_of(messages[n])) for n in users]),
    )
