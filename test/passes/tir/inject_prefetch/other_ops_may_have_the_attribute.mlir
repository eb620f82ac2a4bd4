// RUN: opt-tool %s -p tir-inject-prefetch | filecheck %s
// Loops are asked to fetch ahead. What else has an attribute of this name means something of its own by it.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64, prefetch = "by hand"} {
  tir.for %i = 0 to 8 "y.i" {
    %a = tir.load %x[%i] : memref<8xf32>
    tir.store %a, %y[%i] : memref<8xf32>
  }
}

// CHECK: tir.func @f({{.*}}) attributes {outputs = 1 : i64, prefetch = "by hand"} {
