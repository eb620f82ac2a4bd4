# given_0: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# output_0: float32[1] 3.1016047
# output_1: float32[1] -4.983609
def forward(self, given_0: "f32[5]"):
    std_mean = torch.ops.aten.std_mean.dim(given_0, [0], True, True);  given_0 = None
    getitem: "f32[1]" = std_mean[0]
    getitem_1: "f32[1]" = std_mean[1];  std_mean = None
    return (getitem, getitem_1)
