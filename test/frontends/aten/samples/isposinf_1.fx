# given_0: float32[3, 3] 0.86060685 0.4366973 0.6849576 0.4219829 0.31620958 0.033630986 0.11214863 0.8750137 0.86748844
# output_0: bool[3, 3] False False False False False False False False False
def forward(self, given_0: "f32[3, 3]"):
    isposinf: "b8[3, 3]" = torch.ops.aten.isposinf.default(given_0);  given_0 = None
    return (isposinf,)
