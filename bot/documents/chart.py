"""What a model asks a chart to show, checked against the columns that are there."""

from dataclasses import dataclass

from bot.documents.clean import clean_line
from bot.errors import DocumentError

TYPES = ("bar", "line", "pie")


@dataclass(frozen=True)
class Chart:
    """*x* and *y* are column numbers, counted from 0."""

    type: str
    title: str
    x: int
    y: list[int]


def read_chart(asked: object, columns: list[str], place: str) -> Chart:
    """The chart *asked* for ({type, title, x: column, y: [column…]}) over *columns*.
    Raises DocumentError, naming *place*, that says what is wrong and which columns there are."""
    if not isinstance(asked, dict):
        raise DocumentError(f"{place}: chart must be an object {{type, title, x, y}}")
    if asked.get("type") not in TYPES:
        raise DocumentError(f"{place}: chart type {asked.get('type')!r} is unknown; use bar, line or pie")
    numbers: dict[str, int] = {}
    for number, name in enumerate(columns):
        numbers.setdefault(name.casefold(), number)

    def find(name: object) -> int:
        if (wanted := clean_line(name).casefold()) not in numbers:
            raise DocumentError(
                f"{place}: the chart names the column {clean_line(name)!r}, which does not exist; the columns are: "
                + ", ".join(repr(c) for c in columns)
            )
        return numbers[wanted]

    wanted = asked.get("y")
    wanted = wanted if isinstance(wanted, list) else [wanted] if wanted is not None else []
    if not wanted or asked.get("x") is None:
        raise DocumentError(f"{place}: chart needs x (one column) and y (a list of columns)")
    y = [find(name) for name in wanted]
    return Chart(asked["type"], clean_line(asked.get("title")), find(asked["x"]), y[:1] if asked["type"] == "pie" else y)
