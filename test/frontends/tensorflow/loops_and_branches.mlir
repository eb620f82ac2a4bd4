// RUN: opt-tool %S/../../unit/inputs/tensorflow/branches | filecheck %s
// A choice by values is one of Relay's; a loop is a function that calls itself last; known trips are put in place.

// CHECK:      %cond = relay.if %Greater -> tensor<4xf32> {
// CHECK:      %while_mul = relay.multiply %x, %Variable
// CHECK-NEXT: %while_mul_1 = relay.multiply %while_mul, %Variable
// CHECK-NEXT: %while_mul_2 = relay.multiply %while_mul_1, %Variable
// CHECK:      %loop = relay.fn self %self
// CHECK:      relay.if %while_{{[0-9_]*}}Greater
// CHECK:      relay.call %self(
