# given_0: float32[] -8.478374
# output_0: float32[] -8.478374
# output_1: int64[] 0
def forward(self, given_0: "f32[]"):
    cummax = torch.ops.aten.cummax.default(given_0, 0);  given_0 = None
    getitem: "f32[]" = cummax[0]
    getitem_1: "i64[]" = cummax[1];  cummax = None
    return (getitem, getitem_1)
