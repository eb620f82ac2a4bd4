// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%X: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{tensor.empty cannot stand in a te.func}}
  %y = tensor.empty() : tensor<4xf32>
  te.return %y : tensor<4xf32>
}
