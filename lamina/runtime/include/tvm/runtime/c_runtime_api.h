/* tvm/runtime/c_runtime_api.h: the functions of TVM's C interface (v0.8) that deployment uses, over lamina.h.

   Nothing of TVM is in it and no library of TVM's is needed: the functions stand in lamina_tvm/, as headers, for C99
   and C++14. Link with -ldl -lpthread where the C library has these apart.

   A library of `lib.export_library("net.so")` or `lamina compile -o net.so` is a module with one function of two names,
   "default" and the net's own. Called on a device it gives the graph executor, a module with the functions `set_input`,
   `get_input`, `run`, `get_output`, ... (lamina_tvm/executor.h); called on tensors, the inputs and then the outputs, it
   runs the net on them.

   Functions return 0, or -1 where TVMGetLastError says what is wrong. */

#ifndef TVM_RUNTIME_C_RUNTIME_API_H_
#define TVM_RUNTIME_C_RUNTIME_API_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t tvm_index_t;

/* The kind of a value; those of numbers are codes of DLPack. */
typedef enum {
  kTVMArgInt = 0,
  kTVMArgFloat = 2,
  kTVMOpaqueHandle = 3,
  kTVMNullptr = 4,
  kTVMDataType = 5,
  kDLDevice = 6,
  kTVMDLTensorHandle = 7,
  kTVMObjectHandle = 8,
  kTVMModuleHandle = 9,
  kTVMPackedFuncHandle = 10,
  kTVMStr = 11,
  kTVMBytes = 12,
  kTVMNDArrayHandle = 13
} TVMArgTypeCode;

typedef union {
  int64_t v_int64;
  double v_float64;
  void *v_handle;
  const char *v_str;
  DLDataType v_type;
  DLDevice v_device;
} TVMValue;

typedef struct {
  const char *data;
  size_t size;
} TVMByteArray;

/* A counted object: each handle that a function gives is one reference, which the caller ends by the function of its
   kind: TVMModFree, TVMFuncFree, TVMArrayFree. */
typedef void *TVMModuleHandle;
typedef void *TVMFunctionHandle;
/* The place that a function puts its result in. */
typedef void *TVMRetValueHandle;
typedef void *TVMStreamHandle;
/* An array that TVMArrayAlloc made. */
typedef DLTensor *TVMArrayHandle;

/* A function in C: 0, or -1 after TVMAPISetLastError. */
typedef int (*TVMPackedCFunc)(TVMValue *args, int *type_codes, int num_args, TVMRetValueHandle ret,
                              void *resource_handle);
typedef void (*TVMPackedCFuncFinalizer)(void *resource_handle);

/* What the last call in this thread that failed has said; this text stands until the next one fails. */
const char *TVMGetLastError(void);
void TVMAPISetLastError(const char *msg);

/* Load a library; the format is "so", or "" for what the file's name says. */
int TVMModLoadFromFile(const char *file_name, const char *format, TVMModuleHandle *out);
/* Let a module find functions of another. */
int TVMModImport(TVMModuleHandle mod, TVMModuleHandle dep);
/* A function by its name, null where there is none; of modules that it imports too where `query_imports` is not 0. */
int TVMModGetFunction(TVMModuleHandle mod, const char *func_name, int query_imports, TVMFunctionHandle *out);
int TVMModFree(TVMModuleHandle mod);

/* Call a function. A text that it returns stands until this thread's next call. */
int TVMFuncCall(TVMFunctionHandle func, TVMValue *arg_values, int *type_codes, int num_args, TVMValue *ret_val,
                int *ret_type_code);
int TVMFuncFree(TVMFunctionHandle func);
int TVMFuncCreateFromCFunc(TVMPackedCFunc func, void *resource_handle, TVMPackedCFuncFinalizer fin,
                           TVMFunctionHandle *out);
/* Give a function of C its result, which is copied, or referred to once more. */
int TVMCFuncSetReturn(TVMRetValueHandle ret, TVMValue *value, int *type_code, int num_ret);

/* Functions by names of the whole process: "tvm.graph_executor.create", "runtime.SystemLib" and those of the caller. */
int TVMFuncRegisterGlobal(const char *name, TVMFunctionHandle f, int override);
int TVMFuncGetGlobal(const char *name, TVMFunctionHandle *out);
int TVMFuncRemoveGlobal(const char *name);
/* The names, until this thread's next call of it. */
int TVMFuncListGlobalNames(int *out_size, const char ***out_array);

int TVMArrayAlloc(const tvm_index_t *shape, int ndim, int dtype_code, int dtype_bits, int dtype_lanes, int device_type,
                  int device_id, TVMArrayHandle *out);
int TVMArrayFree(TVMArrayHandle handle);
/* Copy from or to memory; `nbytes` is the size of the whole tensor. */
int TVMArrayCopyFromBytes(TVMArrayHandle handle, void *data, size_t nbytes);
int TVMArrayCopyToBytes(TVMArrayHandle handle, void *data, size_t nbytes);
int TVMArrayCopyFromTo(DLTensor *from, DLTensor *to, TVMStreamHandle stream);
/* An array of a tensor of DLPack, which is freed with it; and the other way round. */
int TVMArrayFromDLPack(DLManagedTensor *from, TVMArrayHandle *out);
int TVMArrayToDLPack(TVMArrayHandle from, DLManagedTensor **out);
void TVMDLManagedTensorCallDeleter(DLManagedTensor *tensor);

/* Calls on a processor have ended when they return: there is nothing to wait for. */
int TVMSynchronize(int device_type, int device_id, TVMStreamHandle stream);

#ifdef __cplusplus
}
#endif

#include <lamina_tvm/registry.h>

#endif /* TVM_RUNTIME_C_RUNTIME_API_H_ */
