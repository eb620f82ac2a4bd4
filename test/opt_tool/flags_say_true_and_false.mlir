// RUN: opt-tool %s --print-op-generic=true -mlir-print-debuginfo=false --verify-each=false | filecheck %s
// RUN: not opt-tool %s --print-op-generic=maybe 2>&1 | filecheck %s --check-prefix=CHECK-MAYBE
// RUN: not opt-tool %s --verify-each=maybe 2>&1 | filecheck %s --check-prefix=CHECK-EACH

// CHECK:     "func.func"
// CHECK-NOT: loc(
// CHECK-MAYBE: error: argument --print-op-generic: ignored explicit argument 'maybe'
// CHECK-EACH: error: argument --verify-each: invalid choice: 'maybe'
func.func private @g()
