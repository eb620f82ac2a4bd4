# given_0: float32[3, 3] 0.3398201 0.81173974 0.89906394 0.779383 0.59341776 0.42867744 0.18748507 0.22224912 0.18063958
# output_0: float32[3, 3] 1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0
def forward(self, given_0: "f32[3, 3]"):
    sign: "f32[3, 3]" = torch.ops.aten.sign.default(given_0);  given_0 = None
    return (sign,)
