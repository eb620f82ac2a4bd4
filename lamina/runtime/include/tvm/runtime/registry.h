// tvm/runtime/registry.h: functions by names of the whole process, and nets that are linked into the program.

#ifndef TVM_RUNTIME_REGISTRY_H_
#define TVM_RUNTIME_REGISTRY_H_

#include <tvm/runtime/packed_func.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tvm {
namespace runtime {

namespace detail {

/// The signature of a function or a lambda.
template <typename F>
struct SignatureOf : SignatureOf<decltype(&F::operator())> {};
template <typename R, typename... Args>
struct SignatureOf<R (*)(Args...)> {
  using type = R(Args...);
};
template <typename C, typename R, typename... Args>
struct SignatureOf<R (C::*)(Args...)> : SignatureOf<R (*)(Args...)> {};
template <typename C, typename R, typename... Args>
struct SignatureOf<R (C::*)(Args...) const> : SignatureOf<R (*)(Args...)> {};

}  // namespace detail

class Registry {
 public:
  /// The function of a name, which stays where it is; null where there is none.
  static const PackedFunc* Get(const std::string& name) {
    TVMFunctionHandle found = nullptr;
    TVM_CCALL(TVMFuncGetGlobal(name.c_str(), &found));
    PackedFunc function = PackedFunc::Owning(found);
    if (function == nullptr) return nullptr;
    // Behind a pointer that callers may keep.
    static std::mutex lock;
    static std::map<std::string, PackedFunc> known;
    const std::lock_guard<std::mutex> held(lock);
    PackedFunc& kept = known[name];
    if (kept.get() != function.get()) kept = std::move(function);
    return &kept;
  }

  /// The place of a name: `Registry::Register("name").set_body(...)`. Throws Error where it is taken.
  static Registry Register(const std::string& name, bool can_override = false) { return Registry(name, can_override); }

  /// Whether there was a function of this name, which is gone then.
  static bool Remove(const std::string& name) {
    const bool known = Get(name) != nullptr;
    TVM_CCALL(TVMFuncRemoveGlobal(name.c_str()));
    return known;
  }

  static std::vector<std::string> ListNames() {
    int count = 0;
    const char** names = nullptr;
    TVM_CCALL(TVMFuncListGlobalNames(&count, &names));
    return std::vector<std::string>(names, names + count);
  }

  Registry& set_body(const PackedFunc& function) {
    TVM_CCALL(TVMFuncRegisterGlobal(name_.c_str(), function.get(), can_override_));
    return *this;
  }
  template <typename Signature, typename F>
  Registry& set_body_typed(F body) {
    return set_body(TypedPackedFunc<Signature>(std::move(body)).packed());
  }
  /// The signature is that of the function or the lambda.
  template <typename F>
  Registry& set_body_typed(F body) {
    return set_body(TypedPackedFunc<typename detail::SignatureOf<F>::type>(std::move(body)).packed());
  }

 private:
  Registry(const std::string& name, bool can_override) : name_(name), can_override_(can_override) {}
  std::string name_;
  bool can_override_;
};

#define LAMINA_TVM_JOIN(a, b) a##b
#define LAMINA_TVM_UNIQUE(a, b) LAMINA_TVM_JOIN(a, b)
#define TVM_REGISTER_GLOBAL(name)                                                  \
  static __attribute__((unused)) const ::tvm::runtime::Registry LAMINA_TVM_UNIQUE( \
      lamina_tvm_registered, __COUNTER__) = ::tvm::runtime::Registry::Register(name)

}  // namespace runtime
}  // namespace tvm

#endif  // TVM_RUNTIME_REGISTRY_H_
