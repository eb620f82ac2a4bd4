// RUN: opt-tool %s -p tir-plan-memory | filecheck %s
// What would not fit on the stack is placed in the arena where one iteration has it at a time: not where several
// iterations run at once. A small buffer stays in its loop.

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "f.i" {
    %large = tir.alloc "large" scope "global" : memref<65537xf32>
    %small = tir.alloc "small" scope "global" : memref<65536xf32>
    %a = tir.load %x[%i] : memref<4xf32>
    tir.store %a, %large[%i] : memref<65537xf32>
    tir.store %a, %small[%i] : memref<65536xf32>
  }
  tir.for %j = 0 to 4 parallel "f.j" {
    tir.for %k = 0 to 4 "f.k" {
      %each = tir.alloc "each" scope "global" : memref<65537xf32>
      %b = tir.load %x[%j] : memref<4xf32>
      tir.store %b, %each[%j] : memref<65537xf32>
    }
  }
}
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%x, %y) : memref<4xf32>, memref<4xf32>
  func.return
}

// CHECK-LABEL: tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>, %large: memref<65537xf32>) attributes {outputs = 1 : i64, workspaces = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 4 "f.i" {
// CHECK-NEXT:     %small = tir.alloc "small" scope "global" : memref<65536xf32>
// CHECK:          tir.store %a, %large[%i] : memref<65537xf32>
// CHECK:        tir.for %j = 0 to 4 parallel "f.j" {
// CHECK:            %each = tir.alloc "each" scope "global" : memref<65537xf32>

// CHECK-LABEL: func.func @main
// CHECK-NEXT:   %arena = tir.alloc "arena" scope "global" : memref<262208xi8>
