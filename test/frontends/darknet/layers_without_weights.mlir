# RUN: opt-tool -f darknet %s | filecheck %s
# A network of layers without weights is all in its text; a pool pads at the right and below.

[net]
width=5
height=5
channels=3

[maxpool]
size=2
stride=2

[activation]
activation=leaky

[route]
layers=-1,0

# CHECK:      %maxpool = relay.nn.max_pool2d %data {padding = [0, 0, 1, 1], pool_size = [2, 2], strides = [2, 2]}
# CHECK-NEXT: %activation = relay.nn.leaky_relu %maxpool {alpha = 0.1}
# CHECK-NEXT: %route = relay.concatenate %activation, %maxpool {axis = 1}
# CHECK-NEXT: func.return %route : tensor<1x6x3x3xf32>
