// RUN: opt-tool %s | opt-tool | filecheck %s
// Float functions, with flags where given.

// CHECK-LABEL: llvm.func @float_functions
llvm.func @float_functions(%i: i32, %j: i32, %k: i64, %f: f32, %d: f64, %h: f16, %v: vector<16xf32>, %w: vector<16xf32>, %n: vector<16xi32>, %m: vector<16xi1>, %p: !llvm.ptr, %q: !llvm.ptr, %c: i1, %ps: vector<16x!llvm.ptr>) {
  // CHECK-NEXT: %0 = llvm.intr.acos(%v) : (vector<16xf32>) -> vector<16xf32>
  %0 = llvm.intr.acos(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %1 = llvm.intr.asin(%v) : (vector<16xf32>) -> vector<16xf32>
  %1 = llvm.intr.asin(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %2 = llvm.intr.atan(%v) : (vector<16xf32>) -> vector<16xf32>
  %2 = llvm.intr.atan(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %3 = llvm.intr.ceil(%v) : (vector<16xf32>) -> vector<16xf32>
  %3 = llvm.intr.ceil(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %4 = llvm.intr.cos(%v) : (vector<16xf32>) -> vector<16xf32>
  %4 = llvm.intr.cos(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %5 = llvm.intr.cosh(%v) : (vector<16xf32>) -> vector<16xf32>
  %5 = llvm.intr.cosh(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %6 = llvm.intr.exp(%v) : (vector<16xf32>) -> vector<16xf32>
  %6 = llvm.intr.exp(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %7 = llvm.intr.exp10(%v) : (vector<16xf32>) -> vector<16xf32>
  %7 = llvm.intr.exp10(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %8 = llvm.intr.exp2(%v) : (vector<16xf32>) -> vector<16xf32>
  %8 = llvm.intr.exp2(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %9 = llvm.intr.fabs(%v) : (vector<16xf32>) -> vector<16xf32>
  %9 = llvm.intr.fabs(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %10 = llvm.intr.floor(%v) : (vector<16xf32>) -> vector<16xf32>
  %10 = llvm.intr.floor(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %11 = llvm.intr.log(%v) : (vector<16xf32>) -> vector<16xf32>
  %11 = llvm.intr.log(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %12 = llvm.intr.log10(%v) : (vector<16xf32>) -> vector<16xf32>
  %12 = llvm.intr.log10(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %13 = llvm.intr.log2(%v) : (vector<16xf32>) -> vector<16xf32>
  %13 = llvm.intr.log2(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %14 = llvm.intr.nearbyint(%v) : (vector<16xf32>) -> vector<16xf32>
  %14 = llvm.intr.nearbyint(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %15 = llvm.intr.rint(%v) : (vector<16xf32>) -> vector<16xf32>
  %15 = llvm.intr.rint(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %16 = llvm.intr.round(%v) : (vector<16xf32>) -> vector<16xf32>
  %16 = llvm.intr.round(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %17 = llvm.intr.roundeven(%v) : (vector<16xf32>) -> vector<16xf32>
  %17 = llvm.intr.roundeven(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %18 = llvm.intr.sin(%v) : (vector<16xf32>) -> vector<16xf32>
  %18 = llvm.intr.sin(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %19 = llvm.intr.sinh(%v) : (vector<16xf32>) -> vector<16xf32>
  %19 = llvm.intr.sinh(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %20 = llvm.intr.sqrt(%v) : (vector<16xf32>) -> vector<16xf32>
  %20 = llvm.intr.sqrt(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %21 = llvm.intr.tan(%v) : (vector<16xf32>) -> vector<16xf32>
  %21 = llvm.intr.tan(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %22 = llvm.intr.tanh(%v) : (vector<16xf32>) -> vector<16xf32>
  %22 = llvm.intr.tanh(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %23 = llvm.intr.trunc(%v) : (vector<16xf32>) -> vector<16xf32>
  %23 = llvm.intr.trunc(%v) : (vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %24 = llvm.intr.atan2(%f, %f) : (f32, f32) -> f32
  %24 = llvm.intr.atan2(%f, %f) : (f32, f32) -> f32
  // CHECK-NEXT: %25 = llvm.intr.copysign(%f, %f) : (f32, f32) -> f32
  %25 = llvm.intr.copysign(%f, %f) : (f32, f32) -> f32
  // CHECK-NEXT: %26 = llvm.intr.maximum(%f, %f) : (f32, f32) -> f32
  %26 = llvm.intr.maximum(%f, %f) : (f32, f32) -> f32
  // CHECK-NEXT: %27 = llvm.intr.maxnum(%f, %f) : (f32, f32) -> f32
  %27 = llvm.intr.maxnum(%f, %f) : (f32, f32) -> f32
  // CHECK-NEXT: %28 = llvm.intr.minimum(%f, %f) : (f32, f32) -> f32
  %28 = llvm.intr.minimum(%f, %f) : (f32, f32) -> f32
  // CHECK-NEXT: %29 = llvm.intr.minnum(%f, %f) : (f32, f32) -> f32
  %29 = llvm.intr.minnum(%f, %f) : (f32, f32) -> f32
  // CHECK-NEXT: %30 = llvm.intr.pow(%f, %f) : (f32, f32) -> f32
  %30 = llvm.intr.pow(%f, %f) : (f32, f32) -> f32
  // CHECK-NEXT: %31 = llvm.intr.fma(%v, %v, %w) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %31 = llvm.intr.fma(%v, %v, %w) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %32 = llvm.intr.fmuladd(%v, %v, %w) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %32 = llvm.intr.fmuladd(%v, %v, %w) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %33 = llvm.intr.fma(%f, %f, %f) {fastmathFlags = #llvm.fastmath<contract>} : (f32, f32, f32) -> f32
  %33 = llvm.intr.fma(%f, %f, %f) {fastmathFlags = #llvm.fastmath<contract>} : (f32, f32, f32) -> f32
  llvm.return
}
