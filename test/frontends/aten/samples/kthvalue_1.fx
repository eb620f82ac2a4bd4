# given_0: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# output_0: float32[] -7.950587
# output_1: int64[] 4
def forward(self, given_0: "f32[5]"):
    kthvalue = torch.ops.aten.kthvalue.default(given_0, 2, 0);  given_0 = None
    getitem: "f32[]" = kthvalue[0]
    getitem_1: "i64[]" = kthvalue[1];  kthvalue = None
    return (getitem, getitem_1)
