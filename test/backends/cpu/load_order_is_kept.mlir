// RUN: python -m lamina.backends.cpu.translate %s | filecheck %s
// The order of loads is the schedule's; constants are operands; the accumulator is a phi.

// CHECK:      define void @kernel(ptr %0, i64 %1, i64 %2)
// CHECK-NEXT: bb0:
// CHECK-NEXT:   %3 = load ptr, ptr %0, align 8
// CHECK-NEXT:   br label %bb1
// CHECK-NEXT: bb1:
// CHECK-NEXT:   %4 = phi i64 [ %1, %bb0 ], [ %15, %bb1 ]
// CHECK-NEXT:   %5 = phi <16 x float> [ zeroinitializer, %bb0 ], [ %14, %bb1 ]
// CHECK-NEXT:   %6 = getelementptr float, ptr %3, i64 %4
// CHECK-NEXT:   %7 = load <16 x float>, ptr %6, align 4
// CHECK-NEXT:   %8 = getelementptr float, ptr %6, i32 16
// CHECK-NEXT:   %9 = load float, ptr %8, align 4
// CHECK-NEXT:   %10 = insertelement <16 x float> poison, float %9, i32 0
// CHECK-NEXT:   %11 = shufflevector <16 x float> %10, <16 x float> poison, <16 x i32> zeroinitializer
// CHECK-NEXT:   %12 = fmul contract <16 x float> %7, splat (float 0x3FE0000000000000)
// CHECK-NEXT:   %13 = call <16 x float> @llvm.fma.v16f32(<16 x float> %11, <16 x float> %12, <16 x float> %5)
// CHECK-NEXT:   %14 = fadd reassoc <16 x float> %13, %7
// CHECK-NEXT:   %15 = add nsw i64 %4, 1
// CHECK-NEXT:   %16 = icmp slt i64 %15, %2
// CHECK-NEXT:   br i1 %16, label %bb1, label %bb2
// CHECK-NEXT: bb2:
// CHECK-NEXT:   store <16 x float> %14, ptr %3, align 4
// CHECK-NEXT:   ret void
// CHECK:      declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
llvm.func @kernel(%args: !llvm.ptr, %lo: i64, %hi: i64) {
  %zero = llvm.mlir.constant(dense<0.0> : vector<16xf32>) : vector<16xf32>
  %half = llvm.mlir.constant(dense<0.5> : vector<16xf32>) : vector<16xf32>
  %poison = llvm.mlir.poison : vector<16xf32>
  %one = llvm.mlir.constant(1 : i64) : i64
  %first = llvm.mlir.constant(0 : i32) : i32
  %p = llvm.load %args {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  llvm.br ^body(%lo, %zero : i64, vector<16xf32>)
^body(%i: i64, %acc: vector<16xf32>):
  %q = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %w = llvm.load %q {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  %r = llvm.getelementptr %q[16] : (!llvm.ptr) -> !llvm.ptr, f32
  %x = llvm.load %r {alignment = 4 : i64} : !llvm.ptr -> f32
  %e = llvm.insertelement %x, %poison[%first : i32] : vector<16xf32>
  %b = llvm.shufflevector %e, %poison [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] : vector<16xf32>
  %m = llvm.fmul %w, %half {fastmathFlags = #llvm.fastmath<contract>} : vector<16xf32>
  %f = llvm.intr.fma(%b, %m, %acc) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %s = llvm.fadd %f, %w {fastmathFlags = #llvm.fastmath<reassoc>} : vector<16xf32>
  %n = llvm.add %i, %one overflow<nsw> : i64
  %c = llvm.icmp "slt" %n, %hi : i64
  llvm.cond_br %c, ^body(%n, %s : i64, vector<16xf32>), ^exit
^exit:
  llvm.store %s, %p {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  llvm.return
}
