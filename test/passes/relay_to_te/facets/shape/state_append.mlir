// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// Rows of the past that are not kept, then the new ones behind it; what is beyond is not written. Inner elements go in
// chunks, and heads are shared out.

// CHECK-LABEL: te.func @fused_state_append(%s: index, %p: index, %k: index, %spare: index,
// CHECK:         te.extern "state_append" (%p0_buffer = %p0, %p1_buffer = %p1)
// CHECK-SAME:      -> (%out0 [1, 4, %p + %s + %spare, 48])
// CHECK-NEXT:      tir.for %r0 = 0 to 1 "r0" {
// CHECK-NEXT:        tir.for %r1 = 0 to 4 parallel "r1" {
// CHECK-NEXT:          tir.for %row = 0 to min [%p + %k * -1] "row" {
// CHECK-NEXT:            tir.for %r0_1 = 0 to 3 "r0" {
// CHECK-NEXT:              tir.for %lane = 0 to 16 vectorized "lane" {
// CHECK-NEXT:                %0 = tir.load %p0_buffer[%r0, %r1, %row + %k, %r0_1 * 16 + %lane]
// CHECK-NEXT:                tir.store %0, %out0[%r0, %r1, %row + %k, %r0_1 * 16 + %lane]
// CHECK:               tir.for %row = 0 to min [%s] "row" {
// CHECK:                     %0 = tir.load %p1_buffer[%r0, %r1, %row, %r0_1 * 16 + %lane]
// CHECK-NEXT:                tir.store %0, %out0[%r0, %r1, %row + %p, %r0_1 * 16 + %lane]
builtin.module attributes {relay.symbols = {s = #relay.symbol<min = 1, max = 64>, p = #relay.symbol<min = 0, max = 960>,
    k = #relay.symbol<min = 0, max = 960, default = 0>, spare = #relay.symbol<min = 0, max = 1000000, default = 0>},
    relay.conditions = #relay.extents<p + k * -1>} {
  func.func @main(%past: tensor<1x4x?x48xf32, #relay.dims<_, _, p, _>>, %new: tensor<1x4x?x48xf32, #relay.dims<_, _, s, _>>)
      -> tensor<1x4x?x48xf32, #relay.dims<_, _, p + s + spare, _>> {
    %y = relay.state_append %past, %new {axis = 2, kept = [k], capacity = [p + s + spare]}
      : (tensor<1x4x?x48xf32, #relay.dims<_, _, p, _>>, tensor<1x4x?x48xf32, #relay.dims<_, _, s, _>>)
      -> tensor<1x4x?x48xf32, #relay.dims<_, _, p + s + spare, _>>
    func.return %y : tensor<1x4x?x48xf32, #relay.dims<_, _, p + s + spare, _>>
  }
}
