// tvm/runtime/logging.h: CHECK, ICHECK, LOG and the exception that they throw, for callers of TVM's C++ interface.

#ifndef TVM_RUNTIME_LOGGING_H_
#define TVM_RUNTIME_LOGGING_H_

#include <tvm/runtime/c_runtime_api.h>

#include <cstddef>
#include <ctime>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

namespace tvm {
namespace runtime {

/// What a call that failed throws.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

/// The same with the place of a check that failed.
class InternalError : public Error {
 public:
  InternalError(const std::string& file, int line, const std::string& message)
      : Error(file + ":" + std::to_string(line) + ": " + message), file_(file), line_(line), message_(message) {}
  const std::string& file() const { return file_; }
  int lineno() const { return line_; }
  const std::string& message() const { return message_; }

 private:
  std::string file_;
  int line_;
  std::string message_;
};

namespace detail {

/// A text that is thrown at the end of its statement.
class LogFatal {
 public:
  LogFatal(const char* file, int line) : file_(file), line_(line) {}
  LogFatal(const LogFatal&) = delete;
  LogFatal& operator=(const LogFatal&) = delete;
  [[noreturn]] ~LogFatal() noexcept(false) { throw InternalError(file_, line_, stream_.str()); }
  std::ostream& stream() { return stream_; }

 private:
  const char* file_;
  int line_;
  std::ostringstream stream_;
};

/// A text that is printed to stderr at the end of its statement.
class LogMessage {
 public:
  LogMessage(const char* file, int line, const char* level) {
    char hour[16];
    const std::time_t now = std::time(nullptr);
    std::tm local;
    std::strftime(hour, sizeof hour, "%H:%M:%S", localtime_r(&now, &local));
    stream_ << "[" << hour << "] " << file << ":" << line << ": " << level;
  }
  LogMessage(const LogMessage&) = delete;
  LogMessage& operator=(const LogMessage&) = delete;
  ~LogMessage() { std::cerr << stream_.str() + "\n"; }
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

/// Nothing of a text that is not wanted; as weak as a statement.
struct Voidify {
  void operator&(const std::ostream&) {}
};

template <typename X>
void Show(std::ostream& os, const X& x) {
  os << x;
}
inline void Show(std::ostream& os, std::nullptr_t) { os << "nullptr"; }

/// The values of a comparison that failed.
template <typename X, typename Y>
std::unique_ptr<std::string> Compared(const X& x, const Y& y) {
  std::ostringstream os;
  os << " (";
  Show(os, x);
  os << " vs. ";
  Show(os, y);
  os << ") ";
  return std::unique_ptr<std::string>(new std::string(os.str()));
}

// A caller compares what has a size with a literal.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#define LAMINA_TVM_COMPARISON(name, op)                              \
  template <typename X, typename Y>                                  \
  std::unique_ptr<std::string> name(const X& x, const Y& y) {        \
    return x op y ? std::unique_ptr<std::string>() : Compared(x, y); \
  }
LAMINA_TVM_COMPARISON(CheckEQ, ==)
LAMINA_TVM_COMPARISON(CheckNE, !=)
LAMINA_TVM_COMPARISON(CheckLT, <)
LAMINA_TVM_COMPARISON(CheckLE, <=)
LAMINA_TVM_COMPARISON(CheckGT, >)
LAMINA_TVM_COMPARISON(CheckGE, >=)
#undef LAMINA_TVM_COMPARISON
#pragma GCC diagnostic pop

}  // namespace detail
}  // namespace runtime
}  // namespace tvm

#ifndef DMLC_LOGGING_H_
namespace dmlc {
using Error = ::tvm::runtime::Error;
}
#endif

// A check is a loop that throws in its first round: no `else` can be taken for its own.
#define LAMINA_TVM_CHECK(x) \
  while (!(x)) ::tvm::runtime::detail::LogFatal(__FILE__, __LINE__).stream() << "Check failed: (" #x ") is false: "
#define LAMINA_TVM_CHECK_OP(name, op, x, y)                                                 \
  while (std::unique_ptr<std::string> lamina_compared = ::tvm::runtime::detail::name(x, y)) \
  ::tvm::runtime::detail::LogFatal(__FILE__, __LINE__).stream()                             \
      << "Check failed: " #x " " #op " " #y << *lamina_compared << ": "

#define ICHECK(x) LAMINA_TVM_CHECK(x)
#define ICHECK_EQ(x, y) LAMINA_TVM_CHECK_OP(CheckEQ, ==, x, y)
#define ICHECK_NE(x, y) LAMINA_TVM_CHECK_OP(CheckNE, !=, x, y)
#define ICHECK_LT(x, y) LAMINA_TVM_CHECK_OP(CheckLT, <, x, y)
#define ICHECK_LE(x, y) LAMINA_TVM_CHECK_OP(CheckLE, <=, x, y)
#define ICHECK_GT(x, y) LAMINA_TVM_CHECK_OP(CheckGT, >, x, y)
#define ICHECK_GE(x, y) LAMINA_TVM_CHECK_OP(CheckGE, >=, x, y)
#define ICHECK_NOTNULL(x) (LAMINA_TVM_NOT_NULL(x))

#ifndef CHECK
#define CHECK(x) ICHECK(x)
#define CHECK_EQ(x, y) ICHECK_EQ(x, y)
#define CHECK_NE(x, y) ICHECK_NE(x, y)
#define CHECK_LT(x, y) ICHECK_LT(x, y)
#define CHECK_LE(x, y) ICHECK_LE(x, y)
#define CHECK_GT(x, y) ICHECK_GT(x, y)
#define CHECK_GE(x, y) ICHECK_GE(x, y)
#define CHECK_NOTNULL(x) ICHECK_NOTNULL(x)
#endif

#define LAMINA_TVM_NOT_NULL(x)                                                                                    \
  ((x) == nullptr                                                                                                 \
       ? (::tvm::runtime::detail::LogFatal(__FILE__, __LINE__).stream() << "Check failed: (" #x ") is null", (x)) \
       : (x))

#ifndef LOG
#define LOG(level) LAMINA_TVM_LOG_##level
#define LAMINA_TVM_LOG_INFO ::tvm::runtime::detail::LogMessage(__FILE__, __LINE__, "").stream()
#define LAMINA_TVM_LOG_WARNING ::tvm::runtime::detail::LogMessage(__FILE__, __LINE__, "Warning: ").stream()
#define LAMINA_TVM_LOG_ERROR ::tvm::runtime::detail::LogMessage(__FILE__, __LINE__, "Error: ").stream()
#define LAMINA_TVM_LOG_FATAL ::tvm::runtime::detail::LogFatal(__FILE__, __LINE__).stream()
#define LOG_IF(level, condition) !(condition) ? (void)0 : ::tvm::runtime::detail::Voidify() & LOG(level)
#endif

#ifdef NDEBUG
#define DCHECK(x) \
  while (false) CHECK(x)
#else
#define DCHECK(x) CHECK(x)
#endif

/// Throw what TVMGetLastError says where a function of the C interface fails.
#define TVM_CCALL(call) \
  if ((call) != 0) throw ::tvm::runtime::Error(TVMGetLastError())

#endif  // TVM_RUNTIME_LOGGING_H_
