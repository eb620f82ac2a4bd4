// RUN: not opt-tool %s -p relay-sample-token 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not opt-tool %s -p 'relay-sample-token{logits=y top-k=9}' 2>&1 | filecheck %s --check-prefix=MANY
// RUN: not opt-tool %s -p 'relay-sample-token{logits=y top-k=0}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not opt-tool %s -p 'relay-sample-token{logits=y token=x}' 2>&1 | filecheck %s --check-prefix=TAKEN
// RUN: not opt-tool %s -p 'relay-sample-token{logits=b}' 2>&1 | filecheck %s --check-prefix=BATCH
// RUN: not opt-tool %s -p 'relay-sample-token{logits=y dtype=int8}' 2>&1 | filecheck %s --check-prefix=WORDS
// RUN: not opt-tool %s -p 'relay-sample-token{logits=i}' 2>&1 | filecheck %s --check-prefix=DTYPE

// NAME:  error: relay-sample-token: there is no result 'logits'; the results are y, b, i
// MANY:  error: relay-sample-token: top-k is 9, there are 4 tokens
// NONE:  error: relay-sample-token: top-k is at least 1, the temperature above 0, the seed from 0 to 2^64 - 1
// TAKEN: error: relay-sample-token: there is a 'x' already; give the token another name
// BATCH: error: relay-sample-token: the batch is not known, or none; give it: shapes={"batch": 1}
// WORDS: error: relay-sample-token: tokens are int32 or int64, and go by a plain name
// DTYPE: error: relay-sample-token: 'i' is int32 of rank 2; logits are float32 or float64 [batch, rows, vocabulary]
builtin.module attributes {relay.symbols = {n = #relay.symbol<min = 1, max = 64>}} {
  func.func @main(%x: tensor<2x4xf32>, %b: tensor<?x4xf32, #relay.dims<n, _>>, %i: tensor<2x4xi32>)
      -> (tensor<2x4xf32> {lamina.name = "y"}, tensor<?x4xf32, #relay.dims<n, _>> {lamina.name = "b"}, tensor<2x4xi32> {lamina.name = "i"}) {
    func.return %x, %b, %i : tensor<2x4xf32>, tensor<?x4xf32, #relay.dims<n, _>>, tensor<2x4xi32>
  }
}
