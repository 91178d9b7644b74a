# Writes OUTPUT: the text of INPUT as a C++ string, in which the text of PART replaces a comment with PART's name.
file(READ ${INPUT} text)
file(READ ${PART} part)
get_filename_component(name ${PART} NAME)
string(REPLACE "/* ${name} */" "${part}" text "${text}")
file(WRITE ${OUTPUT} "R\"page(${text})page\"\n")
