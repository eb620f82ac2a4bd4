// RUN: opt-tool %s -p relay-to-te | filecheck %s
// What they tell passes has been heard; relay-fuse-ops leaves none in a kernel of its own making.

func.func @annotation_cast_hint(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%p: tensor<4xf32>) -> tensor<4xf32> attributes {Primitive = 1 : i64} {
    %y = relay.annotation.cast_hint %p {dtype = "int8"} : tensor<4xf32>
    relay.return %y : tensor<4xf32>
  }
  %r = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK:      te.func @fused_annotation_cast_hint(%p: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %cast_hint = te.compute "cast_hint" [4] (%i0) : tensor<4xf32> attributes {tag = "annotation.cast_hint"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p[%i0] : tensor<4xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %cast_hint : tensor<4xf32>

func.func @annotation_checkpoint(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%p: tensor<4xf32>) -> tensor<4xf32> attributes {Primitive = 1 : i64} {
    %y = relay.annotation.checkpoint %p : tensor<4xf32>
    relay.return %y : tensor<4xf32>
  }
  %r = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK:      te.func @fused_annotation_checkpoint(%p: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %checkpoint = te.compute "checkpoint" [4] (%i0) : tensor<4xf32> attributes {tag = "annotation.checkpoint"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p[%i0] : tensor<4xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %checkpoint : tensor<4xf32>

func.func @annotation_compiler_begin(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%p: tensor<4xf32>) -> tensor<4xf32> attributes {Primitive = 1 : i64} {
    %y = relay.annotation.compiler_begin %p {compiler = "dnnl"} : tensor<4xf32>
    relay.return %y : tensor<4xf32>
  }
  %r = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK:      te.func @fused_annotation_compiler_begin(%p: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %compiler_begin = te.compute "compiler_begin" [4] (%i0) : tensor<4xf32> attributes {tag = "annotation.compiler_begin"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p[%i0] : tensor<4xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %compiler_begin : tensor<4xf32>

func.func @annotation_compiler_end(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%p: tensor<4xf32>) -> tensor<4xf32> attributes {Primitive = 1 : i64} {
    %y = relay.annotation.compiler_end %p {compiler = "dnnl"} : tensor<4xf32>
    relay.return %y : tensor<4xf32>
  }
  %r = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK:      te.func @fused_annotation_compiler_end(%p: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %compiler_end = te.compute "compiler_end" [4] (%i0) : tensor<4xf32> attributes {tag = "annotation.compiler_end"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p[%i0] : tensor<4xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %compiler_end : tensor<4xf32>

func.func @annotation_stop_fusion(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%p: tensor<4xf32>) -> tensor<4xf32> attributes {Primitive = 1 : i64} {
    %y = relay.annotation.stop_fusion %p : tensor<4xf32>
    relay.return %y : tensor<4xf32>
  }
  %r = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK:      te.func @fused_annotation_stop_fusion(%p: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %stop_fusion = te.compute "stop_fusion" [4] (%i0) : tensor<4xf32> attributes {tag = "annotation.stop_fusion"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p[%i0] : tensor<4xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %stop_fusion : tensor<4xf32>

func.func @on_device(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%p: tensor<4xf32>) -> tensor<4xf32> attributes {Primitive = 1 : i64} {
    %y = relay.on_device %p : tensor<4xf32>
    relay.return %y : tensor<4xf32>
  }
  %r = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK:      te.func @fused_on_device(%p: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %on_device = te.compute "on_device" [4] (%i0) : tensor<4xf32> attributes {tag = "on_device"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p[%i0] : tensor<4xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %on_device : tensor<4xf32>
