// RUN: opt-tool --load %S/inputs/rules_of_two_passes.py --list-rules own-chosen | filecheck %s --check-prefix=LIST
// RUN: opt-tool %s --load %S/inputs/rules_of_two_passes.py -p own-chosen | filecheck %s
// A file may have several passes: of each its own rules are listed. Beside a condition a number is of the value's type.

// LIST-NOT: cast
// LIST:     nn.relu(x) >> where(greater(x, splat(0.0)), x, splat(0.0))
// LIST-NOT: cast

// CHECK:      %[[ZERO:.*]] = relay.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[IS:.*]] = relay.greater %x, %[[ZERO]]
// CHECK:      relay.where %[[IS]], %x, %{{.*}} : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.nn.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
