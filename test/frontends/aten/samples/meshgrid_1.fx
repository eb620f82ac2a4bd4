# given_0: float32[] -8.478374
# output_0: float32[1] -8.478374
def forward(self, given_0: "f32[]"):
    meshgrid = torch.ops.aten.meshgrid.indexing([given_0], indexing = 'xy');  given_0 = None
    getitem: "f32[1]" = meshgrid[0];  meshgrid = None
    return (getitem,)
