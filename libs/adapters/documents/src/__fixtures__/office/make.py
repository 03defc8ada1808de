"""Creates the Office documents in this folder. Its libraries are not those that read them:
python-docx 1.1.2, openpyxl 3.1.5, python-pptx 1.0.2 (pip install python-docx==1.1.2 openpyxl==3.1.5 python-pptx==1.0.2)."""
from datetime import datetime
from docx import Document
from docx.oxml.ns import qn
from docx.oxml import OxmlElement
from docx.shared import Pt, RGBColor
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches, Pt as SlidePt

d = Document()
d.core_properties.title = 'Lighthouses of Merrow'
d.add_heading('Lighthouses of Merrow', 0)
d.add_paragraph('The islands of Merrow have three lighthouses & one foghorn.')
d.add_heading('Gannet Rock', 1)
p = d.add_paragraph('The lamp of Gannet Rock was lit in ')
p.add_run('1871').bold = True
p.add_run(' by Isolde Fenwick.')
d.add_heading('Keepers', 2)
d.add_paragraph('Isolde Fenwick', style='List Bullet')
d.add_paragraph('Tobias Marsh', style='List Bullet')
d.add_heading('Heights', 1)
t = d.add_table(rows=1, cols=2)
t.rows[0].cells[0].text, t.rows[0].cells[1].text = 'Tower', 'Metres'
for name, metres in (('Gannet Rock', '41'), ('Seal Point', '27')):
    cells = t.add_row().cells
    cells[0].text, cells[1].text = name, metres
p = d.add_paragraph('Seen. ')
p.add_run('VANISHED').font.hidden = True
p.add_run('TINY').font.size = Pt(1)
p.add_run('WHITE').font.color.rgb = RGBColor(255, 255, 255)
p = d.add_paragraph('Kept ')
deleted = OxmlElement('w:del')
run = OxmlElement('w:r')
text = OxmlElement('w:delText')
text.text = 'DELETED'
run.append(text)
deleted.append(run)
p._p.append(deleted)
inserted = OxmlElement('w:ins')
run = OxmlElement('w:r')
text = OxmlElement('w:t')
text.text = 'inserted'
run.append(text)
inserted.append(run)
p._p.append(inserted)
d.save('lighthouses.docx')

b = Workbook()
s = b.active
s.title = 'Ferries'
s.append(['Ferry', 'Harbour', 'Launched', 'Seats', 'Full', 'Runs'])
s.append(['Kittiwake', 'Port Aldous', datetime(1998, 5, 14), 240, 0.625, True])
s.append(['Razorbill', 'Skerry Bay', datetime(2011, 9, 2, 6, 30), 180, 0.9, False])
s.append(['HIDDENROW', 'x', None, 1, None, None])
for row in (2, 3):
    s.cell(row, 3).number_format = 'yyyy-mm-dd hh:mm'
    s.cell(row, 5).number_format = '0.0%'
s['H2'] = 'HIDDENCOLUMN'
s['A6'] = 'INVISIBLE'
s['A6'].number_format = ';;;'
s['A7'] = 'Total'
s['D7'] = '=SUM(D2:D3)'
s.column_dimensions['H'].hidden = True
s.row_dimensions[4].hidden = True
tides = b.create_sheet('Tides')
tides.append(['Day', 'High water'])
for day in range(1, 101):
    tides.append([f'Day {day}', f'{day % 12}:15'])
secret = b.create_sheet('Secret')
secret['A1'] = 'HIDDENSHEET'
secret.sheet_state = 'hidden'
deep = b.create_sheet('Deeper')
deep['A1'] = 'VERYHIDDENSHEET'
deep.sheet_state = 'veryHidden'
b.properties.title = 'Ferries of Merrow'
b.save('ferries.xlsx')

show = Presentation()
show.core_properties.title = 'The Merrow Museum'
slide = show.slides.add_slide(show.slide_layouts[0])
slide.shapes.title.text = 'The Merrow Museum'
slide.placeholders[1].text = 'Founded in the old customs house'
slide = show.slides.add_slide(show.slide_layouts[1])
slide.shapes.title.text = 'The collection'
body = slide.placeholders[1].text_frame
body.text = 'The brass astrolabe was given by Leontine Vasse'
point = body.add_paragraph()
point.text = 'It was made in 1644'
point.level = 1
table = slide.shapes.add_table(2, 2, Inches(1), Inches(4), Inches(4), Inches(1)).table
table.cell(0, 0).text, table.cell(0, 1).text = 'Object', 'Room'
table.cell(1, 0).text, table.cell(1, 1).text = 'Astrolabe', 'Blue room'
slide.notes_slide.notes_text_frame.text = 'Mention the theft of 1932.'
box = slide.shapes.add_textbox(Inches(-30), Inches(1), Inches(2), Inches(1))
box.text_frame.text = 'OFFSLIDE'
box = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(2), Inches(1))
box.text_frame.text = 'HIDDENSHAPE'
box._element.nvSpPr.cNvPr.set('hidden', '1')
box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(2), Inches(1))
run = box.text_frame.paragraphs[0].add_run()
run.text = 'TINY'
run.font.size = SlidePt(1)
slide = show.slides.add_slide(show.slide_layouts[1])
slide.shapes.title.text = 'HIDDENSLIDE'
slide._element.set('show', '0')
slide = show.slides.add_slide(show.slide_layouts[6])
slide.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1)).text_frame.text = 'Open from May to October.'
show.save('museum.pptx')
