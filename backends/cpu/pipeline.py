"""The passes that the CPU adds to those of all targets."""

from lamina.passes.added_pass import AddedPass

PASSES = (
    AddedPass(
        "cpu-quantized-transposed",
        "after relay-quantized-products",
        "transposed convolutions of bytes become plain ones while they still are quantised ops",
    ),
    AddedPass(
        "cpu-branches-of-bytes",
        "after relay-quantized-products",
        "which product leaves bytes is seen on quantised ops, before they are written out",
    ),
    AddedPass(
        "cpu-channels-first",
        "after relay-fold-transpose",
        "blocks of channels are made of layouts with the channels first: images with the channels last get these",
        lays_out=True,
    ),
    AddedPass(
        "cpu-flat-convolutions",
        "after relay-fold-transpose",
        "what becomes a convolution of images here is laid out with the others",
        lays_out=True,
    ),
    AddedPass(
        "cpu-fuse-attention",
        "after relay-alter-op-layout",
        "attention is fused before the factors of its products are packed one by one",
        lays_out=True,
    ),
    AddedPass(
        "cpu-pack-weights",
        "after relay-alter-op-layout",
        "dense layers are what they stay: their constant factors can be packed",
        lays_out=True,
    ),
    AddedPass(
        "cpu-pack-recurrent",
        "after relay-alter-op-layout",
        "the same for the layers that repeat their products",
        lays_out=True,
    ),
    AddedPass(
        "cpu-winograd",
        "after relay-alter-op-layout",
        "it takes convolutions that are on blocks already",
        lays_out=True,
    ),
    AddedPass(
        "cpu-order-weights",
        "after relay-alter-op-layout",
        "the convolutions that winograd has left sum directly, in an order of their own",
        lays_out=True,
    ),
    AddedPass(
        "cpu-transpose-factors",
        "after relay-alter-op-layout",
        "factors that are no constants, once the constant ones are packed",
    ),
    AddedPass("cpu-schedule", "after relay-to-te", "kernels without a schedule get the processor's"),
)
