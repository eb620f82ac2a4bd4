# given_0: float32[6] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052
# output_0: float32[3] -8.478374 -1.7658259 -4.3228045
# output_1: float32[3] -2.400456 -7.950587 3.6116052
def forward(self, given_0: "f32[6]"):
    hsplit = torch.ops.aten.hsplit.int(given_0, 2);  given_0 = None
    getitem: "f32[3]" = hsplit[0]
    getitem_1: "f32[3]" = hsplit[1];  hsplit = None
    return (getitem, getitem_1)
