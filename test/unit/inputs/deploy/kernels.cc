// A caller of kernels by TVM's C++ interface: LIBRARY OTHER, and those that are linked into the program.

#include <tvm/runtime/module.h>
#include <tvm/runtime/registry.h>

#include <cstdio>
#include <thread>
#include <vector>

LAMINA_SYSTEM_LIB(addonesys);
LAMINA_SYSTEM_LIB(weighted);

using tvm::runtime::Module;
using tvm::runtime::NDArray;
using tvm::runtime::PackedFunc;

template <typename F>
static void Told(F mistake) {
  try {
    mistake();
  } catch (const dmlc::Error& e) {
    std::puts(e.what());
    return;
  }
  LOG(FATAL) << "no error";
}

static void AddOne(const PackedFunc& f, int64_t length) {
  ICHECK(f != nullptr);
  DLTensor* x;
  DLTensor* y;
  TVM_CCALL(TVMArrayAlloc(&length, 1, kDLFloat, 32, 1, kDLCPU, 0, &x));
  TVM_CCALL(TVMArrayAlloc(&length, 1, kDLFloat, 32, 1, kDLCPU, 0, &y));
  for (int64_t i = 0; i < length; ++i) static_cast<float*>(x->data)[i] = static_cast<float>(i);
  f(x, y);
  for (int64_t i = 0; i < length; ++i) ICHECK_EQ(static_cast<float*>(y->data)[i], static_cast<float>(i) + 1.0f);
  TVMArrayFree(x);
  TVMArrayFree(y);
}

int main(int count, char** words) {
  ICHECK_EQ(count, 3);
  const DLDevice dev{kDLCPU, 0};
  const DLDataType f32{kDLFloat, 32, 1};
  Module library = Module::LoadFromFile(words[1]);
  PackedFunc addone = library.GetFunction("addone");
  for (int64_t length : {10, 0, 33}) AddOne(addone, length);
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&] {
      for (int64_t length = 1; length < 200; ++length) AddOne(addone, length);
    });
  for (std::thread& thread : threads) thread.join();

  Module linked = (*tvm::runtime::Registry::Get("runtime.SystemLib"))();
  AddOne(linked.GetFunction("addonesys"), 7);
  ICHECK(linked.GetFunction("default") == nullptr);
  // y[i] = a * x[i] + k, with the number of elements as an argument.
  PackedFunc weighted = linked.GetFunction("weighted");
  NDArray x = NDArray::Empty({3}, f32, dev), y = NDArray::Empty({3}, f32, dev);
  for (int i = 0; i < 3; ++i) static_cast<float*>(x->data)[i] = static_cast<float>(i);
  weighted(3, 1.5, -2, x, y);
  for (int i = 0; i < 3; ++i) ICHECK_EQ(static_cast<float*>(y->data)[i], 1.5f * static_cast<float>(i) - 2.0f);
  library.Import(linked);
  ICHECK(library.GetFunction("weighted") == nullptr);
  ICHECK(library.GetFunction("weighted", true) != nullptr);
  ICHECK_EQ(library->imports().size(), 1);

  // Another file of the name, while the first is loaded.
  ICHECK_EQ(std::rename(words[2], words[1]), 0);
  AddOne(Module::LoadFromFile(words[1]).GetFunction("addone2"), 5);
  AddOne(addone, 5);

  Told([&] { addone(x, NDArray::Empty({4}, f32, dev)); });
  Told([&] { addone(x, x); });
  Told([&] { addone(x); });
  Told([&] { addone(dev); });
  Told([&] { addone(x, NDArray::Empty({3}, DLDataType{kDLInt, 32, 1}, dev)); });
  Told([&] { weighted(4, 1.5, -2, x, y); });
  Told([&] { weighted(3, 1.5, 5000000000, x, y); });
  Told([&] { weighted(3, "a", -2, x, y); });
  Told([&] { linked.Import(library); });
  return 0;
}
