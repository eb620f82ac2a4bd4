// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @check_divisor(%0: tensor<6xi8>) -> tensor<6xi8> {
  %1 = relay.check_divisor %0 : tensor<6xi8>
  func.return %1 : tensor<6xi8>
}
// CHECK:      te.func @fused_check_divisor(%p0: tensor<6xi8>) -> tensor<6xi8> {
// CHECK-NEXT: %check_divisor = te.compute "check_divisor" [6] (%i0) : tensor<6xi8> attributes {tag = "check_divisor"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<6xi8>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0 : i8
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi ne, %{{[0-9]+}}, %{{[0-9]+}} : i8
// CHECK-NEXT: %{{[0-9]+}} = te.check %{{[0-9]+}}, %{{[0-9]+}} "integer division by zero" : i8
// CHECK-NEXT: te.yield %{{[0-9]+}} : i8
// CHECK-NEXT: }
// CHECK-NEXT: te.return %check_divisor : tensor<6xi8>
