// RUN: cd %S/inputs && not opt-tool %s --load broken_load.py 2>&1 | filecheck %s
// A name without a folder. The other ways to load a file stand in load_file.mlir, which needs no shell without this one.

// CHECK: broken_load.py:3: error: ZeroDivisionError:
func.func @f(%x: i32) -> i32 {
  return %x : i32
}
