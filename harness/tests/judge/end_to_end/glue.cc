#include "launchers.h"
#include "worker/launchers.h"

LOCKSTEP_LAUNCHERS(add_one, ends_program, crashes_host, hangs_host, hangs_kernel, launches_forever, floods,
                   prints_fake_results, closes_socket, writes_to_socket, writes_past_end, launches_too_many_threads,
                   copies_to_host, touches_other_memory, leaves_child, copies, copies_ten_times, copies_over_its_input,
                   copies_until_it_ends, sleeps, fills_memory, keeps_heap, uses_the_driver, doubles, ends_at_seven,
                   ends_at_the_eighth_call, launches_at_seven);
