"""Which release loses least, as `setveil recommend` says it: `text.py` on the terminal, `page.py` in HTML."""
