// RUN: opt-tool %S/inputs/arrays.mlir --run @main --output %t.npz
// RUN: opt-tool %S/inputs/block.mlir -p 'relay-simplify-inference,relay-eliminate-common-subexpr,relay-fold-constant,relay-fold-scale-axis,relay-simplify-expr,relay-canonicalize-ops,relay-fold-constant,relay-convert-layout{block=16},cpu-pack-weights,relay-simplify-expr,relay-fold-constant,relay-eliminate-common-subexpr,relay-dead-code-elimination,relay-fuse-ops,relay-to-te,cpu-schedule,te-to-tir,tir-lower-blocks,tir-simplify,tir-vectorize-loop,tir-expand-math,tir-fuse-multiply-add,tir-plan-memory,tir-to-llvm' | filecheck %s --check-prefix LEVEL
// RUN: opt-tool %S/inputs/block.mlir -p 'relay-simplify-inference,relay-eliminate-common-subexpr,relay-fold-constant,relay-fold-scale-axis,relay-simplify-expr,relay-canonicalize-ops,relay-fold-constant,relay-convert-layout{block=16},cpu-pack-weights,relay-simplify-expr,relay-fold-constant,relay-eliminate-common-subexpr,relay-dead-code-elimination,relay-fuse-ops,relay-to-te,cpu-schedule,te-to-tir,tir-lower-blocks,tir-simplify,tir-vectorize-loop,tir-expand-math,tir-fuse-multiply-add,tir-plan-memory,tir-to-llvm' --run @main --input %t.npz | filecheck %s
// llvm: compiled and run.

// LEVEL: llvm.func

// CHECK: y: float32[1, 4, 8, 8]
// CHECK-NEXT: {{\[\[}}{{\[\[}} 0.  ,  5.  ,  1.  , ...,  0.  ,  1.  , 18.  ],
// CHECK-NEXT: [ 0.  ,  1.  ,  2.  , ...,  2.  ,  5.  ,  9.  ],
// CHECK-NEXT: [ 2.  , -2.  , 22.  , ..., -1.  , 10.  , -2.  ],
// CHECK-NEXT: ...,
// CHECK-NEXT: [ 4.  , 23.  , -1.  , ..., 19.  ,  0.  ,  1.  ],
// CHECK-NEXT: [ 3.  , 16.  ,  1.  , ..., 11.  ,  9.  ,  4.  ],
// CHECK-NEXT: [ 8.  ,  2.  ,  0.  , ..., -2.  ,  6.  ,  0.  ]],
// CHECK: {{\[\[}} 0.  ,  1.  ,  2.  , ...,  2.  , 18.  , -1.  ],
// CHECK-NEXT: [ 2.  , -2.  , 12.  , ..., 14.  ,  0.  , -2.  ],
// CHECK-NEXT: [ 2.  , 12.  , -2.  , ...,  9.  , -1.  ,  0.  ],
// CHECK-NEXT: ...,
// CHECK-NEXT: [22.  , 19.  ,  1.  , ..., -1.  ,  2.  ,  6.  ],
// CHECK-NEXT: [-1.  ,  2.  ,  9.  , ..., -2.  , 24.  , 14.  ],
// CHECK-NEXT: [-2.  , -1.  ,  8.  , ...,  0.  ,  1.  , -1.  ]],
// CHECK: {{\[\[}} 8.25,  0.5 ,  1.  , ...,  4.  ,  1.75, -2.  ],
// CHECK-NEXT: [ 3.5 ,  8.5 , -1.  , ...,  4.75,  0.75,  2.25],
// CHECK-NEXT: [ 2.  ,  5.  ,  6.25, ...,  2.5 ,  9.75,  7.75],
// CHECK-NEXT: ...,
// CHECK-NEXT: [ 6.75,  0.  ,  2.25, ..., -2.  ,  1.75,  5.75],
// CHECK-NEXT: [ 3.75,  2.75,  1.  , ...,  9.75,  1.  ,  5.5 ],
// CHECK-NEXT: [ 5.  , 12.75,  2.  , ...,  6.  , -2.  ,  1.  ]],
// CHECK: {{\[\[}}-1.  ,  0.  , 21.5 , ..., 61.5 ,  2.  ,  0.  ],
// CHECK-NEXT: [ 1.  ,  2.  ,  0.  , ..., -2.  ,  1.  ,  2.5 ],
// CHECK-NEXT: [42.5 ,  5.5 ,  2.  , ...,  2.  , 22.5 , -1.  ],
// CHECK-NEXT: ...,
// CHECK-NEXT: [ 1.  ,  7.5 ,  0.  , ..., 68.5 ,  1.5 ,  2.  ],
// CHECK-NEXT: [ 0.  , 53.5 , 38.5 , ..., 50.5 , 10.5 , -1.  ],
// CHECK-NEXT: [ 2.  , -2.  , 35.5 , ..., -1.  , 44.5 , -2.  ]]]]
