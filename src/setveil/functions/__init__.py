"""The functions of `import setveil`: named like the commands, for what people have. One file per function."""
