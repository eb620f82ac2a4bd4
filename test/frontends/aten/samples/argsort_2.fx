# arg0_1: float32[3, 3] 0.18931556 0.27729455 0.24989411 0.23208323 0.07097699 0.5421148 0.31913218 0.016872274 0.18723723
# output_0: int64[3, 3] 0 2 1 1 0 2 1 2 0
def forward(self, arg0_1: "f32[3, 3]"):
    sort = torch.ops.aten.sort.default(arg0_1);  arg0_1 = None
    getitem: "f32[3, 3]" = sort[0];  getitem = None
    getitem_1: "i64[3, 3]" = sort[1];  sort = None
    return [getitem_1]
