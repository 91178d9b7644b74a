// Known but unsupported opcodes of PTX ISA 9.0: a kernel that executes one stops with the reason.
#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {
namespace {

constexpr std::string_view kGroups =
    "tensor cores of compute capability 9.0a and later (wgmma, tcgen05) are not supported";
constexpr std::string_view kSparse = "sparse matrices are not supported";
constexpr std::string_view kUnaligned = "of the matrix instructions only those with .sync.aligned are supported";
constexpr std::string_view kTypes = "querying what a handle refers to is not supported";
constexpr std::string_view kFormatted = "of accesses to surfaces only the unformatted ones (.b) are supported";
constexpr std::string_view kReductions = "reductions on surfaces are not supported";
constexpr std::string_view kBulk = "tensor maps changed by a kernel, and bulk stores of zeros, are not supported";
constexpr std::string_view kMulticast = "multicast memory is not supported";
constexpr std::string_view kRegisters = "moving registers between warps is not supported";
constexpr std::string_view kAsyncStores = "asynchronous stores and reductions are not supported";
constexpr std::string_view kCancel = "cancelling the launch of clusters is not supported";

constexpr Opcode Refused(std::string_view name, std::string_view why) {
  return {.name = name, .form = "", .select = nullptr, .refusal = why};
}

LOCKSTEP_OPCODES(refused, {
                              Refused("mma", kUnaligned),
                              Refused("mma.sp", kSparse),
                              Refused("mma.sp::ordered_metadata", kSparse),
                              Refused("wmma", kUnaligned),
                              Refused("wgmma", kGroups),
                              Refused("tcgen05", kGroups),
                              Refused("ldmatrix", kUnaligned),
                              Refused("stmatrix", kUnaligned),
                              Refused("movmatrix", kUnaligned),
                              Refused("txq", kTypes),
                              Refused("istypep", kTypes),
                              Refused("suld", kFormatted),
                              Refused("sust", kFormatted),
                              Refused("sured", kReductions),
                              Refused("suq", kTypes),
                              Refused("st.bulk", kBulk),
                              Refused("tensormap", kBulk),
                              Refused("multimem", kMulticast),
                              Refused("setmaxnreg", kRegisters),
                              Refused("red.async", kAsyncStores),
                              Refused("clusterlaunchcontrol", kCancel),
                          });

}  // namespace
}  // namespace lockstep::vgpu
