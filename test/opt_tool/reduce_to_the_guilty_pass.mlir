// RUN: opt-tool %s -p relay-fold-constant,faulty-lookup,relay-dead-code-elimination --load=%S/../debugging/inputs/faults.py --reduce -o %t.mlir 2>&1 | filecheck %s
// RUN: filecheck %s --check-prefix=TEST < %t.mlir
// The pass raises at a subtraction of a product: the least input is these two, and the test runs the pass alone.

// CHECK:      internal error: KeyError: 'no scale for relay.subtract'
// CHECK:      4 ops -> 2 in
// CHECK-NEXT: pass faulty-lookup (2 of 3)
// TEST:       {{RUN}}: opt-tool %s -p faulty-lookup --load=%S/
// TEST:       {{CHECK}}: @main
// TEST-NEXT:  func.func @main(%[[X:.*]]: tensor<1x1xf32>) -> tensor<1x1xf32> {
// TEST-NEXT:    %b = relay.nn.matmul %[[X]], %[[X]]
// TEST-NEXT:    %c = relay.subtract %[[X]], %b
// TEST-NEXT:    func.return %c
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = relay.nn.relu %x : tensor<4x4xf32>
  %b = relay.nn.matmul %a, %w : tensor<4x4xf32>
  %c = relay.subtract %x, %b : tensor<4x4xf32>
  %d = relay.tanh %c : tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}
