// tvm/runtime/container/string.h: a text.

#ifndef TVM_RUNTIME_CONTAINER_STRING_H_
#define TVM_RUNTIME_CONTAINER_STRING_H_

#include <tvm/runtime/logging.h>

#include <ostream>
#include <string>
#include <utility>

namespace tvm {
namespace runtime {

class String {
 public:
  String() = default;
  String(const char* text) : text_(text) {}
  String(std::string text) : text_(std::move(text)) {}

  const char* data() const { return text_.data(); }
  const char* c_str() const { return text_.c_str(); }
  size_t size() const { return text_.size(); }
  size_t length() const { return text_.size(); }
  bool empty() const { return text_.empty(); }
  char at(size_t n) const { return text_.at(n); }
  int compare(const String& other) const { return text_.compare(other.text_); }
  operator std::string() const { return text_; }
  /// Whether an argument of a function is a text.
  template <typename Value>
  static bool CanConvertFrom(const Value& value) {
    return value.type_code() == kTVMStr;
  }

 private:
  std::string text_;
};

inline bool operator==(const String& a, const String& b) { return a.compare(b) == 0; }
inline bool operator!=(const String& a, const String& b) { return a.compare(b) != 0; }
inline bool operator<(const String& a, const String& b) { return a.compare(b) < 0; }
inline std::string operator+(const String& a, const String& b) { return std::string(a) + std::string(b); }
inline std::ostream& operator<<(std::ostream& os, const String& text) { return os << std::string(text); }

}  // namespace runtime

using String = runtime::String;

}  // namespace tvm

#endif  // TVM_RUNTIME_CONTAINER_STRING_H_
