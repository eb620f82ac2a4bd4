// RUN: opt-tool %s --elide-elements-larger=4 | filecheck %s
// RUN: opt-tool %s | filecheck %s --check-prefix=WHOLE

// CHECK: arith.constant dense_resource<__elided__> : tensor<6xi32>
// WHOLE: dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
%0 = arith.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
// A splat is short whatever its size.
// CHECK: arith.constant dense<7> : tensor<9xi32>
%1 = arith.constant dense<7> : tensor<9xi32>
// CHECK: arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
%2 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
