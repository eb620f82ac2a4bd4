// tvm/runtime/data_type.h: the type of an element.

#ifndef TVM_RUNTIME_DATA_TYPE_H_
#define TVM_RUNTIME_DATA_TYPE_H_

#include <tvm/runtime/logging.h>

#include <cstdlib>
#include <ostream>
#include <string>

namespace tvm {
namespace runtime {

/// The name of a type: float32, int8x4, bool.
inline std::string DLDataType2String(DLDataType t) {
  if (t.bits == 0) return "";
  if (t.lanes == 1 && (t.code == kDLBool || (t.code == kDLUInt && t.bits == 1))) return "bool";
  static const char* const kinds[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  ICHECK_LT(t.code, sizeof kinds / sizeof *kinds) << "no type has this code";
  const std::string name = t.code == kDLOpaqueHandle ? kinds[3] : kinds[t.code] + std::to_string(t.bits);
  return t.lanes == 1 ? name : name + "x" + std::to_string(t.lanes);
}

/// The type of a name.
inline DLDataType String2DLDataType(const std::string& name) {
  static const struct {
    const char* name;
    uint8_t code, bits;
  } kinds[] = {{"int", kDLInt, 32},       {"uint", kDLUInt, 32},
               {"float", kDLFloat, 32},   {"handle", kDLOpaqueHandle, 64},
               {"bfloat", kDLBfloat, 16}, {"bool", kDLBool, 8}};
  for (const auto& kind : kinds) {
    const std::string begin(kind.name);
    if (name.compare(0, begin.size(), begin)) continue;
    const char* at = name.c_str() + begin.size();
    char* end;
    const unsigned long bits = std::strtoul(at, &end, 10);
    DLDataType t{kind.code, end == at ? kind.bits : static_cast<uint8_t>(bits), 1};
    const char* lanes = *end == 'x' ? end + 1 : end;
    if (lanes != end) t.lanes = static_cast<uint16_t>(std::strtoul(lanes, &end, 10));
    if (*end == 0 && t.lanes && (end != lanes || *lanes == 0)) return t;
  }
  LOG(FATAL) << "there is no type '" << name << "'";
}

/// Whether a type is of this kind.
inline bool TypeMatch(DLDataType t, int code, int bits, int lanes = 1) {
  return t.code == code && t.bits == bits && t.lanes == lanes;
}

class DataType {
 public:
  enum TypeCode { kInt = kDLInt, kUInt = kDLUInt, kFloat = kDLFloat, kHandle = kDLOpaqueHandle, kBFloat = kDLBfloat };

  DataType() : type_{kDLOpaqueHandle, 0, 0} {}
  explicit DataType(DLDataType type) : type_(type) {}
  DataType(int code, int bits, int lanes)
      : type_{static_cast<uint8_t>(code), static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)} {}

  int code() const { return type_.code; }
  int bits() const { return type_.bits; }
  int bytes() const { return (bits() + 7) / 8; }
  int lanes() const { return type_.lanes; }
  bool is_scalar() const { return lanes() == 1; }
  bool is_bool() const { return code() == kDLBool || (code() == kUInt && bits() == 1); }
  bool is_float() const { return code() == kFloat; }
  bool is_float16() const { return is_float() && bits() == 16; }
  bool is_bfloat16() const { return code() == kBFloat && bits() == 16; }
  bool is_int() const { return code() == kInt; }
  bool is_uint() const { return code() == kUInt; }
  bool is_vector() const { return lanes() > 1; }
  DataType with_bits(int bits) const { return DataType(code(), bits, lanes()); }
  DataType with_lanes(int lanes) const { return DataType(code(), bits(), lanes); }
  DataType element_of() const { return with_lanes(1); }
  bool operator==(const DataType& other) const {
    return code() == other.code() && bits() == other.bits() && lanes() == other.lanes();
  }
  bool operator!=(const DataType& other) const { return !(*this == other); }
  operator DLDataType() const { return type_; }

  static DataType Int(int bits, int lanes = 1) { return DataType(kInt, bits, lanes); }
  static DataType UInt(int bits, int lanes = 1) { return DataType(kUInt, bits, lanes); }
  static DataType Float(int bits, int lanes = 1) { return DataType(kFloat, bits, lanes); }
  static DataType BFloat(int bits, int lanes = 1) { return DataType(kBFloat, bits, lanes); }
  /// A truth value as nets have it: a byte of DLPack's own type.
  static DataType Bool(int lanes = 1) { return DataType(kDLBool, 8, lanes); }

 private:
  DLDataType type_;
};

inline std::ostream& operator<<(std::ostream& os, DLDataType t) { return os << DLDataType2String(t); }
inline std::ostream& operator<<(std::ostream& os, const DataType& t) { return os << DLDataType2String(t); }

}  // namespace runtime

using DataType = runtime::DataType;

}  // namespace tvm

#endif  // TVM_RUNTIME_DATA_TYPE_H_
