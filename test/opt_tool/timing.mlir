// RUN: opt-tool %s -p cse --timing -o %t 2>&1 | filecheck %s
// RUN: opt-tool %s -p cse --timing=json -o %t 2>&1 | filecheck %s --check-prefix=JSON

// CHECK: wall time
// CHECK: (100.0%) Total
// CHECK: parse
// CHECK: cse
// CHECK: verify after cse
// CHECK: print
// JSON: {"name": "Total", "seconds": {{.*}}"children": {{\[}}{"name": "parse"
func.func private @f()
