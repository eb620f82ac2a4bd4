// RUN: opt-tool %s -p relay-to-mixed-precision | filecheck %s
// RUN: opt-tool %s -p 'relay-to-mixed-precision{mixed-precision-type=bfloat16 keep-orig-output-dtype}' | filecheck %s --check-prefix=BF
// Softmax never is narrow; the sum follows its narrow operand only where all are.

// CHECK:      [[X:%.*]] = relay.cast %x {dtype = "float16"}
// CHECK-NEXT: [[W:%.*]] = relay.constant #relay.param<"w/cast", "{{[0-9a-f]+}}"> : tensor<4x8xf16>
// CHECK-NEXT: [[Y:%.*]] = relay.nn.dense [[X]], [[W]] {out_dtype = "float32"} : {{.*}} -> tensor<2x4xf32>
// CHECK-NEXT: %c = relay.cast [[Y]] {dtype = "float16"}
// CHECK-NEXT: [[B:%.*]] = relay.constant dense<2.000000e+00> : tensor<4xf16>
// CHECK-NEXT: %d = relay.nn.bias_add %c, [[B]] {{.*}} -> tensor<2x4xf16>
// CHECK-NEXT: [[V:%.*]] = relay.cast %d {dtype = "float32"}
// CHECK-NEXT: %s = relay.nn.softmax [[V]] : tensor<2x4xf32>
// CHECK-NEXT: %a = relay.argmax %d {axis = [1]} : (tensor<2x4xf16>) -> tensor<2xi32>
// CHECK-NEXT: %e = relay.add %s, [[V]] : tensor<2x4xf32>
// CHECK-NEXT: func.return %e, %a, %d : tensor<2x4xf32>, tensor<2xi32>, tensor<2x4xf16>

// BF: func.func @main(%x: tensor<2x8xf32>) -> (tensor<2x4xf32>, tensor<2xi32>, tensor<2x4xf32>)
// BF: %d = relay.nn.bias_add {{.*}} -> tensor<2x4xbf16>
// BF: [[V:%.*]] = relay.cast %d {dtype = "float32"}
// BF: func.return %e, %a, [[V]] : tensor<2x4xf32>, tensor<2xi32>, tensor<2x4xf32>
func.func @main(%x: tensor<2x8xf32>) -> (tensor<2x4xf32>, tensor<2xi32>, tensor<2x4xf32>) {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<4x8xf32>
  %b = relay.constant dense<2.0> : tensor<4xf32>
  %c = relay.nn.dense %x, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %d = relay.nn.bias_add %c, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %s = relay.nn.softmax %d : tensor<2x4xf32>
  %a = relay.argmax %d {axis = [1]} : (tensor<2x4xf32>) -> tensor<2xi32>
  %e = relay.add %s, %d : tensor<2x4xf32>
  return %e, %a, %d : tensor<2x4xf32>, tensor<2xi32>, tensor<2x4xf32>
}
