// RUN: not opt-tool %s --cse -p canonicalize 2>&1 | filecheck %s
// RUN: not opt-tool %s --pass-pipeline=builtin.module\(canonicalize\) -cse 2>&1 | filecheck %s --check-prefix=CHECK-DASH

// CHECK: error: --cse does not go with -p; name all passes in one of the two ways
// CHECK-DASH: error: -cse does not go with -p; name all passes in one of the two ways
