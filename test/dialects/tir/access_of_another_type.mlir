// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%y: memref<4xf32>) {
  // expected-error@+1 {{accesses vector<4xi32> in memref<4xf32>}}
  %x = tir.load %y[lane] : memref<4xf32>, vector<4xi32>
}
