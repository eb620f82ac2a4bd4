// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @abs(%0: tensor<11xi16>) -> tensor<11xi16> {
  %1 = relay.abs %0 : tensor<11xi16>
  func.return %1 : tensor<11xi16>
}
// CHECK:      te.func @fused_abs(%p0: tensor<11xi16>) -> tensor<11xi16> {
// CHECK-NEXT: %abs = te.compute "abs" [11] (%i0) : tensor<11xi16> attributes {tag = "abs"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<11xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0 : i16
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi slt, %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: %{{[0-9]+}} = arith.subi %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %abs : tensor<11xi16>

func.func @bitwise_not(%0: tensor<11xi16>) -> tensor<11xi16> {
  %1 = relay.bitwise_not %0 : tensor<11xi16>
  func.return %1 : tensor<11xi16>
}
// CHECK:      te.func @fused_bitwise_not(%p0: tensor<11xi16>) -> tensor<11xi16> {
// CHECK-NEXT: %bitwise_not = te.compute "bitwise_not" [11] (%i0) : tensor<11xi16> attributes {tag = "bitwise_not"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<11xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant -1 : i16
// CHECK-NEXT: %{{[0-9]+}} = arith.xori %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %bitwise_not : tensor<11xi16>

func.func @cast(%0: tensor<7xf32>) -> tensor<7xi1> {
  %1 = relay.cast %0 {dtype = "bool"} : (tensor<7xf32>) -> tensor<7xi1>
  func.return %1 : tensor<7xi1>
}
// CHECK:      te.func @fused_cast(%p0: tensor<7xf32>) -> tensor<7xi1> {
// CHECK-NEXT: %cast = te.compute "cast" [7] (%i0) : tensor<7xi1> attributes {tag = "cast"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<7xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpf une, %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %cast : tensor<7xi1>

