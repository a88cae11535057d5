"""Values that users give: kinds of values, parameters declared with them, numbers as written.

Each kind says in one place what is allowed, and how the command line, Python and study files are read. Values
that depend on the rows are read by `setveil.runs.options.decode.Inputs`. Nothing here knows a model, an
algorithm or a command.
"""
