// RUN: opt-tool --show-dialects | filecheck %s
// RUN: opt-tool --list-passes | filecheck %s --check-prefix=PASSES
// RUN: opt-tool --help-pass apply-pdl | filecheck %s --check-prefix=HELP
// RUN: not opt-tool --help-pass apply-pd 2>&1 | filecheck %s --check-prefix=WRONG

// CHECK: arith
// CHECK: llvm (lamina)
// CHECK: relay (lamina)
// CHECK: te (lamina)
// CHECK: tir (lamina)
// PASSES: te-to-tir {{.*}}
// PASSES: canonicalize Applies all canonicalization patterns.
// HELP: apply-pdl
// HELP: pdl-file: str (default none)
// WRONG: error: unknown pass 'apply-pd'; did you mean 'apply-pdl'
