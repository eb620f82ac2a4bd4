// RUN: opt-tool %s -p relay-combine-parallel-dense | filecheck %s
// RUN: opt-tool %s -p 'relay-combine-parallel-dense{to-batch=false}' | filecheck %s --check-prefix=FLAT

// CHECK:      [[W:%.*]] = relay.stack %a, %b, %a : {{.*}} -> tensor<3x4x8xf32>
// CHECK-NEXT: [[X:%.*]] = relay.expand_dims %x
// CHECK-NEXT: [[Y:%.*]] = relay.nn.batch_matmul [[X]], [[W]] : {{.*}} -> tensor<3x2x4xf32>
// CHECK:      [[C:%.*]] = relay.stack {{.*}} -> tensor<3x1x4xf32>
// CHECK-NEXT: [[Z:%.*]] = relay.add [[Y]], [[C]] : (tensor<3x2x4xf32>, tensor<3x1x4xf32>) -> tensor<3x2x4xf32>
// CHECK-NEXT: [[S:%.*]] = relay.strided_slice [[Z]] {axes = [0], begin = [0], end = [1], strides = [1]}
// CHECK-NEXT: %u = relay.squeeze [[S]] {axis = [0]} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>

// FLAT:      [[W:%.*]] = relay.concatenate %a, %b, %a : {{.*}} -> tensor<12x8xf32>
// FLAT-NEXT: [[Y:%.*]] = relay.nn.dense %x, [[W]] : {{.*}} -> tensor<2x12xf32>
// FLAT-NEXT: [[C:%.*]] = relay.concatenate %p, %q, %p : {{.*}} -> tensor<12xf32>
// FLAT-NEXT: [[Z:%.*]] = relay.nn.bias_add [[Y]], [[C]]
// FLAT-NEXT: %u = relay.strided_slice [[Z]] {axes = [1], begin = [0], end = [4], strides = [1]}
func.func @main(%x: tensor<2x8xf32>, %a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %p: tensor<4xf32>, %q: tensor<4xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = relay.nn.dense %x, %a : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %1 = relay.nn.dense %x, %b : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %2 = relay.nn.dense %x, %a : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %u = relay.nn.bias_add %0, %p : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %v = relay.nn.bias_add %1, %q : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %t = relay.nn.bias_add %2, %p : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %u, %v, %t : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}
