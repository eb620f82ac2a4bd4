# given_0: float32[4, 4] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052 -8.067647 -0.57349384 3.1285105 -3.0336847 5.106745 1.1351377 4.9473085 5.7744465 -3.973022 3.2707994
# output_0: float32[4, 1] -1.7658259 3.6116052 5.106745 5.7744465
# output_1: int64[4, 1] 1 1 2 1
def forward(self, given_0: "f32[4, 4]"):
    adaptive_max_pool1d = torch.ops.aten.adaptive_max_pool1d.default(given_0, [1]);  given_0 = None
    getitem: "f32[4, 1]" = adaptive_max_pool1d[0]
    getitem_1: "i64[4, 1]" = adaptive_max_pool1d[1];  adaptive_max_pool1d = None
    return (getitem, getitem_1)
