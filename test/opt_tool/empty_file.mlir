// RUN: opt-tool %s | filecheck %s
// CHECK: builtin.module {
// CHECK-NEXT: }
