# given_0: float32[] -8.478374
# output_0: bfloat16[] -8.5
def forward(self, given_0: "f32[]"):
    _assert_tensor_metadata_default = torch.ops.aten._assert_tensor_metadata.default(given_0, dtype = torch.float32, device = device(type='cpu'), layout = torch.strided);  _assert_tensor_metadata_default = None
    to: "bf16[]" = torch.ops.aten.to.dtype(given_0, torch.bfloat16);  given_0 = None
    return (to,)
