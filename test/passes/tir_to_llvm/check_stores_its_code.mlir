// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Where a check fails, a masked store leaves the number of its message in the status block; there is no branch.

tir.func @f(%x: memref<4xi32>, %y: memref<4xi32>) attributes {outputs = 1 : i64} {
  %v = tir.load %x[lane] : memref<4xi32>, vector<4xi32>
  %zero = arith.constant dense<0> : vector<4xi32>
  %ok = tir.compare ne, %v, %zero : vector<4xi32>
  %c = tir.check %v, %ok "integer division by zero" : vector<4xi32>
  tir.store %c, %y[lane] : memref<4xi32>, vector<4xi32>
}
func.func @main(%x: memref<4xi32>, %y: memref<4xi32>) attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%x, %y) : memref<4xi32>, memref<4xi32>
  func.return
}

// CHECK:      lamina.program = {messages = ["integer division by zero"]
// CHECK:      llvm.func internal @f.body(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}, %status: !llvm.ptr {llvm.noalias},
// CHECK-NOT:  llvm.cond_br
// CHECK:      %[[ALL:.*]] = "llvm.intr.vector.reduce.and"(%{{.*}}) : (vector<4xi1>) -> i1
// CHECK-NEXT: %[[FAILED:.*]] = llvm.xor %[[ALL]], %{{.*}} : i1
// CHECK:      llvm.intr.masked.store %{{.*}}, %status, %{{.*}} {alignment = 8 : i32} : vector<1xi64>, vector<1xi1> into !llvm.ptr
// CHECK:      llvm.mlir.global external constant @main.arguments
