"""What promises cost, as `setveil explore` says it: `text.py` on the terminal, `page.py` in HTML."""
