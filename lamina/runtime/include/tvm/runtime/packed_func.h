// tvm/runtime/packed_func.h: functions that are called on values of any kind, and these values.

#ifndef TVM_RUNTIME_PACKED_FUNC_H_
#define TVM_RUNTIME_PACKED_FUNC_H_

#include <tvm/runtime/container/string.h>
#include <tvm/runtime/module.h>
#include <tvm/runtime/ndarray.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace tvm {
namespace runtime {

class TVMArgs;
class TVMRetValue;
template <typename Signature>
class TypedPackedFunc;

/// A function, as a reference.
class PackedFunc {
 public:
  using FType = std::function<void(TVMArgs args, TVMRetValue* rv)>;

  PackedFunc() = default;
  PackedFunc(std::nullptr_t) {}
  /// A function of the caller's. What it throws ends the call, with the same text.
  template <typename F, typename = decltype(std::declval<F&>()(std::declval<TVMArgs>(), std::declval<TVMRetValue*>()))>
  PackedFunc(F body) : PackedFunc(FType(std::move(body)), nullptr) {}
  PackedFunc(const PackedFunc& other) : PackedFunc(Sharing(other.function_)) {}
  PackedFunc(PackedFunc&& other) noexcept { std::swap(function_, other.function_); }
  PackedFunc& operator=(PackedFunc other) noexcept {
    std::swap(function_, other.function_);
    return *this;
  }
  ~PackedFunc() { TVMFuncFree(function_); }

  /// The function behind a handle of the C interface, which has ended its own reference by that.
  static PackedFunc Owning(TVMFunctionHandle handle) {
    PackedFunc function;
    function.function_ = handle;
    return function;
  }

  /// The function behind a handle of the C interface, as one more reference.
  static PackedFunc Sharing(TVMFunctionHandle handle) {
    if (handle) LAMINA_TVM_RETAIN(static_cast<lamina_tvm_function*>(handle));
    return Owning(handle);
  }

  /// Call it. Throws Error for what it does not take, or says.
  template <typename... Args>
  TVMRetValue operator()(Args&&... args) const;
  void CallPacked(TVMArgs args, TVMRetValue* rv) const;

  TVMFunctionHandle get() const { return function_; }
  bool defined() const { return function_ != nullptr; }
  bool operator==(std::nullptr_t) const { return !defined(); }
  bool operator!=(std::nullptr_t) const { return defined(); }

 private:
  PackedFunc(FType body, std::nullptr_t);
  TVMFunctionHandle function_ = nullptr;
};

/// A value, with what it converts to; texts are of classes that know where they are.
class TVMPODValue_ {
 public:
  int type_code() const { return code_; }
  const TVMValue& value() const { return value_; }

  /// Numbers: integers from integers, floats from both.
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  operator T() const {
    return Number<T>(std::is_floating_point<T>());
  }
  operator void*() const {
    if (code_ == kTVMNullptr) return nullptr;
    if (code_ == kTVMArgInt || code_ == kTVMArgFloat || code_ == kTVMStr) Refuse("a pointer");
    return value_.v_handle;
  }
  operator DLTensor*() const {
    if (code_ == kTVMNullptr) return nullptr;
    if (code_ != kTVMDLTensorHandle && code_ != kTVMNDArrayHandle) Refuse("a tensor");
    return static_cast<DLTensor*>(value_.v_handle);
  }
  operator NDArray() const { return NDArray::Sharing(static_cast<DLTensor*>(Handle(kTVMNDArrayHandle, "an array"))); }
  operator Module() const { return Module::Sharing(Handle(kTVMModuleHandle, "a module")); }
  operator PackedFunc() const { return PackedFunc::Sharing(Handle(kTVMPackedFuncHandle, "a function")); }
  template <typename Signature>
  operator TypedPackedFunc<Signature>() const {
    return TypedPackedFunc<Signature>(operator PackedFunc());
  }
  operator DLDevice() const {
    if (code_ != kDLDevice) Refuse("a device");
    return value_.v_device;
  }
  operator DLDataType() const {
    if (code_ != kTVMDataType) Refuse("a type");
    return value_.v_type;
  }
  operator DataType() const { return DataType(operator DLDataType()); }

