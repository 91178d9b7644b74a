// Structs of random members, with padding if the members' alignment requires it: padding is copied with its struct
// although nothing has written it, which the check for uninitialised reads must not report.
#include <algorithm>

#include "dev/cosim/cuda/declarations.h"

namespace lockstep::cosim::cuda {
namespace {

// Member offsets by the Itanium C++ ABI.
class Layout {
 public:
  void Add(const Field& field, const Record* record) {
    const int align = record != nullptr ? record->align : Width(field.type) / 8;
    align_ = std::max(align_, align);
    if (field.bits > 0) {
      const int width = Width(field.type);
      if (bits_ / width != (bits_ + field.bits - 1) / width) bits_ += width - bits_ % width;
      bits_ += field.bits;
      return;
    }
    const int end = (bits_ + 7) / 8, start = (end + align - 1) / align * align;
    const int size = record != nullptr ? record->size : Width(field.type) / 8 * std::max(1, field.count);
    bits_ = 8 * (start + size);
  }
  void End(Record* record) const {
    const int end = (bits_ + 7) / 8;
    record->align = align_;
    record->size = (end + align_ - 1) / align_ * align_;
  }

 private:
  int bits_ = 0, align_ = 1;
};

}  // namespace

// CUDA's own records.
void Declarations::VectorTypes() {
  static const struct {
    const char* name;
    Type type;
    int count;
  } kinds[] = {{"int2", I32, 2},    {"uint4", U32, 4},     {"float4", F32, 4},  {"float3", F32, 3},
               {"uchar4", U8, 4},   {"short2", I16, 2},    {"double2", F64, 2}, {"char3", I8, 3},
               {"ushort4", U16, 4}, {"ulonglong2", U64, 2}};
  const int first = random_.Pick(10);
  for (int k = 0; k < 4; ++k) {
    const auto& kind = kinds[(first + 3 * k) % 10];
    Record record{kind.name, std::string(kind.name) + "{", {}};
    for (int field = 0; field < kind.count; ++field)
      record.fields.push_back({std::string(1, "xyzw"[field]), kind.type});
    record.align = kind.count == 3 ? Width(kind.type) / 8 : std::min(16, kind.count * Width(kind.type) / 8);
    record.size = kind.count * Width(kind.type) / 8;
    records_.push_back(record);
  }
}

void Declarations::RecordType() {
  Record record;
  record.name = New("R");
  record.make = "Make" + record.name + "(";
  const int given = static_cast<int>(records_.size());
  const bool bits = random_.OneIn(3);
  for (int count = 2 + random_.Pick(5), k = 0; k < count; ++k) {
    Field field{New("m"), AnyType()};
    const int kind = random_.Pick(6);
    if (kind == 0) {
      field.count = 2 << random_.Pick(3);
    } else if (kind == 1) {
      field.record = random_.Pick(given);
    } else if (bits && !Floating(field.type) && Width(field.type) < 128) {
      field.bits = 1 + random_.Pick(Width(field.type) - 1);
    }
    record.fields.push_back(field);
  }
  Line("struct " + record.name + " {");
  std::string parameters, assignments;
  Layout layout;
  for (const Field& field : record.fields) {
    layout.Add(field, field.record < 0 ? nullptr : &records_[static_cast<size_t>(field.record)]);
    const std::string type = field.record >= 0 ? records_[static_cast<size_t>(field.record)].name : Name(field.type);
    Line("  " + type + " " + field.name + (field.count > 0 ? "[" + std::to_string(field.count) + "]" : "") +
         (field.bits > 0 ? " : " + std::to_string(field.bits) : "") + ";");
    if (field.count > 0) {
      assignments += Format("for (int k = 0; k < %d; ++k) made.%s[k] = %s(k * %d + 1); ", field.count,
                            field.name.c_str(), Name(field.type), random_.Pick(50));
    } else {
      parameters += (parameters.empty() ? "" : ", ") + type + " " + field.name;
      assignments += "made." + field.name + " = " + field.name + "; ";
    }
  }
  layout.End(&record);
  Line("};");
  Line(Format("static_assert(sizeof(%s) == %d);", record.name.c_str(), record.size));
  Line("HD " + Qualifiers() + record.name + " " + record.make + parameters + ") { " + record.name + " made; " +
       assignments + "return made; }");
  records_.push_back(record);
}

}  // namespace lockstep::cosim::cuda
