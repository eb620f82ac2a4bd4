// RUN: not opt-tool %s -p cpu-sketch 2>&1 | filecheck %s

te.func @f(%A: tensor<24x50xf32>) -> tensor<50xf32> {
  %c = te.compute "C" [50] sum [24] (%j, %k) : tensor<50xf32> {
    %a = te.read %A[%k, %j] : tensor<24x50xf32>
    %b = te.read %A[%k, %j] : tensor<24x50xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<50xf32>
}

// CHECK: error: cpu-sketch: the module names no 'lamina.target'
