// RUN: opt-tool %s -p cpu-transpose-factors | filecheck %s

// CHECK:      %0 = relay.transpose %w {axes = [1, 0]}
// CHECK-NEXT: %a = relay.nn.matmul %x, %0 : (tensor<32x64xf32>, tensor<64x40xf32>)
// CHECK-NEXT: %1 = relay.transpose %w {axes = [1, 0]}
// CHECK-NEXT: %b = relay.nn.matmul %z, %1 {transpose_a = true}
// CHECK-NEXT: %2 = relay.transpose %k {axes = [0, 2, 1]}
// CHECK-NEXT: %c = relay.nn.batch_matmul %q, %2 {transpose_b = false}
func.func @main(%x: tensor<32x64xf32>, %w: tensor<40x64xf32>, %z: tensor<64x32xf32>, %q: tensor<3x16x8xf32>, %k: tensor<3x9x8xf32>)
    -> (tensor<32x40xf32>, tensor<32x40xf32>, tensor<3x16x9xf32>) {
  %a = relay.nn.dense %x, %w : (tensor<32x64xf32>, tensor<40x64xf32>) -> tensor<32x40xf32>
  %b = relay.nn.matmul %z, %w {transpose_a = true, transpose_b = true} : (tensor<64x32xf32>, tensor<40x64xf32>) -> tensor<32x40xf32>
  %c = relay.nn.batch_matmul %q, %k : (tensor<3x16x8xf32>, tensor<3x9x8xf32>) -> tensor<3x16x9xf32>
  return %a, %b, %c : tensor<32x40xf32>, tensor<32x40xf32>, tensor<3x16x9xf32>
}
