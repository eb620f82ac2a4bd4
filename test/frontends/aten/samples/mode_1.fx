# given_0: float32[] -8.478374
# output_0: float32[] -8.478374
# output_1: int64[] 0
def forward(self, given_0: "f32[]"):
    mode = torch.ops.aten.mode.default(given_0);  given_0 = None
    getitem: "f32[]" = mode[0]
    getitem_1: "i64[]" = mode[1];  mode = None
    return (getitem, getitem_1)
