// RUN: lamina run %S/inputs/mlp.stablehlo.mlir 2>&1 | filecheck %s
// RUN: opt-tool %S/inputs/mlp.stablehlo.mlir -p stablehlo-to-relay | filecheck %s --check-prefix=RELAY

// CHECK: result: float32[3, 4]
// RELAY: relay.nn.matmul %arg6, %arg0
// RELAY-NOT: stablehlo
