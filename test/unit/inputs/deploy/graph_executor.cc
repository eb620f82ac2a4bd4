// A caller of a graph executor by TVM's C++ interface: LIBRARY DAMAGED PARAMS INPUT OUTPUT, files of raw float32.

#include <dlpack/dlpack.h>
#include <tvm/runtime/module.h>
#include <tvm/runtime/packed_func.h>
#include <tvm/runtime/registry.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using tvm::runtime::Module;
using tvm::runtime::NDArray;
using tvm::runtime::PackedFunc;

TVM_REGISTER_GLOBAL("rows").set_body_typed([](NDArray a) { return a.Shape()[0]; });

static std::string Contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// What a mistake is told.
template <typename F>
static void Told(F mistake) {
  try {
    mistake();
  } catch (const tvm::runtime::Error& e) {
    std::puts(e.what());
    return;
  }
  LOG(FATAL) << "no error";
}

static void CompareAll(const NDArray& a, const NDArray& b) {
  ICHECK(a.Shape() == b.Shape()) << a.Shape() << " and " << b.Shape();
  ICHECK(a.DataType() == b.DataType());
  const size_t size = tvm::runtime::GetDataSize(*b.operator->());
  ICHECK_EQ(memcmp(a->data, b->data, size), 0);
}

static void Mistakes(const char* damaged_library, Module factory, Module gmod, NDArray x, TVMByteArray params) {
  const DLDevice dev{kDLCPU, 0};
  PackedFunc set_input = gmod.GetFunction("set_input");
  Told([&] { set_input("image", x); });
  Told([&] { set_input(7, x); });
  Told([&] { set_input("x", 3); });
  Told([&] { set_input(2.5, x); });
  Told([&] { set_input("x"); });
  Told([&] { set_input("x", NDArray::Empty({4, 7}, DLDataType{kDLFloat, 32, 1}, dev)); });
  Told([&] { set_input("x", NDArray::Empty({4, 8}, DLDataType{kDLFloat, 64, 1}, dev)); });
  Told([&] { gmod.GetFunction("get_output")(0, x); });
  Told([&] { gmod.GetFunction("get_output")(1); });
  Told([&] { gmod.GetFunction("run")(1); });
  Told([&] { gmod.GetFunction("jump")(); });
  Told([&] { factory.GetFunction("default")(DLDevice{kDLCUDA, 0}); });
  Told([&] { factory.GetFunction("default")(x, x, x); });
  Told([&] { NDArray::Empty({2}, DLDataType{kDLFloat, 32, 1}, DLDevice{kDLCUDA, 0}); });
  Told([&] { NDArray::Empty({-2}, DLDataType{kDLFloat, 32, 1}, dev); });
  Told([&] { x.CopyFromBytes(x->data, 4); });
  Told([&] { x.CreateView({4, 9}, x->dtype); });
  Told([&] { Module::LoadFromFile("nowhere/net.so"); });
  Told([&] { Module::LoadFromFile("/bin/sh"); });
  Told([&] { Module::LoadFromFile("net.so", "o"); });
  Told([&] { Module::LoadFromFile(damaged_library); });
  Told([&] { Module().GetFunction("default"); });
  Told([&] { (void)static_cast<std::string>(gmod.GetFunction("get_num_inputs")()); });
  Told([&] { (*tvm::runtime::Registry::Get("runtime.SystemLib"))(); });
  NDArray other = NDArray::Empty({8, 5}, DLDataType{kDLFloat, 32, 1}, dev);
  Told([&] { set_input("w", other); });
  TVMByteArray damaged = params;
  damaged.size -= 3;
  Told([&] { gmod.GetFunction("load_params")(damaged); });
  damaged.size = 5;
  Told([&] { gmod.GetFunction("load_params")(damaged); });
  Module third = factory.GetFunction("default")(dev);
  third.GetFunction("set_input_zero_copy")("x", x);
  third.GetFunction("set_output_zero_copy")("out0", x.CreateView({4, 5}, x->dtype));
  Told([&] { third.GetFunction("run")(); });
}

