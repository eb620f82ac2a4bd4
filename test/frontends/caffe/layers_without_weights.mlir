# RUN: opt-tool -f caffe %s | filecheck %s
# A network of layers without weights is all in its text; a layer that writes what it takes gives a new value.

input: "data"
input_shape { dim: 1 dim: 8 dim: 5 dim: 5 }
layer { name: "relu" type: "ReLU" bottom: "data" top: "data" relu_param { negative_slope: 0.25 } }
layer { name: "pool" type: "Pooling" bottom: "data" top: "pool" pooling_param { kernel_size: 2 stride: 2 } }
layer { name: "prob" type: "Softmax" bottom: "pool" top: "prob" }

# CHECK:      %data_relu = relay.nn.leaky_relu %data {alpha = 0.25}
# CHECK-NEXT: %pool = relay.nn.max_pool2d %data_relu {ceil_mode = true, {{.*}}pool_size = [2, 2], strides = [2, 2]}
# CHECK-NEXT: %prob = relay.nn.softmax %pool {axis = 1}
# CHECK-NEXT: func.return %prob : tensor<1x8x3x3xf32>
