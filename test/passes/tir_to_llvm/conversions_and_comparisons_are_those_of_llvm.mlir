// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// An index has 64 bits. What a float becomes is one number, even where it has no result.

tir.func @f(%x: memref<8xi32>, %y: memref<8xi32>) attributes {outputs = 1 : i64} {
  %i = tir.load %x[0] : memref<8xi32>
  %f = arith.bitcast %i : i32 to f32
  %long = arith.extsi %i : i32 to i64
  %wide = arith.extui %i : i32 to i64
  %short = arith.trunci %i : i32 to i8
  %signed = arith.sitofp %short : i8 to f32
  %unsigned = arith.uitofp %short : i8 to f32
  %double = arith.extf %f : f32 to f64
  %half = arith.truncf %f : f32 to f16
  %index = arith.index_cast %i : i32 to index
  %back = arith.index_cast %index : index to i8
  %s = arith.fptosi %double : f64 to i32
  %u = arith.fptoui %half : f16 to i32
  %less = arith.cmpf olt, %signed, %unsigned : f32
  %equal = arith.cmpi eq, %long, %wide : i64
  %both = arith.andi %less, %equal : i1
  %same = arith.cmpi eq, %short, %back : i8
  %all = arith.andi %both, %same : i1
  %r = arith.select %all, %s, %u : i32
  tir.store %r, %y[0] : memref<8xi32>
}
// CHECK:      %f = llvm.bitcast %i : i32 to f32
// CHECK:      %long = llvm.sext %i : i32 to i64
// CHECK:      %wide = llvm.zext %i : i32 to i64
// CHECK:      %short = llvm.trunc %i : i32 to i8
// CHECK:      %signed = llvm.sitofp %short : i8 to f32
// CHECK:      %unsigned = llvm.uitofp %short : i8 to f32
// CHECK:      %double = llvm.fpext %f : f32 to f64
// CHECK:      %half = llvm.fptrunc %f : f32 to f16
// CHECK:      %index = llvm.sext %i : i32 to i64
// CHECK:      %back = llvm.trunc %index : i64 to i8
// CHECK:      %{{[0-9]+}} = llvm.fptosi %double : f64 to i32
// CHECK:      %s = llvm.freeze %{{[0-9]+}} : i32
// CHECK:      %{{[0-9]+}} = llvm.fptoui %half : f16 to i32
// CHECK:      %u = llvm.freeze %{{[0-9]+}} : i32
// CHECK:      %{{[0-9]+}} = llvm.fcmp "olt" %signed, %unsigned : f32
// CHECK:      %{{[0-9]+}} = llvm.icmp "eq" %long, %wide : i64
// CHECK:      %{{[0-9]+}} = llvm.and %{{[0-9]+}}, %{{[0-9]+}} : i1
// CHECK:      %{{[0-9]+}} = llvm.icmp "eq" %short, %back : i8
// CHECK:      %{{[0-9]+}} = llvm.and %{{[0-9]+}}, %{{[0-9]+}} : i1
// CHECK:      %r = llvm.select %{{[0-9]+}}, %s, %u : i1, i32
