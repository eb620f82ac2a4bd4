// RUN: not opt-tool %s --cse --debug-only=relay-simplify-exp 2>&1 | filecheck %s

// CHECK: error: --debug-only: unknown pass 'relay-simplify-exp'; did you mean 'relay-simplify-expr'
