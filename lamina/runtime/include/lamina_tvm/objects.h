/* lamina_tvm/objects.h: what the handles of TVM's C interface stand for: functions and modules, which are counted.

   Included by tvm/runtime/c_runtime_api.h. In C++ functions are inline, in C weak: one of them is left in a program. */

#ifndef LAMINA_TVM_OBJECTS_H
#define LAMINA_TVM_OBJECTS_H

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/runtime/c_runtime_api.h>

#ifdef __cplusplus
#define LAMINA_TVM inline
extern "C" {
#else
#define LAMINA_TVM __attribute__((weak))
#endif

#define LAMINA_TVM_RETAIN(object) ((void)__atomic_add_fetch(&(object)->references, 1, __ATOMIC_RELAXED))
#define LAMINA_TVM_IS_LAST(object) (__atomic_sub_fetch(&(object)->references, 1, __ATOMIC_ACQ_REL) == 0)

/* -- what is a thread's own ---------------------------------------------------------------------------------------- */

typedef struct {
  char error[2048];
  /* the text or bytes that the last function returned */
  void *returned;
  const char **names;
} lamina_tvm_thread;

LAMINA_TVM void lamina_tvm_end_thread(void *thread) {
  lamina_tvm_thread *own = (lamina_tvm_thread *)thread;
  free(own->returned);
  free((void *)own->names);
  free(own);
}

/* The record of this thread; null where there is no memory. */
LAMINA_TVM lamina_tvm_thread *lamina_tvm_this_thread(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static pthread_key_t key;
  static int made = 0;
  pthread_mutex_lock(&lock);
  made = made || pthread_key_create(&key, lamina_tvm_end_thread) == 0;
  pthread_mutex_unlock(&lock);
  lamina_tvm_thread *own = made ? (lamina_tvm_thread *)pthread_getspecific(key) : NULL;
  if (made && !own) {
    own = (lamina_tvm_thread *)calloc(1, sizeof *own);
    if (own && pthread_setspecific(key, own)) {
      free(own);
      own = NULL;
    }
  }
  return own;
}

LAMINA_TVM const char *TVMGetLastError(void) {
  const lamina_tvm_thread *own = lamina_tvm_this_thread();
  return own ? own->error : "no memory";
}

LAMINA_TVM void TVMAPISetLastError(const char *msg) {
  lamina_tvm_thread *own = lamina_tvm_this_thread();
  if (own && msg != own->error) snprintf(own->error, sizeof own->error, "%s", msg);
}

/* Say what is wrong: -1, for the caller to return. */
__attribute__((format(printf, 1, 2))) LAMINA_TVM int lamina_tvm_fail(const char *format, ...) {
  lamina_tvm_thread *own = lamina_tvm_this_thread();
  char text[sizeof own->error];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  TVMAPISetLastError(text);
  return -1;
}

LAMINA_TVM const char *lamina_tvm_kind(int code) {
  static const char *const kinds[] = {
      "an integer", "an unsigned integer", "a float",  "a pointer",  "null",   "a type",     "a device",
      "a tensor",   "an object",           "a module", "a function", "a text", "text bytes", "an array"};
  return code >= 0 && code < (int)(sizeof kinds / sizeof *kinds) ? kinds[code] : "a value of no known kind";
}

/* -- functions ----------------------------------------------------------------------------------------------------- */

typedef struct {
  int references;
  TVMPackedCFunc call;
  void *resource;
  TVMPackedCFuncFinalizer finalizer;
} lamina_tvm_function;

/* What a call gives. A text or bytes are memory of malloc, handles are a reference: both are the receiver's. */
typedef struct {
  TVMValue value;
  int code;
} lamina_tvm_result;

LAMINA_TVM int TVMFuncCreateFromCFunc(TVMPackedCFunc func, void *resource_handle, TVMPackedCFuncFinalizer fin,
                                      TVMFunctionHandle *out) {
  lamina_tvm_function *made = (lamina_tvm_function *)malloc(sizeof *made);
  if (!made) return lamina_tvm_fail("no memory for a function");
  made->references = 1;
  made->call = func;
  made->resource = resource_handle;
  made->finalizer = fin;
  *out = made;
  return 0;
}

LAMINA_TVM int TVMFuncFree(TVMFunctionHandle func) {
  lamina_tvm_function *function = (lamina_tvm_function *)func;
  if (function && LAMINA_TVM_IS_LAST(function)) {
    if (function->finalizer) function->finalizer(function->resource);
    free(function);
  }
  return 0;
}

/* A copy of bytes behind their TVMByteArray, in one piece of memory, with a zero at the end; null without memory. */
LAMINA_TVM TVMByteArray *lamina_tvm_copied(const char *data, size_t size) {
  TVMByteArray *copy = (TVMByteArray *)malloc(sizeof *copy + size + 1);
  if (copy) {
    char *bytes = (char *)(copy + 1);
    if (size) memcpy(bytes, data, size);
    bytes[size] = 0;
    copy->data = bytes;
    copy->size = size;
  }
  return copy;
}

LAMINA_TVM void lamina_tvm_retain(const TVMValue *value, int code);
LAMINA_TVM void lamina_tvm_release(const TVMValue *value, int code);

LAMINA_TVM int TVMCFuncSetReturn(TVMRetValueHandle ret, TVMValue *value, int *type_code, int num_ret) {
  lamina_tvm_result *result = (lamina_tvm_result *)ret;
  if (num_ret != 1) return lamina_tvm_fail("a function returns one value, not %d", num_ret);
  const int code = *type_code;
  TVMValue kept = *value;
  if (code == kTVMStr || code == kTVMBytes) {
    const TVMByteArray *bytes = (const TVMByteArray *)value->v_handle;
    kept.v_handle = code == kTVMStr ? lamina_tvm_copied(value->v_str, strlen(value->v_str))
                                    : lamina_tvm_copied(bytes->data, bytes->size);
    if (!kept.v_handle) return lamina_tvm_fail("no memory for a text");
  } else {
    lamina_tvm_retain(&kept, code);
  }
  lamina_tvm_release(&result->value, result->code);
  result->value = kept;
  result->code = code;
  return 0;
}

/* Call a function; texts and bytes of the result are a TVMByteArray. */
LAMINA_TVM int lamina_tvm_call(TVMFunctionHandle func, TVMValue *values, int *codes, int count,
                               lamina_tvm_result *result) {
  const lamina_tvm_function *function = (const lamina_tvm_function *)func;
  result->code = kTVMNullptr;
  result->value.v_handle = NULL;
  if (!function) return lamina_tvm_fail("this function is null: its module has none of the name that was asked for");
  return function->call(values, codes, count, result, function->resource);
}

LAMINA_TVM int TVMFuncCall(TVMFunctionHandle func, TVMValue *arg_values, int *type_codes, int num_args,
                           TVMValue *ret_val, int *ret_type_code) {
  lamina_tvm_result result;
  const int code = lamina_tvm_call(func, arg_values, type_codes, num_args, &result);
  if (code) return code;
  if (result.code == kTVMStr || result.code == kTVMBytes) {
    lamina_tvm_thread *own = lamina_tvm_this_thread();
    if (!own) {
      free(result.value.v_handle);
      return -1;
    }
    free(own->returned);
    own->returned = result.value.v_handle;
    if (result.code == kTVMStr) result.value.v_str = ((const TVMByteArray *)own->returned)->data;
  }
  *ret_val = result.value;
  *ret_type_code = result.code;
  return 0;
}

/* Put a handle into the place of a result, which takes over the reference. */
LAMINA_TVM int lamina_tvm_give(TVMRetValueHandle ret, void *handle, int code) {
  lamina_tvm_result *result = (lamina_tvm_result *)ret;
  result->value.v_handle = handle;
  result->code = code;
  return 0;
}

LAMINA_TVM int lamina_tvm_give_number(TVMRetValueHandle ret, int64_t number) {
  lamina_tvm_result *result = (lamina_tvm_result *)ret;
  result->value.v_int64 = number;
  result->code = kTVMArgInt;
  return 0;
}

/* -- modules ------------------------------------------------------------------------------------------------------- */

typedef struct lamina_tvm_module {
  int references;
  const char *type_key;
  /* the function of a name, as a reference of the caller's, or null */
  int (*find)(struct lamina_tvm_module *module, const char *name, TVMFunctionHandle *out);
  /* free what is behind this record, and the record */
  void (*end)(struct lamina_tvm_module *module);
  struct lamina_tvm_module **imports;
  int n_imports;
} lamina_tvm_module;

LAMINA_TVM int TVMModFree(TVMModuleHandle mod) {
  lamina_tvm_module *module = (lamina_tvm_module *)mod;
  if (module && LAMINA_TVM_IS_LAST(module)) {
    for (int n = 0; n < module->n_imports; n++) TVMModFree(module->imports[n]);
    free(module->imports);
    module->end(module);
  }
  return 0;
}

/* Whether a module is another one or finds functions of it. */
LAMINA_TVM int lamina_tvm_reaches(const lamina_tvm_module *module, const lamina_tvm_module *other) {
  int found = module == other;
  for (int n = 0; !found && n < module->n_imports; n++) found = lamina_tvm_reaches(module->imports[n], other);
  return found;
}

LAMINA_TVM int TVMModImport(TVMModuleHandle mod, TVMModuleHandle dep) {
  lamina_tvm_module *module = (lamina_tvm_module *)mod, *other = (lamina_tvm_module *)dep;
  if (!module || !other) return lamina_tvm_fail("a module that is null neither imports nor is imported");
  if (lamina_tvm_reaches(other, module)) return lamina_tvm_fail("a module cannot import itself");
  void *longer = realloc(module->imports, (size_t)(module->n_imports + 1) * sizeof *module->imports);
  if (!longer) return lamina_tvm_fail("no memory for a module");
  module->imports = (lamina_tvm_module **)longer;
  module->imports[module->n_imports++] = other;
  LAMINA_TVM_RETAIN(other);
  return 0;
}

LAMINA_TVM int TVMModGetFunction(TVMModuleHandle mod, const char *func_name, int query_imports,
                                 TVMFunctionHandle *out) {
  lamina_tvm_module *module = (lamina_tvm_module *)mod;
  *out = NULL;
  if (!module) return lamina_tvm_fail("there is no module to ask for a function %s", func_name);
  int code = module->find(module, func_name, out);
  for (int n = 0; query_imports && !code && !*out && n < module->n_imports; n++)
    code = TVMModGetFunction(module->imports[n], func_name, 1, out);
  return code;
}

LAMINA_TVM void lamina_tvm_end_method(void *module) { TVMModFree(module); }

/* A function that works on a module, which lives as long as it does. */
LAMINA_TVM int lamina_tvm_method(lamina_tvm_module *module, TVMPackedCFunc call, TVMFunctionHandle *out) {
  const int code = TVMFuncCreateFromCFunc(call, module, lamina_tvm_end_method, out);
  if (!code) LAMINA_TVM_RETAIN(module);
  return code;
}

#ifdef __cplusplus
}
#endif

#endif /* LAMINA_TVM_OBJECTS_H */
