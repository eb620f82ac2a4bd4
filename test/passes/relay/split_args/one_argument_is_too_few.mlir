// RUN: not opt-tool %s -p 'relay-split-args{max-function-args=1}' 2>&1 | filecheck %s

// CHECK: relay-split-args: max-function-args is 1, it must be at least 2
func.func @main(%a: tensor<1xf32>) -> tensor<1xf32> {
  return %a : tensor<1xf32>
}
