// RUN: opt-tool %s -p relay-infer-symbols | filecheck %s
// What an exporter writes for x.reshape(b, s, 8, 8), table[1 : s + 1] and ones(b, s).

// CHECK: {b = #relay.symbol<min = 1, max = 1073741824>, s = #relay.symbol<min = 1, max = 1023>}
// CHECK-NOT: relay.shape_of
func.func @main(%x: tensor<?x?x64xf32, #relay.dims<b, s, _>>, %t: tensor<1024x64xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x64xf32>, tensor<?x?xf32>) {
  %s = relay.shape_of %x {dtype = "int64"} : (tensor<?x?x64xf32, #relay.dims<b, s, _>>) -> tensor<3xi64>
  %a = relay.strided_slice %s {begin = [0], end = [2]} : (tensor<3xi64>) -> tensor<2xi64>
  %c = relay.constant dense<[8, 8]> : tensor<2xi64>
  %n = relay.concatenate %a, %c {axis = 0} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  // CHECK: relay.reshape %x {newshape = [b, s, 8, 8]} : {{.*}} -> tensor<?x?x8x8xf32, #relay.dims<b, s, _, _>>
  %r = relay.dyn.reshape %x, %n : (tensor<?x?x64xf32, #relay.dims<b, s, _>>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  %one = relay.constant dense<1> : tensor<1xi64>
  %e = relay.strided_slice %s {begin = [1], end = [2]} : (tensor<3xi64>) -> tensor<1xi64>
  %e1 = relay.add %e, %one : tensor<1xi64>
  // CHECK: relay.strided_slice %t {begin = [1], end = [s + 1], strides = [1]} : (tensor<1024x64xf32>) -> tensor<?x64xf32, #relay.dims<s, _>>
  %p = relay.dyn.strided_slice %t, %one, %e1, %one : (tensor<1024x64xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x64xf32>
  %f = relay.constant dense<1.0> : tensor<f32>
  // CHECK: relay.full %f {dtype = "float32", shape = [b, s]} : (tensor<f32>) -> tensor<?x?xf32, #relay.dims<b, s>>
  %m = relay.dyn.full %f, %a {dtype = "float32"} : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r, %p, %m : tensor<?x?x?x?xf32>, tensor<?x64xf32>, tensor<?x?xf32>
}
