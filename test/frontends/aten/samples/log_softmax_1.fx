# given_0: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# output_0: float32[5] -7.1893697 -0.47682184 -3.0338006 -1.1114519 -6.661583
def forward(self, given_0: "f32[5]"):
    log_softmax: "f32[5]" = torch.ops.aten.log_softmax.int(given_0, 0);  given_0 = None
    return (log_softmax,)
