# given_0: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# output_0: float32[5] -1.9429606 -0.40466845 -0.9906427 -0.5501045 -1.8220096
def forward(self, given_0: "f32[5]"):
    rrelu: "f32[5]" = torch.ops.aten.rrelu.default(given_0);  given_0 = None
    return (rrelu,)
