// RUN: opt-tool --list-ops | filecheck %s
// RUN: opt-tool --help-pass relay-fuse-ops | filecheck %s --check-prefix=HELP

// CHECK: relay: {{[0-9]+}} ops
// CHECK: relay.add {{.*}}np_ref te_compute{{.*}} BROADCAST
// CHECK: relay.dyn.reshape {{.*}}[infer_type{{.*}}static] INJECTIVE
// CHECK: relay.if {{.*}}[run by the machine]
// CHECK: relay.nn.conv2d {{.*}}[infer_type np_ref te_compute samples relay_grad{{.*}}] OUT_ELEMWISE_FUSABLE
// CHECK: relay.nn.max_pool2d {{.*}}infer_layout
// CHECK: relay.qnn.requantize {{.*}}np_ref decompose
// CHECK: te: {{[0-9]+}} ops
// CHECK: te.compute
// CHECK: llvm: {{[0-9]+}} ops
// HELP: relay-fuse-ops
// HELP: Before:
// HELP: After:
// HELP: max-depth: int (default {{[0-9]+}})
