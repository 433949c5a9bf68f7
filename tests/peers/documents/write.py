"""Documents as other people's programs write them: python write.py FOLDER"""

import datetime
import sys
from pathlib import Path

import docx
import openpyxl
import pptx
from fpdf import FPDF
from odfdo import Document, Paragraph

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"


def word(path):
    document = docx.Document()
    document.add_heading("Tides of Bergen", 1)
    document.add_paragraph("High water at 06:12 & 18:40. 高潮在早上六点。")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table.rows[0].cells, ["Day", "Height"]):
        cell.text = text
    for cell, text in zip(table.rows[1].cells, ["Monday", "1.4 m"]):
        cell.text = text
    document.save(path)


def spreadsheet(path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "潮汐"
    sheet.append(["day", "height", "high"])
    sheet.append([datetime.date(2026, 11, 17), 1.4, True])
    book.create_sheet("Notes").append(["a <note> & more"])
    book.save(path)


def presentation(path):
    slides = pptx.Presentation()
    for title in ["First slide", "第二页"]:
        slide = slides.slides.add_slide(slides.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = f"About {title}"
        slide.notes_slide.notes_text_frame.text = f"Say {title}"
    slides.save(path)


def opendocument(path):
    document = Document("text")
    document.body.clear()
    document.body.append(Paragraph("An open text about 潮汐."))
    document.save(path)


def pdf(path, password=None):
    document = FPDF()
    if Path(FONT).exists():
        document.add_font("sans", fname=FONT)
        document.set_font("sans", size=12)
    else:
        document.set_font("helvetica", size=12)
    for page in ["The tide is high at noon.", "It is low at six."]:
        document.add_page()
        document.multi_cell(0, text=page)
    if password:
        document.set_encryption(owner_password=password, user_password=password)
    document.output(path)


def scanned(path):
    document = FPDF()
    document.add_page()
    document.rect(10, 10, 50, 50, style="F")
    document.output(path)


folder = Path(sys.argv[1])
word(folder / "tides.docx")
spreadsheet(folder / "tides.xlsx")
presentation(folder / "tides.pptx")
opendocument(folder / "tides.odt")
pdf(folder / "tides.pdf")
pdf(folder / "secret.pdf", password="sesame")
scanned(folder / "scanned.pdf")
