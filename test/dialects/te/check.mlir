// RUN: opt-tool %s -p te-to-tir | filecheck %s
// RUN: opt-tool %s -p te-to-tir,tir-lower-blocks,tir-vectorize-loop --verify-each | filecheck %s --check-prefix VECTOR
// A stage that checks is inlined where its reader guards: only what the guard lets through is checked.

te.func @f(%x: tensor<6xi32>) -> tensor<8xi32> {
  %d = te.compute "d" [6] (%i) : tensor<6xi32> {
    %v = te.read %x[%i] : tensor<6xi32>
    %zero = arith.constant 0 : i32
    %ok = arith.cmpi ne, %v, %zero : i32
    %c = te.check %v, %ok "integer division by zero" : i32
    te.yield %c : i32
  }
  %p = te.compute "p" [8] (%i) : tensor<8xi32> {
    %v = te.read %d[%i - 1] where [%i - 1 >= 0, -%i + 6 >= 0] : tensor<6xi32>
    te.yield %v : i32
  }
  te.return %p : tensor<8xi32>
}
te.schedule @f {
  te.compute_inline "d"
  %i = te.loops "p" [1]
  te.vectorize %i
}

// CHECK:      %ok = arith.cmpi ne, %v, %zero : i32
// CHECK-NEXT: %[[ASKED:.*]] = tir.condition [%i - 1 >= 0, %i * -1 + 6 >= 0] : i1
// CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT: %[[IDLE:.*]] = arith.xori %[[ASKED]], %[[TRUE]] : i1
// CHECK-NEXT: %[[HOLDS:.*]] = arith.ori %ok, %[[IDLE]] : i1
// CHECK-NEXT: %c = tir.check %v, %[[HOLDS]] "integer division by zero" : i32

// VECTOR: tir.check %v, %{{.*}} "integer division by zero" : vector<8xi32>
