"""Rows of items drawn from what is shared of a release.

`reconstruct.py` draws from rows and the items of tables, `groups.py` from rows in groups; `draws.py` is their
folder. What draws are good for is measured in `utility/`; nothing here sees the original.
"""
