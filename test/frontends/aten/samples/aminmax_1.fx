# given_0: float32[] -8.478374
# output_0: float32[] -8.478374
# output_1: float32[] -8.478374
def forward(self, given_0: "f32[]"):
    aminmax = torch.ops.aten.aminmax.default(given_0, dim = 0);  given_0 = None
    getitem: "f32[]" = aminmax[0]
    getitem_1: "f32[]" = aminmax[1];  aminmax = None
    return (getitem, getitem_1)
