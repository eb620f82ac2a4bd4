# arg0_1: float32[2, 3] -3.0336847 5.106745 1.1351377 4.9473085 5.7744465 -3.973022
# arg1_1: int64[2] 0 0
# output_0: float32[] 4.674664
def forward(self, arg0_1: "f32[2, 3]", arg1_1: "i64[2]"):
    _log_softmax: "f32[2, 3]" = torch.ops.aten._log_softmax.default(arg0_1, 1, False);  arg0_1 = None
    nll_loss_forward = torch.ops.aten.nll_loss_forward.default(_log_softmax, arg1_1, None, 1, -100);  _log_softmax = arg1_1 = None
    getitem: "f32[]" = nll_loss_forward[0]
    getitem_1: "f32[]" = nll_loss_forward[1];  nll_loss_forward = getitem_1 = None
    return [getitem]