func.func @ceil(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.ceil %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_ceil(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %ceil = te.compute "ceil" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "ceil"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.ceil %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %ceil : tensor<5x3xbf16>

func.func @clip(%0: tensor<4xi64>) -> tensor<4xi64> {
  %1 = relay.clip %0 {a_max = -2.0, a_min = 2.0} : tensor<4xi64>
  func.return %1 : tensor<4xi64>
}
// CHECK:      te.func @fused_clip(%p0: tensor<4xi64>) -> tensor<4xi64> {
// CHECK-NEXT: %clip = te.compute "clip" [4] (%i0) : tensor<4xi64> attributes {tag = "clip"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<4xi64>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 2 : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.maxsi %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.constant -2 : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.minsi %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: te.yield %{{[0-9]+}} : i64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %clip : tensor<4xi64>

func.func @copy(%0: tensor<11xi16>) -> tensor<11xi16> {
  %1 = relay.copy %0 : tensor<11xi16>
  func.return %1 : tensor<11xi16>
}
// CHECK:      te.func @fused_copy(%p0: tensor<11xi16>) -> tensor<11xi16> {
// CHECK-NEXT: %copy = te.compute "copy" [11] (%i0) : tensor<11xi16> attributes {tag = "copy"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<11xi16>
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %copy : tensor<11xi16>

func.func @floor(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.floor %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_floor(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %floor = te.compute "floor" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "floor"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.floor %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %floor : tensor<5x3xbf16>

func.func @full_like(%0: tensor<5xui8>, %1: tensor<ui8>) -> tensor<5xui8> {
  %2 = relay.full_like %0, %1 : (tensor<5xui8>, tensor<ui8>) -> tensor<5xui8>
  func.return %2 : tensor<5xui8>
}
// CHECK:      te.func @fused_full_like(%p0: tensor<5xui8>, %p1: tensor<ui8>) -> tensor<5xui8> {
// CHECK-NEXT: %full_like = te.compute "full_like" [5] (%i0) : tensor<5xui8> attributes {tag = "full_like"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[] : tensor<ui8>
// CHECK-NEXT: te.yield %{{[0-9]+}} : i8
// CHECK-NEXT: }
// CHECK-NEXT: te.return %full_like : tensor<5xui8>

func.func @isfinite(%0: tensor<5x3xbf16>) -> tensor<5x3xi1> {
  %1 = relay.isfinite %0 : (tensor<5x3xbf16>) -> tensor<5x3xi1>
  func.return %1 : tensor<5x3xi1>
}
// CHECK:      te.func @fused_isfinite(%p0: tensor<5x3xbf16>) -> tensor<5x3xi1> {
// CHECK-NEXT: %isfinite = te.compute "isfinite" [5, 3] (%i0, %i1) : tensor<5x3xi1> attributes {tag = "isfinite"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.absf %{{[0-9]+}} : bf16
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0x7f80 : bf16
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpf olt, %{{[0-9]+}}, %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %isfinite : tensor<5x3xi1>

func.func @isinf(%0: tensor<5x3xbf16>) -> tensor<5x3xi1> {
  %1 = relay.isinf %0 : (tensor<5x3xbf16>) -> tensor<5x3xi1>
  func.return %1 : tensor<5x3xi1>
}
// CHECK:      te.func @fused_isinf(%p0: tensor<5x3xbf16>) -> tensor<5x3xi1> {
// CHECK-NEXT: %isinf = te.compute "isinf" [5, 3] (%i0, %i1) : tensor<5x3xi1> attributes {tag = "isinf"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.absf %{{[0-9]+}} : bf16
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0x7f80 : bf16
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpf oeq, %{{[0-9]+}}, %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %isinf : tensor<5x3xi1>

func.func @isnan(%0: tensor<5x3xbf16>) -> tensor<5x3xi1> {
  %1 = relay.isnan %0 : (tensor<5x3xbf16>) -> tensor<5x3xi1>
  func.return %1 : tensor<5x3xi1>
}
// CHECK:      te.func @fused_isnan(%p0: tensor<5x3xbf16>) -> tensor<5x3xi1> {
// CHECK-NEXT: %isnan = te.compute "isnan" [5, 3] (%i0, %i1) : tensor<5x3xi1> attributes {tag = "isnan"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpf une, %{{[0-9]+}}, %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %isnan : tensor<5x3xi1>

func.func @logical_not(%0: tensor<5xi1>) -> tensor<5xi1> {
  %1 = relay.logical_not %0 : tensor<5xi1>
  func.return %1 : tensor<5xi1>
}
// CHECK:      te.func @fused_logical_not(%p0: tensor<5xi1>) -> tensor<5xi1> {
// CHECK-NEXT: %logical_not = te.compute "logical_not" [5] (%i0) : tensor<5xi1> attributes {tag = "logical_not"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<5xi1>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant true
// CHECK-NEXT: %{{[0-9]+}} = arith.xori %{{[0-9]+}}, %{{[0-9]+}} : i1
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %logical_not : tensor<5xi1>

func.func @negative(%0: tensor<11xi16>) -> tensor<11xi16> {
  %1 = relay.negative %0 : tensor<11xi16>
  func.return %1 : tensor<11xi16>
}
// CHECK:      te.func @fused_negative(%p0: tensor<11xi16>) -> tensor<11xi16> {
// CHECK-NEXT: %negative = te.compute "negative" [11] (%i0) : tensor<11xi16> attributes {tag = "negative"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<11xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0 : i16
// CHECK-NEXT: %{{[0-9]+}} = arith.subi %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %negative : tensor<11xi16>

func.func @ones_like(%0: tensor<11xi16>) -> tensor<11xi16> {
  %1 = relay.ones_like %0 : tensor<11xi16>
  func.return %1 : tensor<11xi16>
}
// CHECK:      te.func @fused_ones_like(%p0: tensor<11xi16>) -> tensor<11xi16> {
// CHECK-NEXT: %ones_like = te.compute "ones_like" [11] (%i0) : tensor<11xi16> attributes {tag = "ones_like"} {
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 1 : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %ones_like : tensor<11xi16>

func.func @round(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.round %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_round(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %round = te.compute "round" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "round"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.roundeven %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %round : tensor<5x3xbf16>

func.func @sign(%0: tensor<11xi16>) -> tensor<11xi16> {
  %1 = relay.sign %0 : tensor<11xi16>
  func.return %1 : tensor<11xi16>
}
// CHECK:      te.func @fused_sign(%p0: tensor<11xi16>) -> tensor<11xi16> {
// CHECK-NEXT: %sign = te.compute "sign" [11] (%i0) : tensor<11xi16> attributes {tag = "sign"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<11xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0 : i16
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi sgt, %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi slt, %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: %{{[0-9]+}} = arith.addi %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: %{{[0-9]+}} = arith.constant -1 : i16
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 1 : i16
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %sign : tensor<11xi16>

func.func @trunc(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.trunc %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_trunc(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %trunc = te.compute "trunc" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "trunc"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.trunc %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %trunc : tensor<5x3xbf16>

func.func @zeros_like(%0: tensor<11xi16>) -> tensor<11xi16> {
  %1 = relay.zeros_like %0 : tensor<11xi16>
  func.return %1 : tensor<11xi16>
}
// CHECK:      te.func @fused_zeros_like(%p0: tensor<11xi16>) -> tensor<11xi16> {
// CHECK-NEXT: %zeros_like = te.compute "zeros_like" [11] (%i0) : tensor<11xi16> attributes {tag = "zeros_like"} {
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0 : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %zeros_like : tensor<11xi16>
