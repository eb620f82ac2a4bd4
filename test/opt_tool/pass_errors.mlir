// RUN: not opt-tool %s --load %S/inputs/faulty.py -p faulty-refuse 2>&1 | filecheck %s --check-prefix=REFUSE
// RUN: not opt-tool %s --load %S/inputs/faulty.py -p faulty-unsupported 2>&1 | filecheck %s --check-prefix=NOTYET
// RUN: not opt-tool %s --load %S/inputs/faulty.py -p faulty-forget --verify-locations 2>&1 | filecheck %s --check-prefix=FORGET
// RUN: opt-tool %s --load %S/inputs/faulty.py -p faulty-talk --verify-diagnostics

// REFUSE: pass_errors.mlir:[[# @LINE + 8]]:8: error: arith.addi: sums are not wanted; subtract
// REFUSE-NEXT: %y = arith.addi %x, %x : i32
// REFUSE-NOT: Traceback
// NOTYET: pass_errors.mlir:[[# @LINE + 5]]:8: error: cannot do this yet
// FORGET: error: pass 'faulty-forget' leaves test.op without a location
func.func @f(%x: i32) -> i32 {
  // expected-warning@+2 {{a sum is slow}}
  // expected-remark@+1 {{two operands}}
  %y = arith.addi %x, %x : i32
  return %y : i32
}
