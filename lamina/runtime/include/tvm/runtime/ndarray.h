// tvm/runtime/ndarray.h: arrays, which hold their memory for as long as one refers to it.

#ifndef TVM_RUNTIME_NDARRAY_H_
#define TVM_RUNTIME_NDARRAY_H_

#include <tvm/runtime/container/shape_tuple.h>
#include <tvm/runtime/data_type.h>

#include <cstddef>
#include <utility>

namespace tvm {

using Device = DLDevice;

namespace runtime {

using Device = DLDevice;

/// The bytes of a tensor.
inline size_t GetDataSize(const DLTensor& t) { return lamina_tvm_bytes(t.ndim, t.shape, t.dtype); }

/// Whether the elements of a tensor lie one behind the other in order.
inline bool IsContiguous(const DLTensor& t) { return lamina_tvm_is_compact(&t) != 0; }

class NDArray {
 public:
  NDArray() = default;
  NDArray(const NDArray& other) : NDArray(other.array_, Kept()) {}
  NDArray(NDArray&& other) noexcept : array_(other.array_) { other.array_ = nullptr; }
  NDArray& operator=(NDArray other) noexcept {
    std::swap(array_, other.array_);
    return *this;
  }
  ~NDArray() { TVMArrayFree(array_); }

  /// An array of zeros.
  static NDArray Empty(const ShapeTuple& shape, DLDataType dtype, Device dev) {
    DLTensor* made = nullptr;
    TVM_CCALL(TVMArrayAlloc(shape.data(), static_cast<int>(shape.size()), dtype.code, dtype.bits, dtype.lanes,
                            dev.device_type, dev.device_id, &made));
    return Owning(made);
  }

  /// An array of the memory of a tensor, which frees it in the end.
  static NDArray FromDLPack(DLManagedTensor* tensor) {
    DLTensor* made = nullptr;
    TVM_CCALL(TVMArrayFromDLPack(tensor, &made));
    return Owning(made);
  }

  /// The array behind a handle of the C interface, which has ended its own reference by that.
  static NDArray Owning(DLTensor* handle) {
    NDArray array;
    array.array_ = handle;
    return array;
  }

  /// The array behind a handle of the C interface, as one more reference.
  static NDArray Sharing(DLTensor* handle) { return NDArray(handle, Kept()); }

  const DLTensor* operator->() const { return array_; }
  const DLTensor& operator*() const { return *array_; }
  DLTensor* get() const { return array_; }
  bool defined() const { return array_ != nullptr; }
  bool operator==(std::nullptr_t) const { return !defined(); }
  bool operator!=(std::nullptr_t) const { return defined(); }
  bool same_as(const NDArray& other) const { return array_ == other.array_; }
  int use_count() const {
    return array_ ? __atomic_load_n(&reinterpret_cast<lamina_tvm_array*>(array_)->references, __ATOMIC_RELAXED) : 0;
  }

  ShapeTuple Shape() const { return ShapeTuple(array_->shape, array_->shape + array_->ndim); }
  runtime::DataType DataType() const { return runtime::DataType(array_->dtype); }
  bool IsContiguous() const { return runtime::IsContiguous(*array_); }

  void CopyFrom(const DLTensor* from) { TVM_CCALL(TVMArrayCopyFromTo(const_cast<DLTensor*>(from), array_, nullptr)); }
  void CopyFrom(const NDArray& from) { CopyFrom(from.array_); }
  void CopyFromBytes(const void* data, size_t nbytes) {
    TVM_CCALL(TVMArrayCopyFromBytes(array_, const_cast<void*>(data), nbytes));
  }
  void CopyTo(DLTensor* to) const { TVM_CCALL(TVMArrayCopyFromTo(array_, to, nullptr)); }
  void CopyTo(const NDArray& to) const { CopyTo(to.array_); }
  NDArray CopyTo(const Device& dev) const {
    NDArray copy = Empty(Shape(), array_->dtype, dev);
    CopyTo(copy);
    return copy;
  }
  void CopyToBytes(void* data, size_t nbytes) const { TVM_CCALL(TVMArrayCopyToBytes(array_, data, nbytes)); }

  /// The same memory with other extents or another type.
  NDArray CreateView(const ShapeTuple& shape, DLDataType dtype) const {
    DLTensor* made = nullptr;
    TVM_CCALL(lamina_tvm_view(array_, shape.data(), static_cast<int>(shape.size()), dtype, &made));
    return Owning(made);
  }

  DLManagedTensor* ToDLPack() const {
    DLManagedTensor* tensor = nullptr;
    TVM_CCALL(TVMArrayToDLPack(array_, &tensor));
    return tensor;
  }

 private:
  struct Kept {};
  NDArray(DLTensor* array, Kept) : array_(array) {
    if (array_) LAMINA_TVM_RETAIN(reinterpret_cast<lamina_tvm_array*>(array_));
  }
  DLTensor* array_ = nullptr;
};

}  // namespace runtime

using NDArray = runtime::NDArray;

}  // namespace tvm

#endif  // TVM_RUNTIME_NDARRAY_H_
