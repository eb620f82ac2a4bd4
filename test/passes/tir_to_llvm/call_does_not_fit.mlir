// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics --split-input-file
// The kernel would read pointers that nobody gives.

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
}
func.func @main(%x: memref<4xf32>) attributes {lamina.outputs = 1 : i64} {
  // expected-error @below {{the call does not fit @f, which takes (memref<4xf32>, memref<4xf32>)}}
  tir.call @f(%x) : memref<4xf32>
  func.return
}
// -----
tir.func @f(%n: index, %x: memref<?x2xf32> {te.shape = #te.map<(d0) -> (d0, 2)>}) {
}
func.func @main(%n: index, %x: memref<2x?xf32> {te.shape = #te.map<(d0) -> (2, d0)>}, %y: memref<4xf32>) attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%n, %x) : index, memref<2x?xf32>
  // expected-error @below {{the call does not fit @f, which takes (index, memref<?x2xf32>)}}
  tir.call @f(%n, %y) : index, memref<4xf32>
  func.return
}
// -----
tir.func @kernel(%x: memref<4xf32>) {
}
func.func @main(%x: memref<4xf32>) attributes {lamina.outputs = 1 : i64} {
  // expected-error @below {{there is no kernel @kernal to call; did you mean 'kernel'?}}
  tir.call @kernal(%x) : memref<4xf32>
  func.return
}
// -----
// expected-error @below {{@main has 7 outputs of 1 arguments}}
func.func @main(%x: memref<4xf32>) attributes {lamina.outputs = 7 : i64} {
  func.return
}
// -----
// expected-error @below {{@main has no body; it is one list of calls}}
func.func private @main(memref<4xf32>)
// -----
func.func @main(%x: memref<4xf32>) attributes {lamina.outputs = 1 : i64} {
  %arena = tir.alloc "arena" scope "global" : memref<16xi8>
  // expected-error @below {{memref<4xf32> at byte 8 is outside of the arena}}
  %b = tir.view %arena[8] : memref<16xi8> to memref<4xf32>
  tir.call @f(%b) : memref<4xf32>
  func.return
}
tir.func @f(%x: memref<4xf32>) {
}
