// RUN: opt-tool %s -p cpu-schedule | filecheck %s

// A quotient or a function is computed once and stored where two elements are made of it; a product is computed twice.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @quotient(%X: tensor<64x16xf32>) -> tensor<64x16xf32> {
    %a = te.compute "a" [64, 16] (%i, %j) : tensor<64x16xf32> {
      %x = te.read %X[%i, %j] : tensor<64x16xf32>
      %n = arith.divf %x, %x : f32
      te.yield %n : f32
    }
    %b = te.compute "b" [64, 16] (%i, %j) : tensor<64x16xf32> {
      %y = te.read %a[%i, %j] : tensor<64x16xf32>
      %z = te.read %a[63 - %i, %j] : tensor<64x16xf32>
      %s = arith.addf %y, %z : f32
      te.yield %s : f32
    }
    te.return %b : tensor<64x16xf32>
  }
  te.func @function(%X: tensor<64x16xf32>) -> tensor<64x16xf32> {
    %a = te.compute "a" [64, 16] (%i, %j) : tensor<64x16xf32> {
      %x = te.read %X[%i, %j] : tensor<64x16xf32>
      %n = math.exp %x : f32
      te.yield %n : f32
    }
    %b = te.compute "b" [64, 16] (%i, %j) : tensor<64x16xf32> {
      %y = te.read %a[%i, %j] : tensor<64x16xf32>
      %z = te.read %a[63 - %i, %j] : tensor<64x16xf32>
      %s = arith.addf %y, %z : f32
      te.yield %s : f32
    }
    te.return %b : tensor<64x16xf32>
  }
  te.func @product(%X: tensor<64x16xf32>) -> tensor<64x16xf32> {
    %a = te.compute "a" [64, 16] (%i, %j) : tensor<64x16xf32> {
      %x = te.read %X[%i, %j] : tensor<64x16xf32>
      %n = arith.mulf %x, %x : f32
      te.yield %n : f32
    }
    %b = te.compute "b" [64, 16] (%i, %j) : tensor<64x16xf32> {
      %y = te.read %a[%i, %j] : tensor<64x16xf32>
      %z = te.read %a[63 - %i, %j] : tensor<64x16xf32>
      %s = arith.addf %y, %z : f32
      te.yield %s : f32
    }
    te.return %b : tensor<64x16xf32>
  }
}

// CHECK-LABEL: te.schedule @quotient {
// CHECK-NOT:     te.compute_inline
// CHECK:         te.loops "a"
// CHECK-LABEL: te.schedule @function {
// CHECK-NOT:     te.compute_inline
// CHECK:         te.loops "a"
// CHECK-LABEL: te.schedule @product {
// CHECK-NEXT:    te.compute_inline "a"
