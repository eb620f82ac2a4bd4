// RUN: not opt-tool %s -p 'relay-infer-symbols{dims="n=64..1"}' 2>&1 | filecheck %s
// RUN: not opt-tool %s -p 'relay-infer-symbols{dims="n:4"}' 2>&1 | filecheck %s --check-prefix=SPELT

// CHECK: 'n=64..1': no value from 64 to 1 has the divisor 1
// SPELT: 'n:4' gives no values of an extent; write n=1..64, n=16..512:16, n=?
func.func @main(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  return %x : tensor<?xf32, #relay.dims<n>>
}
