// RUN: opt-tool %s -p cpu-transpose-factors | filecheck %s

// CHECK-NOT:  relay.transpose
// CHECK:      %a = relay.nn.dense %x, %w
// CHECK-NEXT: %b = relay.nn.dense %i, %j
// CHECK-NEXT: %c = relay.nn.batch_matmul %q, %k
// CHECK-NEXT: func.return %a, %b, %c
func.func @main(%x: tensor<7x64xf32>, %w: tensor<40x64xf32>, %i: tensor<32x64xi8>, %j: tensor<40x64xi8>, %q: tensor<3x1x8xf32>, %k: tensor<3x9x8xf32>)
    -> (tensor<7x40xf32>, tensor<32x40xi32>, tensor<3x1x9xf32>) {
  %a = relay.nn.dense %x, %w : (tensor<7x64xf32>, tensor<40x64xf32>) -> tensor<7x40xf32>
  %b = relay.nn.dense %i, %j {out_dtype = "int32"} : (tensor<32x64xi8>, tensor<40x64xi8>) -> tensor<32x40xi32>
  %c = relay.nn.batch_matmul %q, %k : (tensor<3x1x8xf32>, tensor<3x9x8xf32>) -> tensor<3x1x9xf32>
  return %a, %b, %c : tensor<7x40xf32>, tensor<32x40xi32>, tensor<3x1x9xf32>
}
