"""A presentation that can be given as it is: bullets that fit, tables that go on, charts that can be edited."""

import io

from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE, XL_LEGEND_POSITION
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.util import Emu, Inches, Pt

from bot.documents import palette
from bot.documents.archive import finished
from bot.documents.bidi import is_right_to_left
from bot.documents.blocks import Run, inline, plain
from bot.documents.clean import clean, clean_line
from bot.documents.columns import fitted, is_number, is_total, words
from bot.documents.pptx_fit import POINT, Bullet, fit_bullets, fit_rows, row_height
from bot.documents.pptx_read import ChartData, items, read_bullet, read_chart_data, read_table
from bot.documents.pptx_style import (
    BODY_HEIGHT,
    LEFT,
    ROOM,
    TITLE_AND_BODY,
    TITLE_ONLY,
    TITLE_SLIDE,
    TOP,
    colour,
    new_presentation,
    title_size,
)
from bot.errors import DocumentError

MOST_SLIDES = 500
GAP = Inches(0.4)
CHARTS = {"bar": XL_CHART_TYPE.COLUMN_CLUSTERED, "line": XL_CHART_TYPE.LINE_MARKERS, "pie": XL_CHART_TYPE.PIE}


def _number_columns(texts: list[list[str]]) -> list[bool]:
    """Which columns hold nothing but numbers, and so stand to the right."""
    body = [row for row in texts[1:] if not is_total(row[0])]
    return [any(row[c] for row in body) and all(is_number(row[c]) for row in body if row[c]) for c in range(len(texts[0]))]


