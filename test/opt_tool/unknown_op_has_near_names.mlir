// RUN: opt-tool %s --split-input-file --verify-diagnostics

// expected-error@+1 {{unknown operation 'arith.adi'; did you mean 'arith.addi'}}
"arith.adi"() : () -> ()
// -----
// expected-error@+1 {{unknown dialect 'rely' in 'rely.add'; did you mean 'relay'}}
"rely.add"() : () -> ()
// -----
// expected-error@+1 {{unknown operation 'addi'; did you mean 'arith.addi'?}}
%0 = addi
// -----
// expected-error@+1 {{unknown operation 'te.comput'; did you mean 'te.compute'}}
te.comput
// -----
// expected-error@+1 {{unknown attribute '#tex.map'; did you mean 'te'}}
"test.op"() {a = #tex.map} : () -> ()
// -----
// expected-error@+1 {{unknown type '!foo.bar'}}
%0 = "test.op"() : () -> !foo.bar
