// RUN: opt-tool %s --canonicalize --cse --mlir-print-ir-after-all --mlir-print-ir-after-change -o %t 2>&1 | filecheck %s
// RUN: opt-tool %s --canonicalize --cse --print-ir-after=canonicalize --print-ir-after-change --print-op-stats -o %t 2>&1 | filecheck %s --check-prefix=CHECK-NOTHING
// RUN: not opt-tool %s --load %S/inputs/faulty.py --cse --faulty-unsupported --print-ir-after-all --print-ir-after-failure -o %t 2>&1 | filecheck %s --check-prefix=CHECK-FAILURE
// As in mlir-opt -after-change and -after-failure narrow what -after and -after-all print.

// CHECK-NOT: After canonicalize
// CHECK:     After cse
// CHECK-NOTHING-NOT: IR Dump
// CHECK-NOTHING:     Operations encountered
// CHECK-NOTHING-NOT: IR Dump
// CHECK-FAILURE-NOT: After cse
// CHECK-FAILURE:     After faulty-unsupported Failed
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  %c = arith.muli %a, %b : i32
  return %c : i32
}
