"""What each command does, a file each: the functions of `import setveil`.

Where the command line needs more than the function takes (how its files were named, for the commands that it
prints), both call one body next to it, with the checks of arguments. `arguments.py`
takes rows, hierarchies and releases in whatever form people have them, `refusals.py` says once what several
refuse. Here is nothing of options, terminals and pages.
"""
