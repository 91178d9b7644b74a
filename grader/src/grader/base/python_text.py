"""Python's string literals, for patterns that split sources into tokens."""

# For re.VERBOSE. Literals that nothing ends go up to the end of the text, or of the line. What is inside is taken in
# runs, so that no text takes longer than its length.
STRING = r"""
    "{3}(?:[^"\\]+|\\[\s\S]?|"(?!""))*(?:"{3})? | '{3}(?:[^'\\]+|\\[\s\S]?|'(?!''))*(?:'{3})?
  | "(?:[^"\\\n]+|\\[\s\S]?)*"? | '(?:[^'\\\n]+|\\[\s\S]?)*'?
"""
