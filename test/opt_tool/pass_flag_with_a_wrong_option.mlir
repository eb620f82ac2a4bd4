// RUN: not opt-tool %s --view-op-graph=print-atrs=1 2>&1 | filecheck %s
// RUN: not opt-tool %s --view-op-graph=max-label-len=many 2>&1 | filecheck %s --check-prefix=CHECK-TYPE
// RUN: not opt-tool %s --cse=x 2>&1 | filecheck %s --check-prefix=CHECK-NONE

// CHECK: error: pass 'view-op-graph' has no option 'print-atrs'; did you mean 'print_attrs'?
// CHECK-TYPE: error: option 'max-label-len' of pass 'view-op-graph' takes int, got many
// CHECK-NONE: error: pass 'cse' has no option 'x'; it has none