 protected:
  TVMPODValue_(TVMValue value, int code) : value_(value), code_(code) {}
  [[noreturn]] void Refuse(const char* wanted) const {
    throw Error(std::string("the value is ") + lamina_tvm_kind(code_) + ", not " + wanted);
  }
  TVMValue value_;
  int code_;

 private:
  template <typename T>
  T Number(std::true_type) const {
    if (code_ == kTVMArgInt) return static_cast<T>(value_.v_int64);
    if (code_ != kTVMArgFloat) Refuse("a number");
    return static_cast<T>(value_.v_float64);
  }
  template <typename T>
  T Number(std::false_type) const {
    if (code_ != kTVMArgInt) Refuse("an integer");
    const T number = static_cast<T>(value_.v_int64);
    if (!std::is_same<T, bool>::value && static_cast<int64_t>(number) != value_.v_int64)
      throw Error("the number " + std::to_string(value_.v_int64) + " is too large for its type");
    return number;
  }
  void* Handle(int code, const char* wanted) const {
    if (code_ == kTVMNullptr) return nullptr;
    if (code_ != code) Refuse(wanted);
    return value_.v_handle;
  }
};

/// An argument of a call.
class TVMArgValue : public TVMPODValue_ {
 public:
  TVMArgValue(TVMValue value, int code) : TVMPODValue_(value, code) {}
  operator std::string() const {
    if (code_ == kTVMStr) return value_.v_str;
    if (code_ != kTVMBytes) Refuse("a text");
    const TVMByteArray* bytes = static_cast<const TVMByteArray*>(value_.v_handle);
    return std::string(bytes->data, bytes->size);
  }
  operator String() const { return String(operator std::string()); }
};

/// The arguments of a call.
class TVMArgs {
 public:
  TVMArgs(const TVMValue* values, const int* type_codes, int num_args)
      : values(values), type_codes(type_codes), num_args(num_args) {}
  int size() const { return num_args; }
  TVMArgValue operator[](int n) const {
    if (n < 0 || n >= num_args)
      throw Error("there is no argument " + std::to_string(n) + ": there are " + std::to_string(num_args));
    return TVMArgValue(values[n], type_codes[n]);
  }

  const TVMValue* values;
  const int* type_codes;
  int num_args;
};

/// What a call gives.
class TVMRetValue : public TVMPODValue_ {
 public:
  TVMRetValue() : TVMPODValue_(TVMValue(), kTVMNullptr) {}
  TVMRetValue(const TVMRetValue& other) : TVMRetValue() { Put(other.AsArgument()); }
  TVMRetValue(TVMRetValue&& other) noexcept : TVMRetValue() { Swap(other); }
  TVMRetValue& operator=(TVMRetValue other) noexcept {
    Swap(other);
    return *this;
  }
  ~TVMRetValue() { lamina_tvm_release(&value_, code_); }

  using TVMPODValue_::operator Module;
  operator std::string() const {
    if (code_ != kTVMStr && code_ != kTVMBytes) Refuse("a text");
    const TVMByteArray* bytes = static_cast<const TVMByteArray*>(value_.v_handle);
    return std::string(bytes->data, bytes->size);
  }
  operator String() const { return String(operator std::string()); }

  /// Give it a value: whatever a function can be called on.
  template <typename T,
            typename = typename std::enable_if<!std::is_same<typename std::decay<T>::type, TVMRetValue>::value>::type>
  TVMRetValue& operator=(T&& value);

  /// Hand it over to the place of a result of the C interface.
  void MoveTo(TVMRetValueHandle ret) {
    lamina_tvm_give(ret, value_.v_handle, code_);
    static_cast<lamina_tvm_result*>(ret)->value = value_;
    code_ = kTVMNullptr;
  }

 private:
  friend class PackedFunc;
  struct Argument {
    TVMValue value;
    int code;
  };
  Argument AsArgument() const {
    Argument argument{value_, code_};
    if (code_ == kTVMStr) argument.value.v_str = static_cast<const TVMByteArray*>(value_.v_handle)->data;
    return argument;
  }
  void Put(Argument argument) {
    lamina_tvm_result result{value_, code_};
    TVM_CCALL(TVMCFuncSetReturn(&result, &argument.value, &argument.code, 1));
    value_ = result.value;
    code_ = result.code;
  }
  void Swap(TVMRetValue& other) noexcept {
    std::swap(value_, other.value_);
    std::swap(code_, other.code_);
  }
};

/// Values as arguments: `setter(0, x)`. What they refer to has to last until the call.
class TVMArgsSetter {
 public:
  TVMArgsSetter(TVMValue* values, int* type_codes) : values_(values), codes_(type_codes) {}

