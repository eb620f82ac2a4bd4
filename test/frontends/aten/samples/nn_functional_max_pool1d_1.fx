# given_0: float32[1, 2, 3] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052
# output_0: float32[1, 2, 1] -1.7658259 3.6116052
# output_1: int64[1, 2, 1] 1 2
def forward(self, given_0: "f32[1, 2, 3]"):
    max_pool1d_with_indices = torch.ops.aten.max_pool1d_with_indices.default(given_0, [3], [2], [0], [1], True);  given_0 = None
    getitem: "f32[1, 2, 1]" = max_pool1d_with_indices[0]
    getitem_1: "i64[1, 2, 1]" = max_pool1d_with_indices[1];  max_pool1d_with_indices = None
    return (getitem, getitem_1)
