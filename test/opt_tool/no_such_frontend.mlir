// RUN: not opt-tool -f relay-txt %s 2>&1 | filecheck %s

// CHECK: error: no frontend 'relay-txt'; did you mean 'relay-text'?
