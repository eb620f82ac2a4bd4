// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics

// expected-error@+1 {{@main has no 'lamina.outputs'; it does not come from te-to-tir}}
func.func @main(%x: memref<4xf32>) {
  func.return
}
