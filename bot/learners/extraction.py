"""
The text of a file that a person sent, read in a child process that may die: hostile files take down nothing but it.

The child gets the bytes on its standard input, no environment, no more than 512 MB and 20 seconds.
"""

import json
import subprocess
import sys

from bot.errors import ToolError
from bot.learners.extraction_child import refused_at_sight

SECONDS = 20
LARGEST = 25_000_000  # bytes of a file that is looked into
REASONS = {  # what the child says: what the model is told
    "encrypted": "the file is protected with a password; ask the person for a copy without one",
    "scanned": "the PDF holds only pictures of pages (a scan) and no text; ask for photos of the pages, or for the original",
    "damaged": "the file is damaged or incomplete; ask the person to send it again",
    "bomb": "the file unpacks to far more than a document needs and was refused",
    "too_big": "the file is too big to be read",
    "picture": "the file is a picture, not a text",
    "media": "the file is sound or video, not a text",
    "old_office": "the file is in the old Office format (.doc, .xls, .ppt); ask for it as docx, xlsx, pptx or PDF",
    "archive": "the file is an archive, not a document; ask for the document itself",
    "unknown": "the file is in a format that cannot be read here; PDF, docx, xlsx, pptx, txt, csv, md and html can",
    "empty": "there is no text in the file",
}


def text_of(data: bytes) -> str:
    """What can be read in *data*, whose kind is told by its content. Raises ToolError with what stands in the way."""
    if problem := "too_big" if len(data) > LARGEST else refused_at_sight(data):
        raise _refusal(problem)
    try:
        child = subprocess.run(
            [sys.executable, "-I", "-m", "bot.learners.extraction_child"],
            input=data,
            capture_output=True,
            timeout=SECONDS,
            env={"OPENBLAS_NUM_THREADS": "1"},
            cwd="/",
        )
    except subprocess.TimeoutExpired as problem:
        raise _refusal("too_big") from problem
    try:
        answer = json.loads(child.stdout)
    except ValueError as problem:  # it was killed: out of memory, out of time, or worse
        raise _refusal("too_big" if child.returncode < 0 else "damaged") from problem
    if "problem" in answer:
        raise _refusal(answer["problem"])
    return answer["text"]


def _refusal(problem: str) -> ToolError:
    return ToolError(f"This file cannot be read: {REASONS[problem]}.")
