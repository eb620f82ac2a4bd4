// RUN: python -m lamina.backends.cpu.translate %s | filecheck %s
// A phi has one value for each predecessor, so the second edge passes through a block of its own.

// CHECK:      bb0:
// CHECK-NEXT:   br i1 %2, label %bb1, label %bb0.0
// CHECK-NEXT: bb1:
// CHECK-NEXT:   %3 = phi i32 [ %0, %bb0 ], [ %1, %bb0.0 ]
// CHECK-NEXT:   ret i32 %3
// CHECK-NEXT: bb0.0:
// CHECK-NEXT:   br label %bb1
llvm.func @choose(%a: i32, %b: i32, %c: i1) -> i32 {
  llvm.cond_br %c, ^end(%a : i32), ^end(%b : i32)
^end(%x: i32):
  llvm.return %x : i32
}
