// RUN: not opt-tool %s -p 'relay-merge-composite{patterns=dnn}' 2>&1 | filecheck %s --check-prefix TABLE
// RUN: not opt-tool %s -p 'relay-merge-composite{patterns=@b}' 2>&1 | filecheck %s --check-prefix SYMBOL

// TABLE: there is no pattern table 'dnn'; did you mean 'dnnl'?
// SYMBOL: there is no pdl.pattern @b in the module; there is @a
pdl.pattern @a : benefit(1) {
  %x = operand
  %0 = operation "relay.exp"(%x : !pdl.value)
  rewrite %0 with "mine.exp"
}
