// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// LLVM makes wrong code of some vectors of bf16 that are put together lane by lane, and ends the process at a load of
// nine of them for machines with AVX512-BF16. Only what computes with them knows them as bf16.

tir.func @moves(%x: memref<20xbf16>, %y: memref<10xbf16>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[lane * 2] : memref<20xbf16>, vector<10xbf16>
  %b = tir.load %x[lane] : memref<20xbf16>, vector<10xbf16>
  %c = tir.condition [lane - 3 >= 0] : vector<10xi1>
  %d = tir.select %c, %a, %b : vector<10xi1>, vector<10xbf16>
  tir.store %d, %y[lane] : memref<10xbf16>, vector<10xbf16>
}
// CHECK-LABEL: @moves
// CHECK-NOT:     bf16
// CHECK:         llvm.shufflevector {{.*}} : vector<10xi16>
// CHECK-NOT:     bf16
// CHECK:         llvm.store {{.*}} : vector<10xi16>, !llvm.ptr

tir.func @nine(%x: memref<9xbf16>, %y: memref<9xf32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[lane] : memref<9xbf16>, vector<9xbf16>
  %b = arith.extf %a : vector<9xbf16> to vector<9xf32>
  tir.store %b, %y[lane] : memref<9xf32>, vector<9xf32>
}
// CHECK-LABEL: @nine
// CHECK-NOT:     bf16
// CHECK:         %[[A:.*]] = llvm.load %x{{.*}} -> vector<9xi16>
// CHECK-NEXT:    %[[WORD:.*]] = llvm.zext %[[A]] : vector<9xi16> to vector<9xi32>
// CHECK-NEXT:    %[[UPPER:.*]] = llvm.shl %[[WORD]], {{.*}} : vector<9xi32>
// CHECK-NEXT:    llvm.bitcast %[[UPPER]] : vector<9xi32> to vector<9xf32>

tir.func @double(%x: memref<1xbf16>, %y: memref<1xf64>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<1xbf16>
  %b = arith.extf %a : bf16 to f64
  tir.store %b, %y[0] : memref<1xf64>
}
// CHECK-LABEL: @double
// CHECK:         llvm.fpext {{.*}} : f32 to f64

tir.func @sum(%x: memref<16xbf16>, %y: memref<16xbf16>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[lane] : memref<16xbf16>, vector<16xbf16>
  %b = arith.constant dense<-1.5> : vector<16xbf16>
  %c = arith.addf %a, %b : vector<16xbf16>
  tir.store %c, %y[lane] : memref<16xbf16>, vector<16xbf16>
}
// -16448 is 0xBFC0. Without a target any machine may round by an instruction.
// CHECK-LABEL: @sum
// CHECK:         llvm.mlir.constant(dense<-16448> : vector<16xi16>)
// CHECK:         %[[SUM:.*]] = llvm.fadd {{.*}} : vector<16xf32>
// CHECK-NEXT:    %[[ROUNDED:.*]] = llvm.fptrunc %[[SUM]] : vector<16xf32> to vector<16xbf16>
// CHECK-NEXT:    llvm.bitcast %[[ROUNDED]] : vector<16xbf16> to vector<16xi16>

tir.func @sum_of_nine(%x: memref<9xbf16>, %y: memref<9xbf16>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[lane] : memref<9xbf16>, vector<9xbf16>
  %c = arith.addf %a, %a : vector<9xbf16>
  tir.store %c, %y[lane] : memref<9xbf16>, vector<9xbf16>
}
// CHECK-LABEL: @sum_of_nine
// CHECK-NOT:     bf16
// CHECK:         llvm.store {{.*}} : vector<9xi16>

tir.func @compared(%x: memref<8xbf16>, %y: memref<8xi1>, %z: memref<8xi16>) attributes {outputs = 2 : i64} {
  %a = tir.load %x[lane] : memref<8xbf16>, vector<8xbf16>
  %b = tir.compare ogt, %a, %a : vector<8xbf16>
  tir.store %b, %y[lane] : memref<8xi1>, vector<8xi1>
  %c = tir.bitcast %a : vector<8xbf16> to vector<8xi16>
  tir.store %c, %z[lane] : memref<8xi16>, vector<8xi16>
}
// CHECK-LABEL: @compared
// CHECK:         llvm.fcmp "ogt" {{.*}} : vector<8xf32>
// CHECK-NOT:     f32
// CHECK:         llvm.store {{.*}} : vector<8xi16>
