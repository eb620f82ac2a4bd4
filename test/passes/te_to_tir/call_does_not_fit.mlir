// RUN: opt-tool %s -p te-to-tir --verify-diagnostics --split-input-file

te.func @f(%X: tensor<4xf32>) -> tensor<4xf32> {
  te.return %X : tensor<4xf32>
}
func.func @main(%X: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @below {{the call does not fit @f, which takes (tensor<4xf32>) and gives (tensor<4xf32>)}}
  %0 = te.call @f(%X) : (tensor<8xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// -----
te.func @two(%X: tensor<4xf32>, %Y: tensor<4xf32>) -> tensor<4xf32> {
  te.return %X : tensor<4xf32>
}
func.func @main(%X: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{the call does not fit @two, which takes (tensor<4xf32>, tensor<4xf32>) and gives (tensor<4xf32>)}}
  %0, %1 = te.call @two(%X) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return %0 : tensor<4xf32>
}
// -----
te.func @first(%X: tensor<4xf32>) -> tensor<4xf32> {
  te.return %X : tensor<4xf32>
}
func.func @main(%X: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{there is no function @frist to call; did you mean 'first'?}}
  %0 = te.call @frist(%X) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// -----
// expected-error @below {{argument 0 of @main is f32, neither a tensor nor a size}}
func.func @main(%X: f32) -> f32 {
  func.return %X : f32
}
// -----
// expected-error @below {{@main branches; it is one list of calls}}
func.func @main(%X: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^end
^end:
  func.return %X : tensor<4xf32>
}
// -----
// expected-error @below {{@main: argument 0 is tensor<?xf32>, but no te.shape gives its extents}}
func.func @main(%X: tensor<?xf32>) -> tensor<?xf32> {
  func.return %X : tensor<?xf32>
}
