// RUN: opt-tool -f relay-text %s | filecheck %s

def @main(%x: Tensor[(2), float32]) {
  add(%x, meta[relay.Constant][0])
}
// CHECK: relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: relay.add %x

#[metadata]
{"relay.Constant": [{"shape": [2], "dtype": "float32", "b64": "AACAPwAAAEA="}]}