class _Show:
    def __init__(self, title: str):
        self.made = new_presentation(title)

    def add(self, layout: int, title: str):
        if len(self.made.slides) >= MOST_SLIDES:
            raise DocumentError(f"this makes more than {MOST_SLIDES} slides: shorten it or split it into several presentations")
        slide = self.made.slides.add_slide(self.made.slide_layouts[layout])
        self.fill(slide.shapes.title.text_frame.paragraphs[0], inline(title), title_size(title, 44 if layout == TITLE_SLIDE else 28))
        return slide

    def fill(self, paragraph, runs: list[Run], size: Pt | None = None, bold: bool = False, ink: str | None = None) -> None:
        if is_right_to_left(plain(runs)):
            paragraph.alignment = PP_ALIGN.RIGHT
            paragraph._p.get_or_add_pPr().set("rtl", "1")
        for run in runs:
            for at, line in enumerate(run.text.split("\n")):
                if at:
                    paragraph.add_line_break()
                if not line:
                    continue
                made = paragraph.add_run()
                made.text = line
                made.font.bold, made.font.italic, made.font.size = run.bold or bold or None, run.italic or None, size
                if run.code:
                    made.font.name = "Consolas"
                if run.strike:
                    made._r.get_or_add_rPr().set("strike", "sngStrike")
                if run.link:
                    made.hyperlink.address = run.link
                if ink:
                    made.font.color.rgb = colour(ink)

    def cover(self, title: str, subtitle: str) -> None:
        slide = self.add(TITLE_SLIDE, title)
        second = slide.placeholders[1]
        if subtitle:
            self.fill(second.text_frame.paragraphs[0], inline(subtitle), title_size(subtitle, 22))
        else:
            second._element.getparent().remove(second._element)

    def bullets(self, shape, bullets: list[Bullet], size: int) -> None:
        frame = shape.text_frame
        frame.word_wrap = True
        for at, bullet in enumerate(bullets):
            paragraph = frame.paragraphs[0] if not at else frame.add_paragraph()
            paragraph.level, paragraph.space_after = bullet.level, Pt(size * 0.4)
            self.fill(paragraph, inline(bullet.text), Pt(max(size - 2 * bullet.level, 14)), ink=palette.INK)

    def table(self, slide, rows: list[list[list[Run]]], widths: list[float], size: int, left: Emu, numbers: list[bool]) -> None:
        texts = [[plain(cell) for cell in row] for row in rows]
        heights = [row_height(row, widths, size) for row in texts]
        size_of_all = Emu(int(sum(widths) * POINT)), Emu(int(sum(heights) * POINT))
        made = slide.shapes.add_table(len(rows), len(widths), left, TOP, *size_of_all).table
        for column, width in zip(made.columns, widths, strict=True):
            column.width = Emu(int(width * POINT))
        for r, (row, height) in enumerate(zip(rows, heights, strict=True)):
            made.rows[r].height = Emu(int(height * POINT))
            total = r > 0 and is_total(texts[r][0])
            for c, (cell, runs) in enumerate(zip(made.rows[r].cells, row, strict=True)):
                cell.vertical_anchor = MSO_ANCHOR.MIDDLE
                paragraph = cell.text_frame.paragraphs[0]
                if numbers[c]:
                    paragraph.alignment = PP_ALIGN.RIGHT
                self.fill(paragraph, runs, Pt(size), bold=not r or total)

    def chart(self, slide, data: ChartData, left: Emu, width: Emu) -> None:
        values = CategoryChartData(number_format="#,##0" if any(v and abs(v) >= 1000 for _, s in data.series for v in s) else "General")
        values.categories = data.labels
        for name, numbers in data.series:
            values.add_series(name, numbers)
        chart = slide.shapes.add_chart(CHARTS[data.look.type], left, TOP, width, BODY_HEIGHT, values).chart
        chart.font.size, chart.font.color.rgb = Pt(14), colour(palette.INK)
        chart.has_title = bool(data.look.title)
        if data.look.title:
            chart.chart_title.text_frame.text = data.look.title
            chart.chart_title.text_frame.paragraphs[0].font.size = Pt(18)
        pie = data.look.type == "pie"
        chart.has_legend = pie or len(data.series) > 1
        if chart.has_legend:
            chart.legend.position, chart.legend.include_in_layout = XL_LEGEND_POSITION.BOTTOM, False
        plot = chart.plots[0]
        if pie:
            plot.has_data_labels = True
            plot.data_labels.show_percentage, plot.data_labels.show_value = True, False
            plot.data_labels.number_format, plot.data_labels.number_format_is_linked = "0%", False
            plot.data_labels.font.color.rgb, plot.data_labels.font.bold = colour("FFFFFF"), True
        else:
            chart.value_axis.major_gridlines.format.line.color.rgb = colour(palette.LINE)
            chart.value_axis.format.line.fill.background()
            for axis in (chart.value_axis, chart.category_axis):
                axis.tick_labels.font.size = Pt(12)
            chart.value_axis.tick_labels.number_format, chart.value_axis.tick_labels.number_format_is_linked = values.number_format, False
            for series in plot.series:
                if data.look.type == "line":
                    series.smooth = False

    def slide(self, asked: object, number: int) -> None:
        """One slide as asked for, which may become several."""
        place = f"slide {number}"
        if not isinstance(asked, dict):
            raise DocumentError(f"{place} must be an object {{title, bullets, table, chart, notes}}")
        title = clean_line(asked.get("title"))
        bullets = [b for b in map(read_bullet, items(asked.get("bullets"), f"{place}: bullets")) if b.text]
        rows, data = read_table(asked.get("table"), place), read_chart_data(asked.get("chart"), place)
        texts = [[plain(cell) for cell in row] for row in rows]
        notes = clean(asked.get("notes")).strip()
        if not (title or bullets or rows or data or notes):
            return
        before = len(self.made.slides)
        half = Emu((ROOM - GAP) // 2)
        shared = None
        if bullets and bool(rows) != bool(data) and fit_bullets(bullets, half, BODY_HEIGHT)[0] == [bullets]:
            widths = self.widths(texts, half) if rows else []
            shared = data or (len(texts[0]) <= 4 and len(fit_rows(texts, widths, BODY_HEIGHT)[0]) == 1)
        if shared:
            slide = self.add(TITLE_AND_BODY, title)
            body = slide.placeholders[1]
            body.left, body.top, body.width, body.height = LEFT, TOP, half, BODY_HEIGHT
            self.bullets(body, bullets, fit_bullets(bullets, half, BODY_HEIGHT)[1])
            right = Emu(LEFT + half + GAP)
            if data:
                self.chart(slide, data, right, half)
            else:
                self.table(slide, rows, widths, fit_rows(texts, widths, BODY_HEIGHT)[1], right, _number_columns(texts))
        else:
            self.apart(title, bullets, rows, texts, data)
        if notes:
            self.made.slides[before].notes_slide.notes_text_frame.text = notes

    def apart(self, title: str, bullets: list[Bullet], rows: list, texts: list[list[str]], data: ChartData | None) -> None:
        """Bullets, table and chart each on slides of their own."""
        pages, size = fit_bullets(bullets, ROOM, BODY_HEIGHT) if bullets or not (rows or data) else ([], 0)
        for at, page in enumerate(pages, 1):
            if not page:
                self.add(TITLE_ONLY, title)
                continue
            slide = self.add(TITLE_AND_BODY, f"{title} ({at}/{len(pages)})" if len(pages) > 1 else title)
            self.bullets(slide.placeholders[1], page, size)
        if rows:
            widths = self.widths(texts, ROOM)
            parts, size = fit_rows(texts, widths, BODY_HEIGHT)
            for at, (start, end) in enumerate(parts, 1):
                slide = self.add(TITLE_ONLY, f"{title} ({at}/{len(parts)})" if len(parts) > 1 else title)
                self.table(slide, [rows[0], *rows[start:end]], widths, size, LEFT, _number_columns(texts))
        if data:
            self.chart(self.add(TITLE_ONLY, title), data, LEFT, ROOM)

    def widths(self, texts: list[list[str]], room: Emu) -> list[float]:
        """Column widths of a table in points."""
        columns = range(len(texts[0]))
        wanted = [max(min(max(len(row[c]) for row in texts), 60), 4) * 8.5 + 20 for c in columns]
        least = [min(max(len(word) for row in texts for word in words(row[c])), 25) * 7.5 + 18 for c in columns]
        grown = max(0.7 * room / POINT / sum(wanted), 1)
        return fitted([max(w * grown, short) for w, short in zip(wanted, least, strict=True)], room / POINT, least)


def render_pptx(title: str, slides: list[dict], *, subtitle: str = "") -> bytes:
    """A title slide and the *slides* ({title; bullets, table, chart, notes}) as a presentation. The same input gives the same bytes.

    What does not fit goes on to further slides, "title (2/3)". ``table`` is rows of cells, the first one the header; ``chart`` is
    {type, title, x, y, columns, rows}. Raises DocumentError, with the slide, for what cannot be shown.
    """
    title = clean_line(title) or "Document"
    if not isinstance(slides, list):
        raise DocumentError("slides must be a list of {title, bullets, table, chart, notes}")
    show = _Show(title)
    properties = show.made.core_properties
    properties.title, properties.author, properties.last_modified_by = title[:250], "", ""
    show.cover(title, clean_line(subtitle))
    for number, slide in enumerate(slides, 1):
        show.slide(slide, number)
    target = io.BytesIO()
    show.made.save(target)
    return finished(target.getvalue())
