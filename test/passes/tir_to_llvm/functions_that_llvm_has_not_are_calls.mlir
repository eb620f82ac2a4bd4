// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// The C library has them, for a float with the suffix f.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<8xf32>
  %b = tir.load %x[1] : memref<8xf32>
  %erf = math.erf %a : f32
  tir.store %erf, %y[0] : memref<8xf32>
  %asinh = math.asinh %a : f32
  tir.store %asinh, %y[1] : memref<8xf32>
  %acosh = math.acosh %a : f32
  tir.store %acosh, %y[2] : memref<8xf32>
  %atanh = math.atanh %a : f32
  tir.store %atanh, %y[3] : memref<8xf32>
  %cbrt = math.cbrt %a : f32
  tir.store %cbrt, %y[4] : memref<8xf32>
  %expm1 = math.expm1 %a : f32
  tir.store %expm1, %y[5] : memref<8xf32>
  %log1p = math.log1p %a : f32
  tir.store %log1p, %y[6] : memref<8xf32>
  %atan2 = math.atan2 %a, %b : f32
  tir.store %atan2, %y[7] : memref<8xf32>
}
// CHECK:      %erf = llvm.call @erff(%a) : (f32) -> f32
// CHECK:      %asinh = llvm.call @asinhf(%a) : (f32) -> f32
// CHECK:      %acosh = llvm.call @acoshf(%a) : (f32) -> f32
// CHECK:      %atanh = llvm.call @atanhf(%a) : (f32) -> f32
// CHECK:      %cbrt = llvm.call @cbrtf(%a) : (f32) -> f32
// CHECK:      %expm1 = llvm.call @expm1f(%a) : (f32) -> f32
// CHECK:      %log1p = llvm.call @log1pf(%a) : (f32) -> f32
// CHECK:      %{{[0-9]+}} = llvm.call @atan2f(%a, %b) : (f32, f32) -> f32
