// RUN: opt-tool %s --print-op-generic | filecheck %s
// RUN: opt-tool %s --verify-roundtrip | filecheck %s --check-prefix=CHECK-CUSTOM
// MLIR takes the `>` of `>=` for the end of an attribute: the generic text spells it `ge`, and both are read.

// CHECK: guard = #te.set<(d0) -> (d0 - 1 ge 0, d0 * -1 + 6 ge 0)>
// CHECK-CUSTOM: where [%i - 1 >= 0, %i * -1 + 6 >= 0]
// CHECK-CUSTOM: guard = #te.set<(d0) -> (d0 ge 0, d0 == 0)>
te.func @f(%x: tensor<6xi32>) -> tensor<8xi32> {
  %y = te.compute "y" [8] (%i) : tensor<8xi32> {
    %v = te.read %x[%i - 1] where [%i - 1 >= 0, 6 - %i >= 0] : tensor<6xi32>
    te.yield %v : i32
  }
  te.return %y : tensor<8xi32>
}
func.func private @g() attributes {guard = #te.set<(d0) -> (d0 >= 0, d0 == 0)>}
