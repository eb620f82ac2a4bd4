// RUN: opt-tool %s -split-input-file='// ##' --output-split-marker='// here' | filecheck %s

// CHECK:      func.func private @f()
// CHECK:      // here
// CHECK:      func.func private @f(i32)
func.func private @f()
// ##
func.func private @f(i32)
