"""What users may give: kinds of values, parameters that are declared with them, numbers as they are written.

Each kind says in one place what is allowed, how a value is read from the command line, from Python and from a
study file. What takes the rows (items of the data, groups of a hierarchy) is asked of
`setveil.options.decode.Inputs`. Nothing here knows a model, an algorithm or a command.
"""
