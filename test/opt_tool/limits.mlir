// RUN: opt-tool %s --split-input-file --verify-diagnostics

// expected-error@+1 {{integer width is limited to 16777215 bits}}
%0 = "test.op"() : () -> i100000000000000000000
// -----
// expected-error@+1 {{dimension does not fit in 64 bits}}
%0 = "test.op"() : () -> tensor<99999999999999999999xf32>
// -----
// expected-error@+1 {{constant of 1000000000000 elements; the limit of a text is}}
%0 = arith.constant dense<0> : tensor<1000000000000xi32>
// -----
// expected-error@+1 {{constant of 1000000000000 elements; the limit of a text is}}
%0 = arith.constant dense<0.0> : tensor<1000000x1000000xf32>
// -----
// expected-error@+1 {{the shape of a constant is static}}
%0 = arith.constant dense<0.0> : tensor<?xf32>
// -----
// expected-error@+1 {{expected a tensor, memref or vector of numbers}}
%0 = arith.constant dense<0.0> : f32
// -----
// expected-error@+1 {{type of the constant expected}}
%0 = arith.constant dense<0.0> : 3
