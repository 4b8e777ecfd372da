"""How big a document may be. People pay for every megabyte."""

from bot.errors import DocumentError

LARGEST = 5_000_000  # bytes


def checked_size(data: bytes) -> bytes:
    """*data*, or a DocumentError that tells the model what to do about its size."""
    if len(data) > LARGEST:
        raise DocumentError(
            f"the file would be {len(data) / 1e6:.1f} MB, at most {LARGEST / 1e6:.0f} MB may be sent: "
            "shorten it or split it into several files"
        )
    return data
