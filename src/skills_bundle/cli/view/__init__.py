"""How results are shown to people: text, tables, reports, progress."""
