// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @fixed_point_multiply(%0: tensor<7xi32>) -> tensor<7xi32> {
  %1 = relay.fixed_point_multiply %0 {multiplier = -1395864371, shift = 5} : tensor<7xi32>
  func.return %1 : tensor<7xi32>
}
// CHECK:      te.func @fused_fixed_point_multiply(%p0: tensor<7xi32>) -> tensor<7xi32> {
// CHECK:      %fixed_point_multiply = te.compute "fixed_point_multiply" [7] (%i0) : tensor<7xi32> attributes {tag = "fixed_point_multiply"} {
// CHECK:      te.return %fixed_point_multiply : tensor<7xi32>

func.func @fixed_point_multiply_per_axis(%0: tensor<4x3xi32>, %1: tensor<4xi32>, %2: tensor<4xi32>, %3: tensor<4xi32>) -> tensor<4x3xi32> {
  %4 = relay.fixed_point_multiply_per_axis %0, %1, %2, %3 {axes = [0], is_rshift_required = true} : (tensor<4x3xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x3xi32>
  func.return %4 : tensor<4x3xi32>
}
// CHECK:      te.func @fused_fixed_point_multiply_per_axis(%p0: tensor<4x3xi32>, %p1: tensor<4xi32>, %p2: tensor<4xi32>, %p3: tensor<4xi32>) -> tensor<4x3xi32> {
// CHECK:      %fixed_point_multiply_per_axis = te.compute "fixed_point_multiply_per_axis" [4, 3] (%i0, %i1) : tensor<4x3xi32> attributes {tag = "fixed_point_multiply_per_axis"} {
// CHECK:      te.return %fixed_point_multiply_per_axis : tensor<4x3xi32>

func.func @rounding_doubling_high_multiply(%0: tensor<4x3xi32>, %1: tensor<3xi32>) -> tensor<4x3xi32> {
  %2 = relay.rounding_doubling_high_multiply %0, %1 : (tensor<4x3xi32>, tensor<3xi32>) -> tensor<4x3xi32>
  func.return %2 : tensor<4x3xi32>
}

// CHECK-LABEL: te.func @fused_rounding_doubling_high_multiply
// CHECK:      %4 = arith.muli %2, %3 : i64
// CHECK-NEXT: %5 = arith.constant 1073741824 : i64
// CHECK-NEXT: %6 = arith.addi %4, %5 : i64
// CHECK-NEXT: %7 = arith.constant 31 : i64
// CHECK-NEXT: %8 = arith.shrsi %6, %7 : i64
// CHECK-NEXT: %9 = arith.trunci %8 : i64 to i32
// CHECK:      %11 = arith.cmpi eq, %9, %10 : i32
// CHECK:      arith.select %11, %12, %9 : i32

func.func @rounding_right_shift(%0: tensor<4x3xi32>, %1: tensor<3xi32>) -> tensor<4x3xi32> {
  %2 = relay.rounding_right_shift %0, %1 : (tensor<4x3xi32>, tensor<3xi32>) -> tensor<4x3xi32>
  func.return %2 : tensor<4x3xi32>
}
// CHECK-LABEL: te.func @fused_rounding_right_shift
// CHECK:      %4 = arith.subi %3, %2 : i32
// CHECK-NEXT: %5 = arith.shrsi %4, %2 : i32
// CHECK:      %9 = arith.addi %5, %8 : i32
// CHECK-NEXT: %10 = arith.shrsi %0, %1 : i32
// CHECK-NEXT: %11 = arith.andi %0, %4 : i32
// CHECK-NEXT: %12 = arith.cmpi sgt, %11, %9 : i32
// CHECK:      arith.addi %10, %13 : i32
