// RUN: not opt-tool %s -pcse,zz 2>&1 | filecheck %s

// CHECK: error: unknown option '-pcse,zz'; its value stands apart: -p cse,zz
