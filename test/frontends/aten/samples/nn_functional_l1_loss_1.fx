# given_0: float32[] -8.478374
# given_1: float32[] -1.7658259
# output_0: float32[] 6.712548
def forward(self, given_0: "f32[]", given_1: "f32[]"):
    broadcast_tensors = torch.ops.aten.broadcast_tensors.default([given_0, given_1]);  given_0 = given_1 = None
    getitem: "f32[]" = broadcast_tensors[0]
    getitem_1: "f32[]" = broadcast_tensors[1];  broadcast_tensors = None
    l1_loss: "f32[]" = torch.ops.aten.l1_loss.default(getitem, getitem_1);  getitem = getitem_1 = None
    return (l1_loss,)
