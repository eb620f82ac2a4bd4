# given_0: float32[] -8.478374
# output_0: float32[] -8.478374
def forward(self, given_0: "f32[]"):
    _assert_tensor_metadata_default = torch.ops.aten._assert_tensor_metadata.default(given_0, dtype = torch.float32, device = device(type='cpu'), layout = torch.strided);  _assert_tensor_metadata_default = None
    to: "f32[]" = torch.ops.aten.to.dtype(given_0, torch.float32);  given_0 = None
    prod: "f32[]" = torch.ops.aten.prod.dim_int(to, 0, True);  to = None
    return (prod,)