  template <typename T, typename std::enable_if<std::is_integral<T>::value, int>::type = 0>
  void operator()(size_t n, T number) const {
    if (std::is_unsigned<T>::value && sizeof(T) == 8 && static_cast<int64_t>(number) < 0)
      throw Error("the number " + std::to_string(number) + " has more than 63 bits");
    values_[n].v_int64 = static_cast<int64_t>(number);
    codes_[n] = kTVMArgInt;
  }
  template <typename T, typename std::enable_if<std::is_enum<T>::value, int>::type = 0>
  void operator()(size_t n, T number) const {
    (*this)(n, static_cast<int64_t>(number));
  }
  void operator()(size_t n, double number) const {
    values_[n].v_float64 = number;
    codes_[n] = kTVMArgFloat;
  }
  void operator()(size_t n, std::nullptr_t) const { Put(n, nullptr, kTVMNullptr); }
  void operator()(size_t n, void* pointer) const { Put(n, pointer, kTVMOpaqueHandle); }
  void operator()(size_t n, DLTensor* tensor) const { Put(n, tensor, kTVMDLTensorHandle); }
  void operator()(size_t n, const NDArray& array) const {
    Put(n, array.get(), array.defined() ? kTVMNDArrayHandle : kTVMNullptr);
  }
  void operator()(size_t n, const Module& module) const {
    Put(n, module.get(), module.defined() ? kTVMModuleHandle : kTVMNullptr);
  }
  void operator()(size_t n, const PackedFunc& function) const {
    Put(n, function.get(), function.defined() ? kTVMPackedFuncHandle : kTVMNullptr);
  }
  template <typename Signature>
  void operator()(size_t n, const TypedPackedFunc<Signature>& function) const {
    (*this)(n, function.packed());
  }
  void operator()(size_t n, DLDevice device) const {
    values_[n].v_device = device;
    codes_[n] = kDLDevice;
  }
  void operator()(size_t n, DLDataType type) const {
    values_[n].v_type = type;
    codes_[n] = kTVMDataType;
  }
  void operator()(size_t n, const DataType& type) const { (*this)(n, static_cast<DLDataType>(type)); }
  void operator()(size_t n, const char* text) const {
    values_[n].v_str = text;
    codes_[n] = kTVMStr;
  }
  void operator()(size_t n, const std::string& text) const { (*this)(n, text.c_str()); }
  void operator()(size_t n, const String& text) const { (*this)(n, text.c_str()); }
  void operator()(size_t n, const TVMByteArray& bytes) const { Put(n, const_cast<TVMByteArray*>(&bytes), kTVMBytes); }
  void operator()(size_t n, const TVMArgValue& value) const {
    values_[n] = value.value();
    codes_[n] = value.type_code();
  }
  void operator()(size_t n, const TVMRetValue& value) const {
    values_[n] = value.value();
    codes_[n] = value.type_code();
    if (codes_[n] == kTVMStr) values_[n].v_str = static_cast<const TVMByteArray*>(value.value().v_handle)->data;
  }

