// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Every parallel loop is a phase, what stands between two another; each takes only the buffers that it mentions.

tir.func @f(%x: memref<64xf32>, %t: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 parallel "t.i" {
    %v = tir.load %x[%i * 16 + lane] : memref<64xf32>, vector<16xf32>
    tir.store %v, %t[%i * 16 + lane] : memref<64xf32>, vector<16xf32>
  }
  %s = tir.load %t[0] : memref<64xf32>
  tir.store %s, %t[1] : memref<64xf32>
  tir.for %j = 0 to 4 parallel "y.j" {
    %w = tir.load %t[%j * 16 + lane] : memref<64xf32>, vector<16xf32>
    tir.store %w, %y[%j * 16 + lane] : memref<64xf32>, vector<16xf32>
  }
}

// The slice from lo to hi.
// CHECK-LABEL: llvm.func internal @f.0.body(%x: !llvm.ptr {llvm.noalias}, %t: !llvm.ptr {llvm.noalias}, %lo: i64, %hi: i64)
// CHECK: llvm.br ^[[HEAD:bb[0-9]+]](%lo : i64)
// CHECK-NEXT: ^[[HEAD]](%i: i64):
// CHECK: [[NEXT:%.+]] = llvm.add %i
// CHECK-NEXT: [[AGAIN:%.+]] = llvm.icmp "slt" [[NEXT]], %hi : i64
// CHECK-NEXT: llvm.cond_br [[AGAIN]], ^[[HEAD]]([[NEXT]] : i64), ^bb{{[0-9]+}}

// The runner's signature: buffers from the array of arguments.
// CHECK-LABEL: llvm.func @f.0(%args: !llvm.ptr, %{{lo.*}}: i64, %{{hi.*}}: i64)
// CHECK-NEXT: [[X:%.+]] = llvm.load %args : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT: [[AT:%.+]] = llvm.getelementptr %args[1]
// CHECK-NEXT: [[T:%.+]] = llvm.load [[AT]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT: llvm.call @f.0.body([[X]], [[T]],
// CHECK-NEXT: llvm.return

// CHECK-LABEL: llvm.func internal @f.1.body(%{{t.*}}: !llvm.ptr {llvm.noalias}, %{{lo.*}}: i64, %{{hi.*}}: i64)
// CHECK-NOT: llvm.cond_br
// CHECK-LABEL: llvm.func @f.1
// CHECK-LABEL: llvm.func internal @f.2.body(%{{t.*}}: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias},
