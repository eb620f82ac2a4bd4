// RUN: not opt-tool %s 2>&1 | filecheck %s --strict-whitespace

//      CHECK:caret_and_note.mlir:[[# @LINE + 8]]:8: error: arith.constant: {{.*}}
// CHECK-NEXT:  %c = "arith.constant"() : () -> i32
// CHECK-NEXT:       ^~~~~~~~~~~~~~
// CHECK-NEXT:caret_and_note.mlir:[[# @LINE + 5]]:8: note: see current operation: %c = "arith.constant"() : () -> i32
//  CHECK-NOT:Traceback
//  CHECK-NOT:func.func
func.func @f() {
  // The op misses its value.
  %c = "arith.constant"() : () -> i32
  return
}
