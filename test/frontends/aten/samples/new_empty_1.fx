# given_0: float32[] -8.478374
# output_0: float32[] 6.426909e-21
def forward(self, given_0: "f32[]"):
    new_empty: "f32[]" = torch.ops.aten.new_empty.default(given_0, [], pin_memory = False);  given_0 = None
    return (new_empty,)
