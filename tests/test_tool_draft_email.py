"""draft_email: stored; it leaves only when the person sends it."""

from dataclasses import replace

import pytest
from conftest import rows
from mail_server import running

from bot.db import daily, drafts, reading, writing
from bot.errors import ToolError
from bot.learners import drafts as store
from bot.learners import files
from tools.draft_email import draft_email
from tools.offered import check


def write(context, key="c1", to="chef@exemple.org", subject="Congé", body="Monsieur,\n\nje demande…", **more):
    try:
        result = draft_email(context, to, subject, body, key=key, **more)
        context.tx.commit()
    finally:
        context.tx.close()
    return result


@pytest.fixture
def mailing(services, make_context):
    """(keeper, services whose mail goes to it, context)."""
    with running() as (keeper, address):
        changed = replace(services, settings=replace(services.settings, smtp_url=f"smtp://{address}"))
        yield keeper, changed, replace(make_context(), services=changed)


def test_a_draft_is_stored_and_nothing_leaves(mailing):
    keeper, services, context = mailing
    result = write(context)
    assert result["draft"] == 1 and "ENVOYER 1" in result["next"] and result["page"] == "https://palabre.test/me/drafts"
    [row] = rows(services, drafts)
    assert (row.owner, row.recipient, row.subject, row.sent_at) == (context.person.owner, "chef@exemple.org", "Congé", None)
    assert keeper.inbox == []


def test_sending_it_sends_it_once_with_the_files_and_the_persons_address_for_answers(mailing):
    keeper, services, context = mailing
    with writing(services.db) as tx:
        id = files.save(services.settings, tx, key="f", owner=context.person.owner, origin="uploaded", filename="cv.pdf", data=b"%PDF").id
    write(context, attachment_file_ids=[id])
    assert store.send(services, context.person, 1) == "sent"
    assert store.send(services, context.person, 1) == "already"
    [message] = keeper.inbox
    assert (message["To"], message["Reply-To"], message["Subject"]) == ("chef@exemple.org", "awa@exemple.ci", "Congé")
    assert [a.get_filename() for a in message.iter_attachments()] == ["cv.pdf"]


def test_numbers_count_the_persons_own_drafts_and_stay(mailing):
    keeper, services, context = mailing
    with writing(services.db) as tx:
        store.create(tx, key="other", owner="learner:other", to="x@exemple.org", subject="s", body="b", file_ids=[])
    assert [write(context, key=k)["draft"] for k in ("a", "b")] == [1, 2]
    store.send(services, context.person, 1)
    assert write(context, key="c")["draft"] == 3
    with reading(services.db) as connection:
        assert [(r.number, bool(r.sent_at)) for r in store.of(connection, context.person.owner)] == [(3, False), (2, False), (1, True)]
    assert store.send(services, context.person, 4) == "none"


def test_a_draft_can_be_changed_until_it_is_sent(mailing):
    keeper, services, context = mailing
    write(context)
    with writing(services.db) as tx:
        assert store.edit(tx, context.person.owner, 1, to="autre@exemple.org", subject="Nouveau\nBcc: x@y.org", body="Texte")
        assert not store.edit(tx, context.person.owner, 2, to="autre@exemple.org", subject="s", body="b")
        assert not store.edit(tx, "somebody else", 1, to="autre@exemple.org", subject="s", body="b")
    store.send(services, context.person, 1)
    assert (keeper.inbox[0]["To"], keeper.inbox[0]["Subject"], keeper.inbox[0]["Bcc"]) == (
        "autre@exemple.org",
        "Nouveau Bcc: x@y.org",
        None,
    )
    with writing(services.db) as tx:
        assert not store.edit(tx, context.person.owner, 1, to="autre@exemple.org", subject="s", body="b")


@pytest.mark.parametrize(("answer", "outcome", "stays_open"), [("554 no", "unsent", True), (None, "unknown", False)])
def test_what_was_refused_can_be_sent_again_and_what_is_not_known_cannot(mailing, answer, outcome, stays_open):
    keeper, services, context = mailing
    write(context)
    keeper.answer = answer
    assert store.send(services, context.person, 1) == outcome
    assert (rows(services, drafts)[0].sent_at is None) is stays_open


def test_there_is_a_limit_for_each_day(mailing):
    keeper, services, context = mailing
    write(context)
    with writing(services.db) as tx:
        tx.execute(daily.insert().values(who=context.person.owner, what="draft", day=context.person.today(), count=store.SENT_PER_DAY))
    assert store.send(services, context.person, 1) == "limit"
    assert keeper.inbox == []


def test_the_same_call_twice_makes_one_draft(services, make_context):
    context = make_context()
    assert write(context) == write(context)
    assert len(rows(services, drafts)) == 1


@pytest.mark.parametrize(
    "to",
    [
        "chef",
        "chef@",
        "@exemple.org",
        "chef@exemple",
        "a@b.org, c@d.org",
        "a@b.org;c@d.org",
        "Chef <chef@exemple.org>",
        "chef@exemple.org\nBcc: x@y.org",
        "=?UTF-8?Q?a=0A?=@exemple.org?",
        "chef @exemple.org",
        "chef@exemple..org",
        "a" * 65 + "@exemple.org",
        "chéf@exemple.org",
        '"a b"@exemple.org',
        "chef@[127.0.0.1]",
        "chef@-exemple.org",
    ],
)
def test_what_is_not_one_plain_address_is_refused(services, make_context, to):
    with pytest.raises(ToolError, match="not one plain e-mail address"):
        write(make_context(), to=to)
    assert rows(services, drafts) == []


def test_a_domain_with_accents_is_written_in_ascii(services, make_context):
    write(make_context(), to=" chef@école.ci ")
    assert rows(services, drafts)[0].recipient == "chef@xn--cole-9oa.ci"


def test_a_file_of_somebody_else_is_not_attached(services, make_context):
    with pytest.raises(ToolError, match="f404"):
        write(make_context(), attachment_file_ids=["f404"])
    assert rows(services, drafts) == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"to": "a@b.org", "subject": "s"},
        {"subject": "s", "body": "b"},
        {"to": ["a@b.org"], "subject": "s", "body": "b"},
        {"to": "a@b.org", "subject": "s", "body": "b", "cc": "x@y.org"},
    ],
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("draft_email", arguments)
