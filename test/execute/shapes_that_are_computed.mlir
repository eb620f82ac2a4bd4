// RUN: opt-tool %s --verify-roundtrip --run @main | filecheck %s
// Shapes that only the run knows: of what a condition finds, of what a tensor's own shape says, of unique values.

// CHECK:      places: int32[3, 1]
// CHECK:      squares: float32[2, 3]
// CHECK-NEXT: {{\[\[}} 1.,  4.,  9.],
// CHECK-NEXT:  [16., 25., 36.]]
// CHECK:      unique: int32[3]
// CHECK-NEXT: [1, 4, 7]
// CHECK:      inverse: int32[5]
// CHECK-NEXT: [2, 0, 2, 1, 0]
// CHECK:      number: int32[1]
// CHECK-NEXT: [3]
// CHECK:      top: float32[2]
// CHECK-NEXT: [6., 5.]
// CHECK:      tail: float32[3]
// CHECK-NEXT: [4., 5., 6.]
// CHECK:      padded: float32[8]
// CHECK-NEXT: [9., 1., 2., 3., 4., 5., 6., 9.]
// CHECK:      hot: int32[2, 3]
// CHECK-NEXT: {{\[\[}}0, 0, 1],
// CHECK-NEXT:  [1, 0, 0]]
// CHECK:      zeros: float32[2, 3]
// CHECK:      tiled: float32[12]
// CHECK:      wide: float32[2, 6]
func.func @square(%x: tensor<?xf32, #relay.dims<n>>, %like: tensor<?x?xf32, #relay.dims<a, b>>) -> tensor<?x?xf32, #relay.dims<a, b>> {
  %y = relay.multiply %x, %x : tensor<?xf32, #relay.dims<n>>
  %s = relay.shape_of %like : (tensor<?x?xf32, #relay.dims<a, b>>) -> tensor<2xi32>
  %z = relay.dyn.reshape %y, %s : (tensor<?xf32, #relay.dims<n>>, tensor<2xi32>) -> tensor<?x?xf32, #relay.dims<a, b>>
  return %z : tensor<?x?xf32, #relay.dims<a, b>>
}
func.func @main() -> (tensor<?x1xi32> {lamina.name = "places"}, tensor<?x?xf32> {lamina.name = "squares"}, tensor<?xi32> {lamina.name = "unique"}, tensor<5xi32> {lamina.name = "inverse"}, tensor<1xi32> {lamina.name = "number"}, tensor<?xf32> {lamina.name = "top"}, tensor<?xf32> {lamina.name = "tail"}, tensor<?xf32> {lamina.name = "padded"}, tensor<2x?xi32> {lamina.name = "hot"}, tensor<?x?xf32> {lamina.name = "zeros"}, tensor<?xf32> {lamina.name = "tiled"}, tensor<?x6xf32> {lamina.name = "wide"}) {
  %c = relay.constant dense<[true, false, true, true]> : tensor<4xi1>
  %places = relay.argwhere %c : (tensor<4xi1>) -> tensor<?x1xi32>
  %x = relay.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %like = relay.constant dense<0.0> : tensor<2x3xf32>
  %f = relay.global @square : (tensor<?xf32, #relay.dims<n>>, tensor<?x?xf32, #relay.dims<a, b>>) -> tensor<?x?xf32, #relay.dims<a, b>>
  %squares = relay.call %f(%x, %like) : (tensor<?xf32, #relay.dims<n>>, tensor<?x?xf32, #relay.dims<a, b>>) -> tensor<?x?xf32, #relay.dims<a, b>> of (tensor<6xf32>, tensor<2x3xf32>)
  %open = relay.copy %squares : (tensor<?x?xf32, #relay.dims<a, b>>) -> tensor<?x?xf32>
  %v = relay.constant dense<[7, 1, 7, 4, 1]> : tensor<5xi32>
  %u, %first, %inverse, %number = relay.unique %v : (tensor<5xi32>) -> (tensor<?xi32>, tensor<?xi32>, tensor<5xi32>, tensor<1xi32>)
  %k = relay.constant dense<2> : tensor<i32>
  %top = relay.dyn.topk %x, %k {ret_type = "values"} : (tensor<6xf32>, tensor<i32>) -> tensor<?xf32>
  %begin = relay.constant dense<3> : tensor<1xi64>
  %end = relay.constant dense<100> : tensor<1xi64>
  %step = relay.constant dense<1> : tensor<1xi64>
  %tail = relay.dyn.strided_slice %x, %begin, %end, %step : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %widths = relay.constant dense<1> : tensor<1x2xi32>
  %nine = relay.constant dense<9.0> : tensor<f32>
  %padded = relay.dyn.nn.pad %x, %widths, %nine : (tensor<6xf32>, tensor<1x2xi32>, tensor<f32>) -> tensor<?xf32>
  %i = relay.constant dense<[2, 0]> : tensor<2xi32>
  %on = relay.constant dense<1> : tensor<i32>
  %off = relay.constant dense<0> : tensor<i32>
  %depth = relay.constant dense<3> : tensor<i32>
  %hot = relay.dyn.one_hot %i, %on, %off, %depth : (tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x?xi32>
  %shape = relay.shape_of %like : (tensor<2x3xf32>) -> tensor<2xi32>
  %zeros = relay.dyn.zeros %shape : (tensor<2xi32>) -> tensor<?x?xf32>
  %two = relay.constant dense<2> : tensor<1xi32>
  %tiled = relay.dyn.tile %x, %two : (tensor<6xf32>, tensor<1xi32>) -> tensor<?xf32>
  %wanted = relay.constant dense<[2, 6]> : tensor<2xi32>
  %wide = relay.dyn.broadcast_to %x, %wanted : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x6xf32>
  return %places, %open, %u, %inverse, %number, %top, %tail, %padded, %hot, %zeros, %tiled, %wide : tensor<?x1xi32>, tensor<?x?xf32>, tensor<?xi32>, tensor<5xi32>, tensor<1xi32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<2x?xi32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?x6xf32>
}
