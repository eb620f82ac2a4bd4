// RUN: opt-tool %s -p relay-infer-symbols --split-input-file | filecheck %s
// int32 has every value of s; int8 has not, so the program casts, and what stands in its result is not s.

module attributes {relay.symbols = {s = #relay.symbol<min = 1, max = 512>}} {
  // CHECK: relay.reshape %x {newshape = [s, 2, 4]}
  func.func @main(%x: tensor<?x8xf32, #relay.dims<s, _>>) -> tensor<?x?x?xf32> {
    %n = relay.shape_of %x {dtype = "int64"} : (tensor<?x8xf32, #relay.dims<s, _>>) -> tensor<2xi64>
    %s = relay.strided_slice %n {begin = [0], end = [1]} : (tensor<2xi64>) -> tensor<1xi64>
    %i = relay.cast %s {dtype = "int32"} : (tensor<1xi64>) -> tensor<1xi32>
    %c = relay.constant dense<[2, 4]> : tensor<2xi32>
    %t = relay.concatenate %i, %c {axis = 0} : (tensor<1xi32>, tensor<2xi32>) -> tensor<3xi32>
    %r = relay.dyn.reshape %x, %t : (tensor<?x8xf32, #relay.dims<s, _>>, tensor<3xi32>) -> tensor<?x?x?xf32>
    return %r : tensor<?x?x?xf32>
  }
}

// -----

module attributes {relay.symbols = {s = #relay.symbol<min = 1, max = 512>}} {
  // CHECK: %[[I:.*]] = relay.cast %{{.*}} {dtype = "int8"}
  // CHECK: return %[[I]]
  func.func @main(%x: tensor<?x8xf32, #relay.dims<s, _>>) -> tensor<1xi8> {
    %n = relay.shape_of %x {dtype = "int64"} : (tensor<?x8xf32, #relay.dims<s, _>>) -> tensor<2xi64>
    %s = relay.strided_slice %n {begin = [0], end = [1]} : (tensor<2xi64>) -> tensor<1xi64>
    %i = relay.cast %s {dtype = "int8"} : (tensor<1xi64>) -> tensor<1xi8>
    return %i : tensor<1xi8>
  }
}
