// What the judge may call in a submission of assignment 09.
#include "streams.h"
#include "worker/launchers.h"

LOCKSTEP_LAUNCHERS(streams1_pinned, streams2_chunks, streams3_one_engine, streams4_events);
