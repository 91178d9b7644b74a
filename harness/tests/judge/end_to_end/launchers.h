// What the submissions here define. All add 1 to each of n ints, or fail to.
#pragma once

void add_one(int* d_data, unsigned n);
void ends_program(int* d_data, unsigned n);
void crashes_host(int* d_data, unsigned n);
void hangs_host(int* d_data, unsigned n);
void hangs_kernel(int* d_data, unsigned n);
void launches_forever(int* d_data, unsigned n);
void floods(int* d_data, unsigned n);
void prints_fake_results(int* d_data, unsigned n);
void closes_socket(int* d_data, unsigned n);
void writes_to_socket(int* d_data, unsigned n);
void writes_past_end(int* d_data, unsigned n);
void launches_too_many_threads(int* d_data, unsigned n);
void copies_to_host(int* d_data, unsigned n);
void touches_other_memory(int* d_data, unsigned n);
void leaves_child(int* d_data, unsigned n);
void sleeps(int* d_data, unsigned n);
void fills_memory(int* d_data, unsigned n);
void keeps_heap(int* d_data, unsigned n);
void uses_the_driver(int* d_data, unsigned n);

// On the host only: they return twice x, except the ones that fail on purpose.
int doubles(int x);
int ends_at_seven(int x);
int ends_at_the_eighth_call(int x);
int launches_at_seven(int x);

// For timed batches: these copy n ints, or fail to at some call.
void copies(const int* d_in, int* d_out, unsigned n);
void copies_ten_times(const int* d_in, int* d_out, unsigned n);
void copies_over_its_input(int* d_in, int* d_out, unsigned n);
void copies_until_it_ends(const int* d_in, int* d_out, unsigned n);
