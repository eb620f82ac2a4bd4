// RUN: opt-tool %s --split-input-file --verify-diagnostics
// The ways to say where a diagnostic is, and what it says.

// expected-error@+1 {{unknown operation}}
"te.nothing"() : () -> ()
// -----
"te.nothing"() : () -> () // expected-error {{unknown operation}}
// -----
"te.nothing"() : () -> ()
// expected-error@-1 {{unknown operation}}
// -----
"te.nothing"() : () -> ()
// expected-error@above {{unknown operation}}
// -----
// expected-error@below {{unknown operation}}
"te.nothing"() : () -> ()
// -----
// expected-error-re@+1 {{unknown {{[a-z]+}} 'te.{{no.*}}'}}
"te.nothing"() : () -> ()
