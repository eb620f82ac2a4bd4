// RUN: opt-tool %s --run @main --output %t.npz | filecheck %s
// RUN: not opt-tool %s --run @man 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not opt-tool %s --run @main --input %s 2>&1 | filecheck %s --check-prefix=INPUT

// CHECK: out0: float32[2, 2]
// CHECK-NEXT: {{\[}}[2., 4.],
// CHECK-NEXT: [6., 8.]]
// NAME: error: no function @man in the module; did you mean 'main'?
// INPUT: run.mlir: error: not an npy or npz file of numbers; save arrays with numpy.savez
func.func @main() -> tensor<2x2xf32> {
  %c = relay.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = relay.add %c, %c : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
