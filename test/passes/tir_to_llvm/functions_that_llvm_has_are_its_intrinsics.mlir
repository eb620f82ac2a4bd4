// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Where the machine has no instruction for one, LLVM calls the C library.

tir.func @f(%x: memref<32xf32>, %y: memref<32xf32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<32xf32>
  %b = tir.load %x[1] : memref<32xf32>
  %sqrt = math.sqrt %a : f32
  tir.store %sqrt, %y[0] : memref<32xf32>
  %absf = math.absf %a : f32
  tir.store %absf, %y[1] : memref<32xf32>
  %floor = math.floor %a : f32
  tir.store %floor, %y[2] : memref<32xf32>
  %ceil = math.ceil %a : f32
  tir.store %ceil, %y[3] : memref<32xf32>
  %trunc = math.trunc %a : f32
  tir.store %trunc, %y[4] : memref<32xf32>
  %roundeven = math.roundeven %a : f32
  tir.store %roundeven, %y[5] : memref<32xf32>
  %round = math.round %a : f32
  tir.store %round, %y[6] : memref<32xf32>
  %exp = math.exp %a : f32
  tir.store %exp, %y[7] : memref<32xf32>
  %exp2 = math.exp2 %a : f32
  tir.store %exp2, %y[8] : memref<32xf32>
  %log = math.log %a : f32
  tir.store %log, %y[9] : memref<32xf32>
  %log2 = math.log2 %a : f32
  tir.store %log2, %y[10] : memref<32xf32>
  %log10 = math.log10 %a : f32
  tir.store %log10, %y[11] : memref<32xf32>
  %sin = math.sin %a : f32
  tir.store %sin, %y[12] : memref<32xf32>
  %cos = math.cos %a : f32
  tir.store %cos, %y[13] : memref<32xf32>
  %tan = math.tan %a : f32
  tir.store %tan, %y[14] : memref<32xf32>
  %asin = math.asin %a : f32
  tir.store %asin, %y[15] : memref<32xf32>
  %acos = math.acos %a : f32
  tir.store %acos, %y[16] : memref<32xf32>
  %atan = math.atan %a : f32
  tir.store %atan, %y[17] : memref<32xf32>
  %sinh = math.sinh %a : f32
  tir.store %sinh, %y[18] : memref<32xf32>
  %cosh = math.cosh %a : f32
  tir.store %cosh, %y[19] : memref<32xf32>
  %tanh = math.tanh %a : f32
  tir.store %tanh, %y[20] : memref<32xf32>
  %powf = math.powf %a, %b : f32
  tir.store %powf, %y[21] : memref<32xf32>
  %copysign = math.copysign %a, %b : f32
  tir.store %copysign, %y[22] : memref<32xf32>
  %fma = math.fma %a, %b, %a : f32
  tir.store %fma, %y[24] : memref<32xf32>
}
// CHECK:      %sqrt = llvm.intr.sqrt(%a) : (f32) -> f32
// CHECK:      %absf = llvm.intr.fabs(%a) : (f32) -> f32
// CHECK:      %floor = llvm.intr.floor(%a) : (f32) -> f32
// CHECK:      %ceil = llvm.intr.ceil(%a) : (f32) -> f32
// CHECK:      %trunc = llvm.intr.trunc(%a) : (f32) -> f32
// CHECK:      %roundeven = llvm.intr.roundeven(%a) : (f32) -> f32
// CHECK:      %round = llvm.intr.round(%a) : (f32) -> f32
// CHECK:      %exp = llvm.intr.exp(%a) : (f32) -> f32
// CHECK:      %exp2 = llvm.intr.exp2(%a) : (f32) -> f32
// CHECK:      %log = llvm.intr.log(%a) : (f32) -> f32
// CHECK:      %log2 = llvm.intr.log2(%a) : (f32) -> f32
// CHECK:      %log10 = llvm.intr.log10(%a) : (f32) -> f32
// CHECK:      %sin = llvm.intr.sin(%a) : (f32) -> f32
// CHECK:      %cos = llvm.intr.cos(%a) : (f32) -> f32
// CHECK:      %tan = llvm.intr.tan(%a) : (f32) -> f32
// CHECK:      %asin = llvm.intr.asin(%a) : (f32) -> f32
// CHECK:      %acos = llvm.intr.acos(%a) : (f32) -> f32
// CHECK:      %atan = llvm.intr.atan(%a) : (f32) -> f32
// CHECK:      %sinh = llvm.intr.sinh(%a) : (f32) -> f32
// CHECK:      %cosh = llvm.intr.cosh(%a) : (f32) -> f32
// CHECK:      %tanh = llvm.intr.tanh(%a) : (f32) -> f32
// CHECK:      %{{[0-9]+}} = llvm.intr.pow(%a, %b) : (f32, f32) -> f32
// CHECK:      %{{[0-9]+}} = llvm.intr.copysign(%a, %b) : (f32, f32) -> f32
// CHECK:      %fma = llvm.intr.fma(%a, %b, %a) : (f32, f32, f32) -> f32
