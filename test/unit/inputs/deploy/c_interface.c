/* A caller of TVM's C interface: LIBRARY INPUT OUTPUT, files of raw float32. */

#include <tvm/runtime/c_runtime_api.h>

#define TRY(call) \
  if (call) return fprintf(stderr, "error: %s\n", TVMGetLastError()), 1

static int twice(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  TVMValue value;
  int code = kTVMStr;
  char text[32];
  if (count != 1 || codes[0] != kTVMArgInt) {
    TVMAPISetLastError("twice takes an integer");
    return -1;
  }
  snprintf(text, sizeof text, "%d", (int)(args[0].v_int64 * *(const int *)resource));
  value.v_str = text;
  return TVMCFuncSetReturn(ret, &value, &code, 1);
}

static int read_whole(const char *path, void *to, size_t size) {
  FILE *file = fopen(path, "rb");
  const int read = file && fread(to, 1, size, file) == size;
  if (file) fclose(file);
  return !read;
}

static int run(const char *library, const char *input, const char *output) {
  const int64_t in_shape[2] = {4, 8}, out_shape[2] = {4, 5};
  float data[32], result[20];
  TVMModuleHandle factory, gmod;
  TVMFunctionHandle create, set_input, forward, get_output;
  TVMArrayHandle x;
  TVMValue args[2], value;
  int codes[2], code;

  if (read_whole(input, data, sizeof data)) return 1;
  TRY(TVMModLoadFromFile(library, "so", &factory));
  TRY(TVMModGetFunction(factory, "default", 0, &create));
  args[0].v_device.device_type = kDLCPU;
  args[0].v_device.device_id = 0;
  codes[0] = kDLDevice;
  TRY(TVMFuncCall(create, args, codes, 1, &value, &code));
  if (code != kTVMModuleHandle) return 1;
  gmod = value.v_handle;
  TRY(TVMModGetFunction(gmod, "set_input", 0, &set_input));
  TRY(TVMModGetFunction(gmod, "run", 0, &forward));
  TRY(TVMModGetFunction(gmod, "get_output", 0, &get_output));
  TRY(TVMArrayAlloc(in_shape, 2, kDLFloat, 32, 1, kDLCPU, 0, &x));
  TRY(TVMArrayCopyFromBytes(x, data, sizeof data));
  args[0].v_str = "x";
  codes[0] = kTVMStr;
  args[1].v_handle = x;
  codes[1] = kTVMNDArrayHandle;
  TRY(TVMFuncCall(set_input, args, codes, 2, &value, &code));
  TRY(TVMFuncCall(forward, NULL, NULL, 0, &value, &code));
  args[0].v_int64 = 0;
  codes[0] = kTVMArgInt;
  TRY(TVMFuncCall(get_output, args, codes, 1, &value, &code));
  if (code != kTVMNDArrayHandle) return 1;
  if (((DLTensor *)value.v_handle)->shape[1] != out_shape[1]) return 1;
  TRY(TVMArrayCopyToBytes((TVMArrayHandle)value.v_handle, result, sizeof result));
  TRY(TVMArrayFree((TVMArrayHandle)value.v_handle));
  TRY(TVMSynchronize(kDLCPU, 0, NULL));
  TRY(TVMArrayFree(x) || TVMFuncFree(set_input) || TVMFuncFree(forward) || TVMFuncFree(get_output));
  TRY(TVMFuncFree(create) || TVMModFree(gmod) || TVMModFree(factory));
  FILE *file = fopen(output, "wb");
  if (!file || fwrite(result, 1, sizeof result, file) != sizeof result || fclose(file)) return 1;
  return 0;
}

int main(int count, char **words) {
  static int factor = 2;
  TVMFunctionHandle function, found, none;
  TVMValue argument, value;
  int kind = kTVMArgInt, code, size;
  const char **names;

  if (count != 4 || run(words[1], words[2], words[3])) return 1;
  TRY(TVMFuncCreateFromCFunc(twice, &factor, NULL, &function));
  TRY(TVMFuncRegisterGlobal("twice", function, 0));
  if (!TVMFuncRegisterGlobal("twice", function, 0)) return 1;
  TRY(TVMFuncGetGlobal("twice", &found));
  TRY(TVMFuncGetGlobal("thrice", &none));
  if (none) return 1;
  argument.v_int64 = 21;
  TRY(TVMFuncCall(found, &argument, &kind, 1, &value, &code));
  if (code != kTVMStr || strcmp(value.v_str, "42")) return 1;
  kind = kTVMArgFloat;
  if (!TVMFuncCall(found, &argument, &kind, 1, &value, &code)) return 1;
  puts(TVMGetLastError());
  TRY(TVMFuncListGlobalNames(&size, &names));
  if (size != 5) return 1;
  TRY(TVMFuncRemoveGlobal("twice"));
  TRY(TVMFuncFree(found) || TVMFuncFree(function));
  return 0;
}
