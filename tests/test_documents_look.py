"""Every kind of document as LibreOffice shows it, with a picture of its first page for people to look at."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from pypdf import PdfReader

from bot.documents.docx import render_docx
from bot.documents.html import render_html
from bot.documents.pdf import render_pdf
from bot.documents.pptx import render_pptx
from bot.documents.xlsx import render_xlsx

LESSON = (Path(__file__).parent / "data" / "documents" / "lecon.md").read_text()
SALES = [
    {
        "name": "Ventes",
        "columns": ["Date", "Produit", "Quantité", "Prix unitaire (FCFA)", "Montant (FCFA)"],
        "rows": [
            ["2026-01-15", "Riz parfumé, sac de 25 kg", 3, 17500, {"formula": "=C2*D2"}],
            ["2026-02-03", "Huile de palme", 120, 1200, {"formula": "=C3*D3"}],
            ["Total", None, None, None, {"formula": "=SUM(E2:E3)"}],
        ],
        "chart": {"type": "bar", "title": "Montant par produit", "x": "Produit", "y": ["Montant (FCFA)"]},
    }
]
SLIDES = [
    {"title": "Le théorème de Pythagore", "bullets": ["Dans un triangle **rectangle** :", "  - $AB^2 + AC^2 = BC^2$"]},
    {"title": "Ventes", "chart": {"type": "bar", "x": "Mois", "y": ["Ventes"], "columns": ["Mois", "Ventes"], "rows": [["Jan", 12500]]}},
]
MADE = {
    "pdf": lambda: render_pdf("Le théorème de Pythagore", LESSON, author="Mme Koné"),
    "docx": lambda: render_docx("Le théorème de Pythagore", LESSON),
    "html": lambda: render_html("Le théorème de Pythagore", LESSON),
    "xlsx": lambda: render_xlsx("Ventes du trimestre", SALES),
    "pptx": lambda: render_pptx("Exposé", SLIDES, subtitle="Classe de 3e"),
}
EXPECTED = {
    "pdf": ["Pythagore", "Mme Koné", "AB² + AC² = BC²"],
    "docx": ["Pythagore", "AB² + AC² = BC²", "52 500"],
    "html": ["Pythagore", "√"],
    "xlsx": ["15/01/2026", "52,500", "196,500", "Montant par produit"],
    "pptx": ["Exposé", "rectangle", "AB² + AC² = BC²", "Ventes"],
}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> Path:
    """Where the pictures are left: the folder DOCUMENT_PICTURES names, or a temporary one."""
    folder = Path(os.environ.get("DOCUMENT_PICTURES") or tmp_path_factory.mktemp("pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("kind", MADE)
def test_a_document_shows_what_it_holds(kind, tmp_path, pictures):
    """Another program opens it, its formulas are computed, no number is hidden behind ###, and its first page can be drawn."""
    made = tmp_path / f"{kind}.{kind}"
    made.write_bytes(MADE[kind]())
    if kind != "pdf":
        if not shutil.which("soffice"):
            pytest.skip("LibreOffice (soffice) is not installed")
        subprocess.run(
            [
                "soffice",
                f"-env:UserInstallation=file://{tmp_path}/profile",
                "--headless",
                "--convert-to",
                "pdf",
                "--outdir",
                str(tmp_path),
                str(made),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )
    page = tmp_path / f"{kind}.pdf"
    text = "\n".join(p.extract_text() for p in PdfReader(page).pages).replace("\u00a0", " ")
    for piece in EXPECTED[kind]:
        assert piece in text
    assert "###" not in text and "#NAME" not in text and "Err:" not in text
    if not shutil.which("pdftoppm"):
        pytest.skip("pdftoppm is not installed: no picture was made")
    subprocess.run(["pdftoppm", "-r", "80", "-png", "-singlefile", str(page), str(pictures / kind)], check=True, timeout=60)
    assert (pictures / f"{kind}.png").read_bytes().startswith(b"\x89PNG")
