# Writes OUTPUT: the text of INPUT as a C++ string.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "R\"page(${text})page\"\n")
