"""Values that users give: kinds of values, parameters declared with them, numbers as written."""
