// RUN: opt-tool %s -p relay-external-codegen | filecheck %s
// Its calls are written out where a refused function comes back; what chooses among functions goes on taking it.

func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %y = func.call @tvmgen_default_bnns_main_0(%x, %c) : (tensor<4xf32>, tensor<i1>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @tvmgen_default_bnns_main_0(%i0: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32>
    attributes {Compiler = "bnns", Inline = 1 : i64, Primitive = 1 : i64, global_symbol = "tvmgen_default_bnns_main_0"} {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> attributes {Composite = "bnns.relu"} {
    %0 = relay.nn.relu %a : tensor<4xf32>
    relay.return %0 : tensor<4xf32>
  }
  %r = relay.call %f(%i0) : (tensor<4xf32>) -> tensor<4xf32>
  %g = relay.fn (%b: tensor<4xf32>) -> tensor<4xf32> {
    relay.return %b : tensor<4xf32>
  }
  %h = relay.if %c -> ((tensor<4xf32>) -> tensor<4xf32>) {
    relay.yield %f : (tensor<4xf32>) -> tensor<4xf32>
  } else {
    relay.yield %g : (tensor<4xf32>) -> tensor<4xf32>
  }
  %s = relay.call %h(%r) : (tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}
// CHECK:      func.func @main
// CHECK-NEXT:   %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> attributes {Composite = "bnns.relu"} {
// CHECK:        %r = relay.nn.relu %x : tensor<4xf32>
// CHECK:        %h = relay.if %c -> ((tensor<4xf32>) -> tensor<4xf32>) {
// CHECK-NEXT:     relay.yield %f : (tensor<4xf32>) -> tensor<4xf32>
