// RUN: not opt-tool %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s

// CHECK: mlir:[[# @LINE + 1]]:1: error: expected error "nothing of the kind" was not produced
// expected-error@+1 {{nothing of the kind}}
func.func private @right()
// -----
// CHECK: mlir:[[# @LINE + 2]]:1: error: unexpected error: unknown operation 'te.nothing'
// CHECK: mlir:[[# @LINE + 2]]:1: error: expected error "other text" was not produced
"te.nothing"() : () -> ()
// expected-error@-1 {{other text}}
// -----
// CHECK: mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: bad expectation: found the start of a regular expression but no end '{{[}]}}}'
// expected-error-re {{a {{[0-9]+ b}}
func.func private @right()