 private:
  void Put(size_t n, void* handle, int code) const {
    values_[n].v_handle = handle;
    codes_[n] = code;
  }
  TVMValue* values_;
  int* codes_;
};

template <typename T, typename>
TVMRetValue& TVMRetValue::operator=(T&& value) {
  Argument argument{TVMValue(), kTVMNullptr};
  TVMArgsSetter(&argument.value, &argument.code)(0, std::forward<T>(value));
  Put(argument);
  return *this;
}

namespace detail {

/// The body of a function of the caller's, as the C interface calls it.
inline int CallBody(TVMValue* values, int* codes, int count, TVMRetValueHandle ret, void* body) {
  try {
    TVMRetValue rv;
    (*static_cast<PackedFunc::FType*>(body))(TVMArgs(values, codes, count), &rv);
    rv.MoveTo(ret);
    return 0;
  } catch (const std::exception& e) {
    TVMAPISetLastError(e.what());
  } catch (...) {
    TVMAPISetLastError("a function threw what is no std::exception");
  }
  return -1;
}

inline void EndBody(void* body) { delete static_cast<PackedFunc::FType*>(body); }

}  // namespace detail

inline PackedFunc::PackedFunc(FType body, std::nullptr_t) {
  FType* kept = new FType(std::move(body));
  if (TVMFuncCreateFromCFunc(detail::CallBody, kept, detail::EndBody, &function_)) {
    delete kept;
    throw Error(TVMGetLastError());
  }
}

inline void PackedFunc::CallPacked(TVMArgs args, TVMRetValue* rv) const {
  lamina_tvm_result result;
  TVM_CCALL(lamina_tvm_call(function_, const_cast<TVMValue*>(args.values), const_cast<int*>(args.type_codes),
                            args.num_args, &result));
  lamina_tvm_release(&rv->value_, rv->code_);
  rv->value_ = result.value;
  rv->code_ = result.code;
}

template <typename... Args>
TVMRetValue PackedFunc::operator()(Args&&... args) const {
  TVMValue values[sizeof...(Args) + 1];
  int codes[sizeof...(Args) + 1];
  const TVMArgsSetter setter(values, codes);
  size_t n = 0;
  const int in_order[] = {0, (setter(n++, args), 0)...};
  (void)in_order, (void)setter, (void)n;
  TVMRetValue result;
  CallPacked(TVMArgs(values, codes, static_cast<int>(sizeof...(Args))), &result);
  return result;
}

inline PackedFunc ModuleNode::GetFunction(const std::string& name, bool query_imports) const {
  TVMFunctionHandle found = nullptr;
  TVM_CCALL(TVMModGetFunction(module_, name.c_str(), query_imports, &found));
  return PackedFunc::Owning(found);
}

inline PackedFunc Module::GetFunction(const std::string& name, bool query_imports) const {
  return node_.GetFunction(name, query_imports);
}

/// A function whose arguments and result have types.
template <typename R, typename... Args>
class TypedPackedFunc<R(Args...)> {
 public:
  TypedPackedFunc() = default;
  TypedPackedFunc(std::nullptr_t) {}
  TypedPackedFunc(PackedFunc packed) : packed_(std::move(packed)) {}
  /// A function of the caller's with such arguments.
  template <typename F, typename = decltype(std::declval<F&>()(std::declval<Args>()...))>
  TypedPackedFunc(F body) : packed_(Packed(std::move(body), std::index_sequence_for<Args...>())) {}

  R operator()(Args... args) const { return Result(std::is_void<R>(), std::forward<Args>(args)...); }
  const PackedFunc& packed() const { return packed_; }
  operator PackedFunc() const { return packed_; }
  bool operator==(std::nullptr_t) const { return packed_ == nullptr; }
  bool operator!=(std::nullptr_t) const { return packed_ != nullptr; }

 private:
  template <typename... Given>
  R Result(std::true_type, Given&&... args) const {
    packed_(std::forward<Given>(args)...);
  }
  template <typename... Given>
  R Result(std::false_type, Given&&... args) const {
    return packed_(std::forward<Given>(args)...);
  }

  template <typename F, size_t... N>
  static PackedFunc Packed(F body, std::index_sequence<N...>) {
    return PackedFunc([body](TVMArgs args, TVMRetValue* rv) mutable {
      if (args.size() != static_cast<int>(sizeof...(Args)))
        throw Error("the function takes " + std::to_string(sizeof...(Args)) + " arguments, not " +
                    std::to_string(args.size()));
      Call(body, args, rv, std::is_void<R>(), std::index_sequence<N...>());
    });
  }
  template <typename F, size_t... N>
  static void Call(F& body, const TVMArgs& args, TVMRetValue*, std::true_type, std::index_sequence<N...>) {
    (void)args;
    body(args[static_cast<int>(N)].operator typename std::decay<Args>::type()...);
  }
  template <typename F, size_t... N>
  static void Call(F& body, const TVMArgs& args, TVMRetValue* rv, std::false_type, std::index_sequence<N...>) {
    (void)args;
    *rv = static_cast<R>(body(args[static_cast<int>(N)].operator typename std::decay<Args>::type()...));
  }
  PackedFunc packed_;
};

}  // namespace runtime

using PackedFunc = runtime::PackedFunc;

}  // namespace tvm

#endif  // TVM_RUNTIME_PACKED_FUNC_H_
