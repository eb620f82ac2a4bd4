// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Of two zeros either may be the larger one: NaN is what maximum and minimum keep.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<8xf32>
  %b = tir.load %x[1] : memref<8xf32>
  %addf = arith.addf %a, %b : f32
  tir.store %addf, %y[0] : memref<8xf32>
  %subf = arith.subf %a, %b : f32
  tir.store %subf, %y[1] : memref<8xf32>
  %mulf = arith.mulf %a, %b : f32
  tir.store %mulf, %y[2] : memref<8xf32>
  %divf = arith.divf %a, %b : f32
  tir.store %divf, %y[3] : memref<8xf32>
  %maximumf = arith.maximumf %a, %b : f32
  tir.store %maximumf, %y[4] : memref<8xf32>
  %minimumf = arith.minimumf %a, %b : f32
  tir.store %minimumf, %y[5] : memref<8xf32>
  %maxnumf = arith.maxnumf %a, %b : f32
  tir.store %maxnumf, %y[6] : memref<8xf32>
  %minnumf = arith.minnumf %a, %b : f32
  tir.store %minnumf, %y[7] : memref<8xf32>
  %negf = arith.negf %a : f32
  tir.store %negf, %y[7] : memref<8xf32>
}
// CHECK:      %{{[0-9]+}} = llvm.fadd %a, %b : f32
// CHECK:      %{{[0-9]+}} = llvm.fsub %a, %b : f32
// CHECK:      %{{[0-9]+}} = llvm.fmul %a, %b : f32
// CHECK:      %{{[0-9]+}} = llvm.fdiv %a, %b : f32
// CHECK:      %{{[0-9]+}} = llvm.intr.maximum(%a, %b) {fastmathFlags = #llvm.fastmath<nsz>} : (f32, f32) -> f32
// CHECK:      %{{[0-9]+}} = llvm.intr.minimum(%a, %b) {fastmathFlags = #llvm.fastmath<nsz>} : (f32, f32) -> f32
// CHECK:      %{{[0-9]+}} = llvm.intr.maxnum(%a, %b) : (f32, f32) -> f32
// CHECK:      %{{[0-9]+}} = llvm.intr.minnum(%a, %b) : (f32, f32) -> f32
// CHECK:      %negf = llvm.fneg %a : f32
