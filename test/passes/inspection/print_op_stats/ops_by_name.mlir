// RUN: opt-tool %s -p print-op-stats --allow-unregistered-dialect -o %t 2>&1 | filecheck %s --strict-whitespace
// RUN: opt-tool %s --print-op-stats=json --allow-unregistered-dialect -o %t 2>&1 | filecheck %s --check-prefix=CHECK-JSON --strict-whitespace

//      CHECK:{{^}}Operations encountered:
// CHECK-NEXT:{{^}}-----------------------
// CHECK-NEXT:{{^}}        a.b       , 1
// CHECK-NEXT:{{^}}  builtin.module  , 1
// CHECK-NEXT:{{^}}     func.func    , 1
// CHECK-NEXT:{{^}}     func.return  , 1
// CHECK-NEXT:{{^}}    relay.nn.relu , 2
//      CHECK-JSON:{{^}}{
// CHECK-JSON-NEXT:{{^}}  "a.b" : 1,
//      CHECK-JSON:{{^}}  "relay.nn.relu" : 2
// CHECK-JSON-NEXT:{{^}}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.nn.relu %x : tensor<4xf32>
  %b = relay.nn.relu %a : tensor<4xf32>
  "a.b"() : () -> ()
  return %b : tensor<4xf32>
}
