# given_0: float32[] -8.478374
# output_0: float32[] -8.478374
# output_1: int64[] 0
def forward(self, given_0: "f32[]"):
    min_1 = torch.ops.aten.min.dim(given_0, 0);  given_0 = None
    getitem: "f32[]" = min_1[0]
    getitem_1: "i64[]" = min_1[1];  min_1 = None
    return (getitem, getitem_1)
