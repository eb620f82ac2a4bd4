# given_0: float32[3, 3] 0.6237691 0.35375214 0.4923607 0.73651487 0.5766735 0.12249106 0.37623408 0.28854808 0.4881011
# output_0: float32[3, 3] 0.31539497 -0.37521002 -0.019150028 0.6326377 0.19339071 -1.162624 -0.31538656 -0.5576313 -0.029830556
def forward(self, given_0: "f32[3, 3]"):
    special_ndtri: "f32[3, 3]" = torch.ops.aten.special_ndtri.default(given_0);  given_0 = None
    return (special_ndtri,)
