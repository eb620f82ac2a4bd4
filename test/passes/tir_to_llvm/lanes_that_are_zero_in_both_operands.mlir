// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm --run @main | filecheck %s --check-prefix=NUMBERS
// LLVM takes 0/0 of constant lanes for 0 and leaves out the choice behind the quotient: such numerators become NaN.
// Where the divisor is none of those, or a lane is zero in one operand alone, nothing is added.

tir.func @ones(%y: memref<3x5xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 3 "y.i" {
    tir.for %j = 0 to 5 "y.j" {
      %one = arith.constant 1.0 : f32
      tir.store %one, %y[%i, %j] : memref<3x5xf32>
    }
  }
}

// CHECK-LABEL: llvm.func internal @last.body
// CHECK-DAG:   %[[MASK:.*]] = llvm.mlir.constant(dense<[true, true, true, false]> : vector<4xi1>)
// CHECK-DAG:   %[[NAN:.*]] = llvm.mlir.constant(dense<[0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000]> : vector<4xf32>)
// CHECK:       %[[UP:.*]] = llvm.select %[[MASK]], %[[NAN]], %a
// CHECK-NEXT:  llvm.fdiv %[[UP]], %b : vector<4xf32>

// NUMBERS: y: float32[3, 4]
// NUMBERS-NEXT: {{\[\[}}0., 0., 0., 1.],
// NUMBERS-NEXT: [0., 0., 0., 1.],
// NUMBERS-NEXT: [0., 0., 0., 1.]]
tir.func @last(%x: memref<3x5xf32>, %y: memref<3x4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 3 "y.i" {
    %a = tir.load %x[%i, 4] where [lane - 3 >= 0] : memref<3x5xf32>, vector<4xf32>
    %b = tir.load %x[%i, 3] where [lane - 3 >= 0] : memref<3x5xf32>, vector<4xf32>
    %q = arith.divf %a, %b : vector<4xf32>
    %is_last = tir.condition [lane - 3 >= 0] : vector<4xi1>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %v = tir.select %is_last, %q, %zero : vector<4xi1>, vector<4xf32>
    tir.store %v, %y[%i, lane] : memref<3x4xf32>, vector<4xf32>
  }
}

// CHECK-LABEL: llvm.func internal @one_operand.body
// CHECK-NOT:   llvm.select
tir.func @one_operand(%x: memref<3x5xf32>, %y: memref<3x4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 3 "y.i" {
    %a = tir.load %x[%i, 4] where [lane - 3 >= 0] : memref<3x5xf32>, vector<4xf32>
    %b = tir.load %x[%i, 3] where [2 - lane >= 0] : memref<3x5xf32>, vector<4xf32>
    %c = tir.load %x[%i, lane] : memref<3x5xf32>, vector<4xf32>
    %q = arith.divf %a, %b : vector<4xf32>
    %r = arith.divf %b, %c : vector<4xf32>
    %s = arith.addf %q, %r : vector<4xf32>
    tir.store %s, %y[%i, lane] : memref<3x4xf32>, vector<4xf32>
  }
}

func.func @main(%y: memref<3x4xf32> {lamina.name = "y"}) attributes {lamina.outputs = 1 : i64} {
  %x = tir.alloc "x" scope "global" : memref<3x5xf32>
  tir.call @ones(%x) : memref<3x5xf32>
  tir.call @last(%x, %y) : memref<3x5xf32>, memref<3x4xf32>
  func.return
}
