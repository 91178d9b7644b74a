"""Comments, literals and numbers of C++ and Python: what patterns that split sources into tokens have in common.

For re.VERBOSE, without groups. An unterminated token ends at the end of the text, or of the line. Each repetition takes
whole runs, and nothing after it can fail, so the engine never backtracks: each pattern takes time that is linear in the
text, whatever a student wrote. (Possessive repetitions would express this, but Python before 3.11.5 gets them wrong
around alternatives.) pygments is no substitute: its C++ lexer takes 8 s for a word and 4,000 blank lines.
"""

COMMENT = r"""//(?:[^\\\n]+|\\[\s\S]?)* | /\*(?:[^*]+|\*(?!/))*(?:\*/)?"""
QUOTED = r""" "(?:[^"\\\n]+|\\[\s\S]?)*"? | '(?:[^'\\\n]+|\\[\s\S]?)*'? """
NUMBER = r"""\.?[0-9](?:[eEpP][+-]|'\w|[\w.])*"""
PYTHON_QUOTED = (
    r""" "{3}(?:[^"\\]+|\\[\s\S]?|"(?!""))*(?:"{3})? | '{3}(?:[^'\\]+|\\[\s\S]?|'(?!''))*(?:'{3})? | """ + QUOTED
)
PYTHON_NUMBER = r"""\.?[0-9](?:[eE][+-]|[\w.])*"""
