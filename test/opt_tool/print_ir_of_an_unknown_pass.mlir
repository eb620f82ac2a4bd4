// RUN: not opt-tool %s --cse --print-ir-before=csee 2>&1 | filecheck %s
// RUN: not opt-tool %s --cse --mlir-print-ir-after=cse,relay-fuse-op 2>&1 | filecheck %s --check-prefix=CHECK-SECOND

// CHECK: error: --print-ir-before: unknown pass 'csee'; did you mean 'cse'
// CHECK-SECOND: error: --print-ir-after: unknown pass 'relay-fuse-op'; did you mean 'relay-fuse-ops'
