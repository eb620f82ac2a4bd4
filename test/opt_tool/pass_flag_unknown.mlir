// RUN: not opt-tool %s --relay-fold-constnt 2>&1 | filecheck %s
// RUN: not opt-tool %s -csee 2>&1 | filecheck %s --check-prefix=CHECK-DASH
// RUN: not opt-tool %s -mlir-print-op-generics 2>&1 | filecheck %s --check-prefix=CHECK-OPTION
// RUN: not opt-tool %s -qqqqqq 2>&1 | filecheck %s --check-prefix=CHECK-NONE

// CHECK: error: unknown option '--relay-fold-constnt'; did you mean '--relay-fold-constant'
// CHECK-DASH: error: unknown option '-csee'; did you mean '--cse'
// CHECK-OPTION: error: unknown option '-mlir-print-op-generics'; did you mean '--mlir-print-op-generic'
// CHECK-NONE: error: unknown option '-qqqqqq'; see `opt-tool --help` and `opt-tool --list-passes`
