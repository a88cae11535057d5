"""The commands, a file each: the functions of `import setveil`.

If the command line needs more than the function returns, both call one body next to it, which checks the
arguments. `arguments.py` accepts rows, hierarchies and releases in any form. Nothing here is about options,
terminals and pages.
"""