int main(int count, char** words) {
  ICHECK_EQ(count, 6);
  DLDevice dev{kDLCPU, 0};
  Module factory = Module::LoadFromFile(words[1]);
  Module gmod = factory.GetFunction("default")(dev);
  PackedFunc set_input = gmod.GetFunction("set_input");
  PackedFunc get_output = gmod.GetFunction("get_output");
  PackedFunc run = gmod.GetFunction("run");
  ICHECK(run != nullptr && factory.GetFunction("nothing") == nullptr);
  ICHECK_EQ(std::string(gmod->type_key()), "GraphExecutor");
  int inputs = gmod.GetFunction("get_num_inputs")();
  const int64_t outputs = gmod->GetFunction("get_num_outputs")();
  ICHECK_EQ(inputs, 1);
  ICHECK_EQ(outputs, 1);
  ICHECK_EQ(static_cast<int>(gmod.GetFunction("get_input_index")("x")), 0);
  ICHECK_EQ(static_cast<int>(gmod.GetFunction("get_input_index")("z")), -1);

  const std::string input = Contents(words[4]), bytes = Contents(words[3]);
  NDArray x = NDArray::Empty({4, 8}, DLDataType{kDLFloat, 32, 1}, dev);
  NDArray y = NDArray::Empty({4, 5}, DLDataType{kDLFloat, 32, 1}, dev);
  x.CopyFromBytes(input.data(), input.size());
  set_input("x", x);
  run();
  get_output(0, y);
  std::ofstream(words[5], std::ios::binary).write(static_cast<const char*>(y->data), 4 * 5 * sizeof(float));

  // The same by every other way.
  TVMByteArray params{bytes.data(), bytes.size()};
  gmod.GetFunction("load_params")(params);
  const PackedFunc* create = tvm::runtime::Registry::Get("tvm.graph_executor.create");
  ICHECK(create != nullptr);
  Module second = (*create)("{}", factory, static_cast<int>(dev.device_type), dev.device_id);
  ICHECK_EQ(x.use_count(), 1);
  second.GetFunction("set_input_zero_copy")(0, x);
  NDArray z = NDArray::Empty({4, 5}, DLDataType{kDLFloat, 32, 1}, dev);
  second.GetFunction("set_output_zero_copy")(0, z);
  second.GetFunction("run")();
  CompareAll(z, y);
  CompareAll(second.GetFunction("get_output")(0), y);
  CompareAll(second.GetFunction("get_input")("x"), x);
  NDArray result = get_output(0);
  CompareAll(result, y);
  NDArray direct = NDArray::Empty({4, 5}, DLDataType{kDLFloat, 32, 1}, dev);
  factory.GetFunction("default")(x, direct);
  CompareAll(direct, y);
  NDArray shared = NDArray::FromDLPack(direct.ToDLPack());
  CompareAll(shared.CreateView({20}, y->dtype).CreateView(y.Shape(), y->dtype), y);
  CompareAll(y.CopyTo(dev), y);
  DLTensor* given = static_cast<DLTensor*>(get_output(0));
  ICHECK(given == result.operator->());

  // Functions of the caller's.
  tvm::runtime::Registry::Register("scaled").set_body_typed([](int a, double b) { return a * b; });
  tvm::runtime::TypedPackedFunc<double(int, double)> scaled = *tvm::runtime::Registry::Get("scaled");
  ICHECK_EQ(scaled(3, 1.5), 4.5);
  ICHECK_EQ(static_cast<int>((*tvm::runtime::Registry::Get("rows"))(x)), 4);
  PackedFunc greet([](tvm::runtime::TVMArgs args, tvm::runtime::TVMRetValue* rv) {
    *rv = args[0].operator std::string() + (args.size() > 1 ? "!" : "");
  });
  ICHECK_EQ(std::string("net!"), greet("net", true).operator std::string());
  Told([&] { greet(7); });
  Told([&] { scaled.packed()(7); });
  Told([&] { tvm::runtime::Registry::Register("scaled").set_body(greet); });
  ICHECK(tvm::runtime::Registry::Remove("scaled"));
  ICHECK(tvm::runtime::Registry::Get("scaled") == nullptr);

  Mistakes(words[2], factory, gmod, x, params);
  factory = Module();
  run();
  CompareAll(get_output(0), y);
  LOG(INFO) << "done";
  return 0;
}
