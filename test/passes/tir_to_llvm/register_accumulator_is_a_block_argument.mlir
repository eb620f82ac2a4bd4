// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// The sum goes round the loop as a value and reaches memory once; an accumulator in memory is read each time.

tir.func @in_register(%x: memref<8x16xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
  %acc = tir.alloc "acc" scope "register" : memref<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  tir.store %zero, %acc[lane] : memref<16xf32>, vector<16xf32>
  tir.for %k = 0 to 8 reduction "y.k" {
    %a = tir.load %acc[lane] : memref<16xf32>, vector<16xf32>
    %v = tir.load %x[%k, lane] : memref<8x16xf32>, vector<16xf32>
    %s = arith.addf %a, %v : vector<16xf32>
    tir.store %s, %acc[lane] : memref<16xf32>, vector<16xf32>
  }
  %r = tir.load %acc[lane] : memref<16xf32>, vector<16xf32>
  tir.store %r, %y[lane] : memref<16xf32>, vector<16xf32>
}
tir.func @in_memory(%x: memref<8xf32>, %y: memref<1xf32>) attributes {outputs = 1 : i64} {
  tir.for %k = 0 to 8 reduction "y.k" {
    %a = tir.load %y[0] : memref<1xf32>
    %v = tir.load %x[%k] : memref<8xf32>
    %s = arith.addf %a, %v : f32
    tir.store %s, %y[0] : memref<1xf32>
  }
}

// CHECK-LABEL: llvm.func internal @in_register.body
// CHECK-NOT: llvm.alloca
// CHECK: llvm.br ^bb1(%{{.+}}, %zero : i64, vector<16xf32>)
// CHECK-NEXT: ^bb1(%k: i64, [[ACC:%.+]]: vector<16xf32>):
// CHECK: [[SUM:%.+]] = llvm.fadd [[ACC]], %v : vector<16xf32>
// CHECK-NOT: llvm.store
// CHECK: llvm.cond_br %{{.+}}, ^bb1(%{{.+}}, [[SUM]] : i64, vector<16xf32>), ^bb2
// CHECK-NEXT: ^bb2:
// CHECK-NEXT: llvm.store [[SUM]], %y
// CHECK-NEXT: llvm.return

// CHECK-LABEL: llvm.func internal @in_memory.body
// CHECK: llvm.br ^bb1(%{{.+}} : i64)
// CHECK: %a = llvm.load [[Y:%.+]] {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: llvm.store %{{.+}}, [[Y]] {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK: llvm.cond_br %{{.+}}, ^bb1(%{{.+}} : i64), ^bb2
