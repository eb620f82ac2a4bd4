// RUN: opt-tool %s -p canonicalize,cse,dce --verify-locations | filecheck %s

// CHECK: %sum = arith.addi %left, %right : i32
// CHECK-NEXT: %product = arith.muli %sum, %left : i32
// CHECK-NEXT: func.return %product : i32
func.func @f(%left: i32, %right: i32) -> i32 {
  %sum = arith.addi %left, %right : i32
  %unused = arith.subi %left, %right : i32
  %product = arith.muli %sum, %left : i32
  return %product : i32
}
