#include "vgpu/decode/dwarf.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace lockstep::vgpu::dwarf {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r;"), last = text.find_last_not_of(" \t\r;");
  return first == std::string_view::npos ? "" : text.substr(first, last - first + 1);
}

// The section's directives: `.b8 1, 2`, `.b64 $L__tmp1`, `.b32 .debug_loc+133`.
Bytes Assembled(std::string_view text) {
  Bytes bytes;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = Trimmed(line.substr(0, line.find("//")));
    if (!line.starts_with(".b")) continue;
    const size_t blank = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view bits = line.substr(2, blank - 2);
    const size_t width = bits == "8" ? 1 : bits == "16" ? 2 : bits == "32" ? 4 : 8;
    for (std::string_view values = line.substr(blank); !values.empty();) {
      std::string_view value = values.substr(0, values.find(','));
      values.remove_prefix(std::min(values.size(), value.size() + 1));
      value = Trimmed(value);
      if (value.starts_with(".debug_"))
        value = value.find('+') < value.size() ? value.substr(value.find('+') + 1) : "0";
      const bool minus = value.starts_with('-'), hex = value.starts_with("0x");
      uint64_t number = 0;
      const char* const first = value.data() + (minus ? 1 : hex ? 2 : 0);
      const auto [end, error] = std::from_chars(first, value.data() + value.size(), number, hex ? 16 : 10);
      if (error != std::errc() || end != value.data() + value.size()) bytes.symbols.emplace(bytes.data.size(), value);
      if (minus) number = -number;
      for (size_t k = 0; k < width; ++k) bytes.data += static_cast<char>(number >> (8 * k) & 0xff);
    }
  }
  return bytes;
}

struct Form {
  uint64_t attribute, form;
};
struct Abbreviation {
  uint64_t tag = 0;
  bool has_children = false;
  std::vector<Form> forms;
};

Value ReadValue(Reader& reader, uint64_t form, const Bytes& strings, uint64_t unit) {
  Value value;
  const auto block = [&](uint64_t length) {
    value.is_block = true;
    value.block = reader.at();
    value.length = length;
    reader.Skip(length);
  };
  switch (form) {
    case 0x01:  // addr
      value.text = reader.Symbol();
      value.number = reader.Fixed(8);
      break;
    case 0x03:
      block(reader.Fixed(2));
      break;
    case 0x04:
      block(reader.Fixed(4));
      break;
    case 0x09:
    case 0x18:
      block(reader.Uleb());
      break;
    case 0x0a:
      block(reader.Fixed(1));
      break;
    case 0x0b:  // data1, flag
    case 0x0c:
      value.number = reader.Fixed(1);
      break;
    case 0x05:
      value.number = reader.Fixed(2);
      break;
    case 0x06:
    case 0x17:
    case 0x10:
      value.number = reader.Fixed(4);
      break;
    case 0x07:
      value.number = reader.Fixed(8);
      break;
    case 0x08:
      value.text = reader.String();
      break;
    case 0x0e:
      value.text = Reader(strings, reader.Fixed(4)).String();
      break;
    case 0x0d:
    case 0x0f:
      value.number = reader.Uleb();
      break;
    case 0x11:  // references within the unit
    case 0x12:
    case 0x13:
    case 0x14:
      value.number = unit + reader.Fixed(size_t{1} << (form - 0x11));
      break;
    case 0x15:
      value.number = unit + reader.Uleb();
      break;
    case 0x19:  // flag_present
      value.number = 1;
      break;
    default:
      throw std::out_of_range("a form of DWARF that nvcc does not write");
  }
  return value;
}

std::unordered_map<uint64_t, Abbreviation> ReadAbbreviations(const Bytes& bytes, uint64_t at) {
  std::unordered_map<uint64_t, Abbreviation> abbreviations;
  Reader reader(bytes, at);
  while (const uint64_t code = reader.Uleb()) {
    Abbreviation& abbreviation = abbreviations[code];
    abbreviation.tag = reader.Uleb();
    abbreviation.has_children = reader.Fixed(1) != 0;
    for (;;) {
      const uint64_t attribute = reader.Uleb(), form = reader.Uleb();
      if (attribute == 0 && form == 0) break;
      abbreviation.forms.push_back({attribute, form});
    }
  }
  return abbreviations;
}

std::string_view SectionText(const ptx::DebugSections& sections, std::string_view name) {
  const auto found = sections.find(name);
  return found == sections.end() ? std::string_view() : found->second;
}

}  // namespace

Unit::Unit(const ptx::DebugSections& sections)
    : info(Assembled(SectionText(sections, "debug_info"))), locations(Assembled(SectionText(sections, "debug_loc"))) {
  const Bytes abbreviation_bytes = Assembled(SectionText(sections, "debug_abbrev"));
  const Bytes strings = Assembled(SectionText(sections, "debug_str"));
  for (Reader reader(info, 0); !reader.AtEnd();) {
    const uint64_t unit = reader.at();
    const uint64_t end = unit + 4 + reader.Fixed(4);
    const uint64_t version = reader.Fixed(2);
    const auto abbreviations = ReadAbbreviations(abbreviation_bytes, reader.Fixed(4));
    if (version < 2 || version > 4 || reader.Fixed(1) != 8) throw std::out_of_range("another DWARF");
    for (int depth = 0; reader.at() < end && !reader.AtEnd();) {
      const uint64_t offset = reader.at(), code = reader.Uleb();
      if (code == 0) {
        --depth;
        continue;
      }
      const Abbreviation& abbreviation = abbreviations.at(code);
      Entry entry;
      entry.tag = abbreviation.tag;
      entry.depth = depth;
      for (const Form& form : abbreviation.forms) {
        entry.attributes[form.attribute] = ReadValue(reader, form.form, strings, unit);
      }
      index[offset] = entries.size();
      entries.push_back(std::move(entry));
      depth += abbreviation.has_children ? 1 : 0;
    }
  }
}

}  // namespace lockstep::vgpu::dwarf
