// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @bitwise_and(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi16> {
  %2 = relay.bitwise_and %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi16>
  func.return %2 : tensor<3x2xi16>
}
// CHECK:      te.func @fused_bitwise_and(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi16> {
// CHECK-NEXT: %bitwise_and = te.compute "bitwise_and" [3, 2] (%i0, %i1) : tensor<3x2xi16> attributes {tag = "bitwise_and"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.andi %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %bitwise_and : tensor<3x2xi16>

func.func @bitwise_or(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi16> {
  %2 = relay.bitwise_or %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi16>
  func.return %2 : tensor<3x2xi16>
}
// CHECK:      te.func @fused_bitwise_or(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi16> {
// CHECK-NEXT: %bitwise_or = te.compute "bitwise_or" [3, 2] (%i0, %i1) : tensor<3x2xi16> attributes {tag = "bitwise_or"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.ori %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %bitwise_or : tensor<3x2xi16>

func.func @bitwise_xor(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi16> {
  %2 = relay.bitwise_xor %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi16>
  func.return %2 : tensor<3x2xi16>
}
// CHECK:      te.func @fused_bitwise_xor(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi16> {
// CHECK-NEXT: %bitwise_xor = te.compute "bitwise_xor" [3, 2] (%i0, %i1) : tensor<3x2xi16> attributes {tag = "bitwise_xor"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.xori %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %bitwise_xor : tensor<3x2xi16>

func.func @equal(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi1> {
  %2 = relay.equal %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi1>
  func.return %2 : tensor<3x2xi1>
}
// CHECK:      te.func @fused_equal(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi1> {
// CHECK-NEXT: %equal = te.compute "equal" [3, 2] (%i0, %i1) : tensor<3x2xi1> attributes {tag = "equal"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi eq, %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %equal : tensor<3x2xi1>

func.func @greater(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi1> {
  %2 = relay.greater %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi1>
  func.return %2 : tensor<3x2xi1>
}
// CHECK:      te.func @fused_greater(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi1> {
// CHECK-NEXT: %greater = te.compute "greater" [3, 2] (%i0, %i1) : tensor<3x2xi1> attributes {tag = "greater"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi sgt, %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %greater : tensor<3x2xi1>

func.func @greater_equal(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi1> {
  %2 = relay.greater_equal %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi1>
  func.return %2 : tensor<3x2xi1>
}
// CHECK:      te.func @fused_greater_equal(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi1> {
// CHECK-NEXT: %greater_equal = te.compute "greater_equal" [3, 2] (%i0, %i1) : tensor<3x2xi1> attributes {tag = "greater_equal"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi sge, %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %greater_equal : tensor<3x2xi1>

func.func @left_shift(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi16> {
  %2 = relay.left_shift %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi16>
  func.return %2 : tensor<3x2xi16>
}
// CHECK:      te.func @fused_left_shift(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi16> {
// CHECK:      %left_shift = te.compute "left_shift" [3, 2] (%i0, %i1) : tensor<3x2xi16> attributes {tag = "left_shift"} {
// CHECK:      te.return %left_shift : tensor<3x2xi16>

func.func @less(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi1> {
  %2 = relay.less %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi1>
  func.return %2 : tensor<3x2xi1>
}
// CHECK:      te.func @fused_less(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi1> {
// CHECK-NEXT: %less = te.compute "less" [3, 2] (%i0, %i1) : tensor<3x2xi1> attributes {tag = "less"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi slt, %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %less : tensor<3x2xi1>

func.func @less_equal(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi1> {
  %2 = relay.less_equal %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi1>
  func.return %2 : tensor<3x2xi1>
}
// CHECK:      te.func @fused_less_equal(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi1> {
// CHECK-NEXT: %less_equal = te.compute "less_equal" [3, 2] (%i0, %i1) : tensor<3x2xi1> attributes {tag = "less_equal"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi sle, %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %less_equal : tensor<3x2xi1>

func.func @logical_and(%0: tensor<13xi1>, %1: tensor<13xi1>) -> tensor<13xi1> {
  %2 = relay.logical_and %0, %1 : tensor<13xi1>
  func.return %2 : tensor<13xi1>
}
// CHECK:      te.func @fused_logical_and(%p0: tensor<13xi1>, %p1: tensor<13xi1>) -> tensor<13xi1> {
// CHECK-NEXT: %logical_and = te.compute "logical_and" [13] (%i0) : tensor<13xi1> attributes {tag = "logical_and"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<13xi1>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i0] : tensor<13xi1>
// CHECK-NEXT: %{{[0-9]+}} = arith.andi %{{[0-9]+}}, %{{[0-9]+}} : i1
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %logical_and : tensor<13xi1>

func.func @logical_or(%0: tensor<13xi1>, %1: tensor<13xi1>) -> tensor<13xi1> {
  %2 = relay.logical_or %0, %1 : tensor<13xi1>
  func.return %2 : tensor<13xi1>
}
// CHECK:      te.func @fused_logical_or(%p0: tensor<13xi1>, %p1: tensor<13xi1>) -> tensor<13xi1> {
// CHECK-NEXT: %logical_or = te.compute "logical_or" [13] (%i0) : tensor<13xi1> attributes {tag = "logical_or"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<13xi1>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i0] : tensor<13xi1>
// CHECK-NEXT: %{{[0-9]+}} = arith.ori %{{[0-9]+}}, %{{[0-9]+}} : i1
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %logical_or : tensor<13xi1>

func.func @logical_xor(%0: tensor<13xi1>, %1: tensor<13xi1>) -> tensor<13xi1> {
  %2 = relay.logical_xor %0, %1 : tensor<13xi1>
  func.return %2 : tensor<13xi1>
}
// CHECK:      te.func @fused_logical_xor(%p0: tensor<13xi1>, %p1: tensor<13xi1>) -> tensor<13xi1> {
// CHECK-NEXT: %logical_xor = te.compute "logical_xor" [13] (%i0) : tensor<13xi1> attributes {tag = "logical_xor"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<13xi1>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i0] : tensor<13xi1>
// CHECK-NEXT: %{{[0-9]+}} = arith.xori %{{[0-9]+}}, %{{[0-9]+}} : i1
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %logical_xor : tensor<13xi1>

func.func @maximum(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi16> {
  %2 = relay.maximum %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi16>
  func.return %2 : tensor<3x2xi16>
}
// CHECK:      te.func @fused_maximum(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi16> {
// CHECK-NEXT: %maximum = te.compute "maximum" [3, 2] (%i0, %i1) : tensor<3x2xi16> attributes {tag = "maximum"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.maxsi %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %maximum : tensor<3x2xi16>

func.func @minimum(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi16> {
  %2 = relay.minimum %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi16>
  func.return %2 : tensor<3x2xi16>
}
// CHECK:      te.func @fused_minimum(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi16> {
// CHECK-NEXT: %minimum = te.compute "minimum" [3, 2] (%i0, %i1) : tensor<3x2xi16> attributes {tag = "minimum"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.minsi %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %minimum : tensor<3x2xi16>

func.func @not_equal(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi1> {
  %2 = relay.not_equal %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi1>
  func.return %2 : tensor<3x2xi1>
}
// CHECK:      te.func @fused_not_equal(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi1> {
// CHECK-NEXT: %not_equal = te.compute "not_equal" [3, 2] (%i0, %i1) : tensor<3x2xi1> attributes {tag = "not_equal"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi ne, %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %not_equal : tensor<3x2xi1>

func.func @right_shift(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi16> {
  %2 = relay.right_shift %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi16>
  func.return %2 : tensor<3x2xi16>
}
// CHECK:      te.func @fused_right_shift(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi16> {
// CHECK:      %right_shift = te.compute "right_shift" [3, 2] (%i0, %i1) : tensor<3x2xi16> attributes {tag = "right_shift"} {
// CHECK:      te.return %right_shift : tensor<3x2xi16>

func.func @where(%0: tensor<3xi1>, %1: tensor<3xi32>, %2: tensor<3xi32>) -> tensor<3xi32> {
  %3 = relay.where %0, %1, %2 : (tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  func.return %3 : tensor<3xi32>
}
// CHECK:      te.func @fused_where(%p0: tensor<3xi1>, %p1: tensor<3xi32>, %p2: tensor<3xi32>) -> tensor<3xi32> {
// CHECK-NEXT: %where = te.compute "where" [3] (%i0) : tensor<3xi32> attributes {tag = "where"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<3xi1>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i0] : tensor<3xi32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p2[%i0] : tensor<3xi32>
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : i32
// CHECK-NEXT: te.yield %{{[0-9]+}} : i32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %where : tensor<3xi32>
