// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Each read gets what its result is made of.

te.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  %a, %b = te.compute "two" [8] (%i) : tensor<8xf32>, tensor<8xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    %n = arith.negf %x : f32
    te.yield %x, %n : f32, f32
  }
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %p = te.read %a[%i] : tensor<8xf32>
    %q = te.read %b[%i] : tensor<8xf32>
    %s = arith.mulf %p, %q : f32
    te.yield %s : f32
  }
  te.return %y : tensor<8xf32>
}
// CHECK-NOT:  "two"
// CHECK:      tir.block "y" {
// CHECK-NEXT:   [[X:%[a-z0-9_]+]] = tir.load %X[%i] : memref<8xf32>
// CHECK-NEXT:   [[Z:%[a-z0-9_]+]] = tir.load %X[%i] : memref<8xf32>
// CHECK-NEXT:   [[N:%[a-z0-9_]+]] = arith.negf [[Z]] : f32
// CHECK-NEXT:   %s = arith.mulf [[X]], [[N]] : f32
te.schedule @f {
  te.compute_inline "two"
}
