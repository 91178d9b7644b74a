# Writes OUTPUT: the text of INPUT, with PART in the place of its name, as a C++ string.
file(READ ${INPUT} text)
file(READ ${PART} part)
get_filename_component(name ${PART} NAME)
string(REPLACE "/* ${name} */" "${part}" text "${text}")
file(WRITE ${OUTPUT} "R\"page(${text})page\"\n")
