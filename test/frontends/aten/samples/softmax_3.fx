# arg0_1: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# output_0: float64[5] 0.000754564740163118 0.6207531263628323 0.048132367772820935 0.32908082087967355 0.0012791202445099736
def forward(self, arg0_1: "f32[5]"):
    _to_copy: "f64[5]" = torch.ops.aten._to_copy.default(arg0_1, dtype = torch.float64, layout = torch.strided, device = device(type='cpu'));  arg0_1 = None
    _softmax: "f64[5]" = torch.ops.aten._softmax.default(_to_copy, 0, False);  _to_copy = None
    return [_softmax]
