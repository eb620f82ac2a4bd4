// RUN: opt-tool %s -p relay-to-te | filecheck %s
// The points p and -p of F(4, 3) give two rows of a transform that differ in the sign of every other term: the halves
// are computed once, and the rows are their sum and their difference. Four rows of four terms are four halves of two.

builtin.module {
  func.func @main(%x: tensor<1x1x6x6x4xf32>, %u: tensor<6x6x1x1x4x4xf32>, %k: tensor<1x1x3x3x4x4xf32>, %l: tensor<f32>) -> tensor<1x1x4x4x4xf32> {
    %f = relay.fn (%p0: tensor<1x1x6x6x4xf32>, %p1: tensor<6x6x1x1x4x4xf32>, %p2: tensor<1x1x3x3x4x4xf32>, %p3: tensor<f32>) -> tensor<1x1x4x4x4xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_winograd_NCHWc %p0, %p1, %p2, %p3 {channels = 4, tile_size = 4} : (tensor<1x1x6x6x4xf32>, tensor<6x6x1x1x4x4xf32>, tensor<1x1x3x3x4x4xf32>, tensor<f32>) -> tensor<1x1x4x4x4xf32>
      relay.return %0 : tensor<1x1x4x4x4xf32>
    }
    %y = relay.call %f(%x, %u, %k, %l) : (tensor<1x1x6x6x4xf32>, tensor<6x6x1x1x4x4xf32>, tensor<1x1x3x3x4x4xf32>, tensor<f32>) -> tensor<1x1x4x4x4xf32>
    return %y : tensor<1x1x4x4x4xf32>
  }
}

// CHECK:       te.compute "tile_rows"
// CHECK:         arith.constant 6.250000e-01
// CHECK-NEXT:    arith.mulf
// CHECK-NEXT:    [[ODD:%[0-9]+]] = arith.addf
// CHECK-NEXT:    [[PLUS:%[0-9]+]] = arith.addf [[EVEN:%[0-9]+]], [[ODD]]
// CHECK-NEXT:    [[MINUS:%[0-9]+]] = arith.subf [[EVEN]], [[ODD]]
// CHECK:         te.condition [%e - 2 == 0]
// CHECK-NEXT:    arith.select %{{[0-9]+}}, [[MINUS]],
// CHECK-NEXT:    te.condition [%e - 1 == 0]
// CHECK-NEXT:    arith.select %{{[0-9]+}}, [[PLUS]],
