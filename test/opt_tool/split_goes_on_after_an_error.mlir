// RUN: not opt-tool %s --split-input-file 2>&1 | filecheck %s

// The second piece is wrong, at its line of the file; the others are printed.
// CHECK: mlir:[[# @LINE + 5]]:1: error: unknown operation 'arith.ad'
// CHECK: @first
// CHECK: @third
func.func private @first()
// -----
arith.ad
// -----
func.func private @third()
