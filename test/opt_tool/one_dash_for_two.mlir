// RUN: opt-tool -split-input-file -allow-unregistered-dialect -pass-pipeline 'builtin.module(cse,canonicalize)' %s | filecheck %s
// RUN: opt-tool %s -split-input-file -verify-diagnostics -allow-unregistered-dialect
// RUN: opt-tool %s -split-input-file -allow-unregistered-dialect -cse -dump-pass-pipeline -o %t 2>&1 | filecheck %s --check-prefix=CHECK-PIPELINE

// CHECK:      "a.b"(%y, %y)
// CHECK:      // -----
// CHECK:      func.func private @g
// CHECK-PIPELINE: builtin.module(cse)
func.func @f(%x: i32) {
  %y = arith.addi %x, %x : i32
  %z = arith.addi %x, %x : i32
  "a.b"(%y, %z) : (i32, i32) -> ()
  return
}
// -----
func.func private @g()
