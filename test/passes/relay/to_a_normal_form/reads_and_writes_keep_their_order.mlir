// RUN: opt-tool %s -p relay-to-a-normal-form | filecheck %s

// CHECK:      %m = relay.ref_create %x
// CHECK-NEXT: %a = relay.ref_read %m
// CHECK:      relay.ref_write %m
// CHECK-NEXT: %b = relay.ref_read %m
// CHECK-NEXT: %y = relay.add %b, %a
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %m = relay.ref_create %x : tensor<8xf32>
  %a = relay.ref_read %m : !relay.ref<tensor<8xf32>>
  %e = relay.exp %a : tensor<8xf32>
  relay.ref_write %m, %e : tensor<8xf32>
  %b = relay.ref_read %m : !relay.ref<tensor<8xf32>>
  %y = relay.add %b, %a : tensor<8xf32>
  return %y : tensor<8xf32>
}
