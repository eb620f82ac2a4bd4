// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @add(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi16> {
  %2 = relay.add %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi16>
  func.return %2 : tensor<3x2xi16>
}
// CHECK:      te.func @fused_add(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi16> {
// CHECK-NEXT: %add = te.compute "add" [3, 2] (%i0, %i1) : tensor<3x2xi16> attributes {tag = "add"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.addi %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %add : tensor<3x2xi16>

func.func @divide(%0: tensor<2xi8>, %1: tensor<2xi8>) -> tensor<2xi8> {
  %2 = relay.divide %0, %1 : tensor<2xi8>
  func.return %2 : tensor<2xi8>
}
// CHECK:      te.func @fused_divide(%p0: tensor<2xi8>, %p1: tensor<2xi8>) -> tensor<2xi8> {
// CHECK:      %divide = te.compute "divide" [2] (%i0) : tensor<2xi8> attributes {tag = "divide"} {
// CHECK:      te.return %divide : tensor<2xi8>

func.func @floor_divide(%0: tensor<2xi8>, %1: tensor<2xi8>) -> tensor<2xi8> {
  %2 = relay.floor_divide %0, %1 : tensor<2xi8>
  func.return %2 : tensor<2xi8>
}
// CHECK:      te.func @fused_floor_divide(%p0: tensor<2xi8>, %p1: tensor<2xi8>) -> tensor<2xi8> {
// CHECK:      %floor_divide = te.compute "floor_divide" [2] (%i0) : tensor<2xi8> attributes {tag = "floor_divide"} {
// CHECK:      te.return %floor_divide : tensor<2xi8>

func.func @floor_mod(%0: tensor<2xi8>, %1: tensor<2xi8>) -> tensor<2xi8> {
  %2 = relay.floor_mod %0, %1 : tensor<2xi8>
  func.return %2 : tensor<2xi8>
}
// CHECK:      te.func @fused_floor_mod(%p0: tensor<2xi8>, %p1: tensor<2xi8>) -> tensor<2xi8> {
// CHECK:      %floor_mod = te.compute "floor_mod" [2] (%i0) : tensor<2xi8> attributes {tag = "floor_mod"} {
// CHECK:      te.return %floor_mod : tensor<2xi8>

func.func @mod(%0: tensor<2xi8>, %1: tensor<2xi8>) -> tensor<2xi8> {
  %2 = relay.mod %0, %1 : tensor<2xi8>
  func.return %2 : tensor<2xi8>
}
// CHECK:      te.func @fused_mod(%p0: tensor<2xi8>, %p1: tensor<2xi8>) -> tensor<2xi8> {
// CHECK:      %mod = te.compute "mod" [2] (%i0) : tensor<2xi8> attributes {tag = "mod"} {
// CHECK:      te.return %mod : tensor<2xi8>

func.func @multiply(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi16> {
  %2 = relay.multiply %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi16>
  func.return %2 : tensor<3x2xi16>
}
// CHECK:      te.func @fused_multiply(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi16> {
// CHECK-NEXT: %multiply = te.compute "multiply" [3, 2] (%i0, %i1) : tensor<3x2xi16> attributes {tag = "multiply"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.muli %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %multiply : tensor<3x2xi16>

func.func @power(%0: tensor<9xf16>, %1: tensor<9xf16>) -> tensor<9xf16> {
  %2 = relay.power %0, %1 : tensor<9xf16>
  func.return %2 : tensor<9xf16>
}
// CHECK:      te.func @fused_power(%p0: tensor<9xf16>, %p1: tensor<9xf16>) -> tensor<9xf16> {
// CHECK-NEXT: %power = te.compute "power" [9] (%i0) : tensor<9xf16> attributes {tag = "power"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<9xf16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i0] : tensor<9xf16>
// CHECK-NEXT: %{{[0-9]+}} = math.powf %{{[0-9]+}}, %{{[0-9]+}} : f16
// CHECK-NEXT: te.yield %{{[0-9]+}} : f16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %power : tensor<9xf16>

func.func @subtract(%0: tensor<3x2xi16>, %1: tensor<2xi16>) -> tensor<3x2xi16> {
  %2 = relay.subtract %0, %1 : (tensor<3x2xi16>, tensor<2xi16>) -> tensor<3x2xi16>
  func.return %2 : tensor<3x2xi16>
}
// CHECK:      te.func @fused_subtract(%p0: tensor<3x2xi16>, %p1: tensor<2xi16>) -> tensor<3x2xi16> {
// CHECK-NEXT: %subtract = te.compute "subtract" [3, 2] (%i0, %i1) : tensor<3x2xi16> attributes {tag = "subtract"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi16>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<2xi16>
// CHECK-NEXT: %{{[0-9]+}} = arith.subi %{{[0-9]+}}, %{{[0-9]+}} : i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %subtract : tensor<3x2xi16>
