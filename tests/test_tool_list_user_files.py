"""list_user_files: the person's files, newest first."""

from datetime import timedelta

import pytest

from bot.db import files as table
from bot.db import now, writing
from bot.errors import ToolError
from bot.learners import files
from tools.list_user_files import list_user_files
from tools.offered import check


@pytest.fixture
def context(services, make_context):
    """Somebody who sent a.pdf, then was made b.xlsx and c.md, and another person with a file."""
    context = make_context("child", address="whatsapp:+237699123456")
    with writing(services.db) as tx:
        for n, (name, origin, owner) in enumerate(
            (
                ("a.pdf", "uploaded", context.person.owner),
                ("b.xlsx", "generated", context.person.owner),
                ("c.md", "generated", context.person.owner),
                ("d.pdf", "uploaded", "learner:other"),
            )
        ):
            row = files.save(services.settings, tx, key=name, owner=owner, origin=origin, filename=name, data=b"x" * (n + 1))
            tx.execute(table.update().where(table.c.id == row.id).values(created_at=now() + timedelta(seconds=n)))
    return context


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, ["c.md", "b.xlsx", "a.pdf"]),
        ({"origin": "uploaded"}, ["a.pdf"]),
        ({"origin": "generated", "limit": 1}, ["c.md"]),
        ({"limit": 2}, ["c.md", "b.xlsx"]),
    ],
)
def test_the_persons_own_files_come_newest_first(context, arguments, names):
    assert [f["filename"] for f in list_user_files(context, **arguments)["files"]] == names


def test_each_has_what_is_needed_to_use_it(context):
    found = list_user_files(context, origin="uploaded")["files"][0]
    assert found["file_id"].startswith("f") and found["bytes"] == 1 and found["type"] == "application/pdf" and found["origin"] == "uploaded"
    assert found["created_at"].endswith("+01:00")
    assert found["url"].startswith("https://palabre.test/media/")


def test_a_link_that_has_expired_is_not_shown(services, context):
    with writing(services.db) as tx:
        tx.execute(table.update().values(expires_at=now() - timedelta(seconds=1)))
    assert {f["url"] for f in list_user_files(context)["files"]} == {None}


def test_without_files_the_list_is_empty(make_context):
    assert list_user_files(make_context(address="whatsapp:+221771234567")) == {"files": []}


@pytest.mark.parametrize("arguments", [{"origin": "sent"}, {"limit": 0}, {"limit": 101}, {"limit": "5"}, {"owner": "learner:other"}])
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("list_user_files", arguments)
