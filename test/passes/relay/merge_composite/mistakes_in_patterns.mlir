// RUN: opt-tool %s -p relay-merge-composite --split-input-file --verify-diagnostics

pdl.pattern @unknown : benefit(1) {
  %x = operand
  // expected-error@+1 {{pdl.pattern @unknown: there is no relay op 'relay.nn.rellu' that a pattern could match}}
  %0 = operation "relay.nn.rellu"(%x : !pdl.value)
  rewrite %0 with "mine.unknown"
}
// -----
pdl.pattern @operands : benefit(1) {
  %x = operand
  // expected-error@+1 {{pdl.pattern @operands: relay.nn.dense takes 2 operands, got 1}}
  %0 = operation "relay.nn.dense"(%x : !pdl.value)
  rewrite %0 with "mine.operands"
}
// -----
pdl.pattern @guarded : benefit(1) {
  %x = operand
  // expected-error@+1 {{pdl.pattern @guarded: the constraint 'is_even' is not known here}}
  apply_native_constraint "is_even"(%x : !pdl.value)
  %0 = operation "relay.exp"(%x : !pdl.value)
  rewrite %0 with "mine.guarded"
}
// -----
pdl.pattern @attribute : benefit(1) {
  %x = operand
  %a = attribute = 1 : i64
  // expected-error@+1 {{pdl.pattern @attribute: relay.exp has no attribute 'axis'}}
  %0 = operation "relay.exp"(%x : !pdl.value) {"axis" = %a}
  rewrite %0 with "mine.attribute"
}
