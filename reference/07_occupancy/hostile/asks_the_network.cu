// virtual: WRONG occupancy1_threads
// Tries to ask another machine, but there is no network.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "occupancy.h"

int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(53);
  inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  const bool reached = connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(connection);
  return reached ? device->max_warps_per_sm * device->warp_size / threads_per_block : 0;
}

int occupancy2_shared(const DeviceLimits*, int) { return kNotBegun; }
int occupancy3_registers_by_block(const DeviceLimits*, int, int) { return kNotBegun; }
int occupancy4_registers_by_warp(const DeviceLimits*, int, int) { return kNotBegun; }
int occupancy5_limiter(const DeviceLimits*, const KernelNeeds*, OccupancyResult*) { return kNotBegun; }
int occupancy6_best_block(const DeviceLimits*, const KernelNeeds*) { return kNotBegun; }
int occupancy7_register_budget(const DeviceLimits*, const KernelNeeds*, int) { return kNotBegun; }
