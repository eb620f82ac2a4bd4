// RUN: opt-tool %s -p cpu-schedule --verify-diagnostics

// expected-error@unknown {{the module names no 'lamina.target'}}
te.func @f(%X: tensor<2xf32>) -> tensor<2xf32> {
  te.return %X : tensor<2xf32>
}
