// tvm/runtime/container/shape_tuple.h: the extents of a tensor.

#ifndef TVM_RUNTIME_CONTAINER_SHAPE_TUPLE_H_
#define TVM_RUNTIME_CONTAINER_SHAPE_TUPLE_H_

#include <tvm/runtime/logging.h>

#include <initializer_list>
#include <ostream>
#include <utility>
#include <vector>

namespace tvm {
namespace runtime {

/// Extents, which do not change.
class ShapeTuple {
 public:
  using index_type = int64_t;

  ShapeTuple() = default;
  ShapeTuple(std::vector<index_type> shape) : shape_(std::move(shape)) {}
  ShapeTuple(std::initializer_list<index_type> shape) : shape_(shape) {}
  template <typename Iterator>
  ShapeTuple(Iterator first, Iterator last) : shape_(first, last) {}

  const index_type* data() const { return shape_.data(); }
  size_t size() const { return shape_.size(); }
  bool empty() const { return shape_.empty(); }
  index_type operator[](size_t n) const { return shape_[n]; }
  index_type at(size_t n) const { return shape_.at(n); }
  index_type front() const { return at(0); }
  index_type back() const { return at(size() - 1); }
  const index_type* begin() const { return data(); }
  const index_type* end() const { return data() + size(); }
  /// The number of elements.
  index_type Product() const {
    index_type product = 1;
    for (index_type extent : shape_) product *= extent;
    return product;
  }
  /// For callers of versions in which a shape is a vector.
  operator std::vector<index_type>() const { return shape_; }
  bool operator==(const ShapeTuple& other) const { return shape_ == other.shape_; }
  bool operator!=(const ShapeTuple& other) const { return shape_ != other.shape_; }

 private:
  std::vector<index_type> shape_;
};

inline std::ostream& operator<<(std::ostream& os, const ShapeTuple& shape) {
  os << '[';
  for (size_t n = 0; n < shape.size(); n++) os << (n ? ", " : "") << shape[n];
  return os << ']';
}

}  // namespace runtime

using ShapeTuple = runtime::ShapeTuple;

}  // namespace tvm

#endif  // TVM_RUNTIME_CONTAINER_SHAPE_TUPLE_H_
