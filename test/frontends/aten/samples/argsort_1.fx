# given_0: float32[3, 3] 0.18931556 0.27729455 0.24989411 0.23208323 0.07097699 0.5421148 0.31913218 0.016872274 0.18723723
# output_0: int64[3, 3] 0 2 1 1 0 2 1 2 0
def forward(self, given_0: "f32[3, 3]"):
    argsort: "i64[3, 3]" = torch.ops.aten.argsort.default(given_0);  given_0 = None
    return (argsort,)
