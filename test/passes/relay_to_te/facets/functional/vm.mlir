// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @vm_reshape_tensor(%0: tensor<7xi32>, %1: tensor<2xi64>) -> tensor<7x1xi32> {
  %2 = relay.vm.reshape_tensor %0, %1 {newshape = [7, 1]} : (tensor<7xi32>, tensor<2xi64>) -> tensor<7x1xi32>
  func.return %2 : tensor<7x1xi32>
}
// CHECK:      te.func @fused_vm_reshape_tensor(%p0: tensor<7xi32>, %p1: tensor<2xi64>) -> tensor<7x1xi32> {
// CHECK-NEXT: %reshape_tensor = te.compute "reshape_tensor" [7, 1] (%i0, %i1) : tensor<7x1xi32> attributes {tag = "vm.reshape_tensor"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<7xi32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : i32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %reshape_tensor : tensor<7x1xi32>

func.func @vm_shape_of(%0: tensor<7xf32>) -> tensor<1xi64> {
  %1 = relay.vm.shape_of %0 : (tensor<7xf32>) -> tensor<1xi64>
  func.return %1 : tensor<1xi64>
}
// CHECK:      te.func @fused_vm_shape_of(%p0: tensor<7xf32>) -> tensor<1xi64> {
// CHECK-NEXT: %shape_of = te.compute "shape_of" [1] (%i) : tensor<1xi64> attributes {tag = "vm.shape_of"} {
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0 : i64
// CHECK-NEXT: %{{[0-9]+}} = te.index [%i] : index
// CHECK-NEXT: %{{[0-9]+}} = arith.index_cast %{{[0-9]+}} : index to i64
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi eq, %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 7 : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: te.yield %{{[0-9]+}} : i64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %shape_of : tensor<1xi64>
