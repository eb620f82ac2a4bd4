// RUN: opt-tool %s --split-input-file | filecheck %s
// RUN: opt-tool %s --split-input-file --output-split-marker='// =====' | filecheck %s --check-prefix=MARKER

// CHECK: @first
// CHECK: // -----
// CHECK: @second
// MARKER: @first
// MARKER: // =====
// MARKER-NOT: // -----
// MARKER: @second
func.func private @first()
// -----
func.func private @second()
