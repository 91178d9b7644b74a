"""Downloads as learning platforms make them, by their real naming rules: for tests, and to try the grader with.

From the command line, of the sample class:

    python grader/tests/platforms --platform canvas reference/sample_class out/canvas.zip
"""
