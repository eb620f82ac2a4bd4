// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// Numbers as a vector; what depends on a symbol is computed from the size of that name.

builtin.module attributes {relay.symbols = {n = #relay.symbol<min = 1, max = 64>}} {
  // CHECK:      te.func @fused_extents(%n: index) -> tensor<2xi64> {
  // CHECK-NEXT:   %extents = te.compute "extents" [2] (%i) : tensor<2xi64> attributes {tag = "extents"} {
  // CHECK-NEXT:     %0 = te.index [%n * 2] : index
  // CHECK-NEXT:     %1 = arith.index_cast %0 : index to i64
  // CHECK-NEXT:     %2 = arith.constant 8 : i64
  // CHECK-NEXT:     %3 = te.condition [%i * -1 >= 0] : i1
  // CHECK-NEXT:     %4 = arith.select %3, %1, %2 : i64
  // CHECK-NEXT:     te.yield %4 : i64
  func.func @main(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<2xi64> {
    %0 = relay.extents {values = [n * 2, 8]} : tensor<2xi64>
    func.return %0 : tensor<2xi64>
  }
}
