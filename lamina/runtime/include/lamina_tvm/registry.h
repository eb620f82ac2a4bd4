/* lamina_tvm/registry.h: functions by names of the whole process, and nets that are linked into the program.

   Ours are "tvm.graph_executor.create" (and "tvm.graph_runtime.create", as it was called), "runtime.SystemLib" and
   "runtime.ModuleLoadFromFile". A net of an object or archive is entered by one line of a source file, outside of
   functions:

     LAMINA_SYSTEM_LIB(net)                  for the symbol lamina_net */

#ifndef LAMINA_TVM_REGISTRY_H
#define LAMINA_TVM_REGISTRY_H

#include <lamina_tvm/executor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- nets of the program ------------------------------------------------------------------------------------------- */

typedef struct lamina_tvm_linked {
  const lamina_net *net;
  struct lamina_tvm_linked *next;
} lamina_tvm_linked;

/* The list of nets that are linked into the program. */
LAMINA_TVM lamina_tvm_linked **lamina_tvm_all_linked(void) {
  static lamina_tvm_linked *first = NULL;
  return &first;
}

LAMINA_TVM void lamina_tvm_link(lamina_tvm_linked *entry) {
  lamina_tvm_linked **first = lamina_tvm_all_linked();
  entry->next = *first;
  *first = entry;
}

#ifdef __cplusplus
#define LAMINA_TVM_C extern "C"
#else
#define LAMINA_TVM_C extern
#endif
/* Enter a net before `main` begins. */
#define LAMINA_SYSTEM_LIB(name)                                            \
  LAMINA_TVM_C const lamina_net lamina_##name;                             \
  __attribute__((constructor)) static void lamina_tvm_enter_##name(void) { \
    static lamina_tvm_linked entry = {&lamina_##name, NULL};               \
    lamina_tvm_link(&entry);                                               \
  }                                                                        \
  typedef int lamina_tvm_entered_##name /* for the semicolon that may follow */

LAMINA_TVM int lamina_tvm_find_linked(lamina_tvm_module *module, const char *name, TVMFunctionHandle *out) {
  const lamina_tvm_linked *first = *lamina_tvm_all_linked(), *found = first;
  (void)module;
  while (found && strcmp(found->net->name, name)) found = found->next;
  if (!found && first && !first->next && !strcmp(name, "default")) found = first;
  if (!found) return 0;
  TVMModuleHandle library = NULL;
  if (lamina_tvm_new_library(found->net, NULL, NULL, &library)) return -1;
  const int code = TVMModGetFunction(library, name, 0, out);
  TVMModFree(library);
  return code;
}

LAMINA_TVM void lamina_tvm_end_plain(lamina_tvm_module *module) { free(module); }

LAMINA_TVM int lamina_tvm_system_lib(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  (void)args, (void)codes, (void)count, (void)resource;
  if (!*lamina_tvm_all_linked())
    return lamina_tvm_fail("runtime.SystemLib: no net is linked into this program: LAMINA_SYSTEM_LIB(net) enters one");
  lamina_tvm_module *module = (lamina_tvm_module *)calloc(1, sizeof *module);
  if (!module) return lamina_tvm_fail("no memory for a module");
  module->references = 1;
  module->type_key = "library";
  module->find = lamina_tvm_find_linked;
  module->end = lamina_tvm_end_plain;
  return lamina_tvm_give(ret, module, kTVMModuleHandle);
}

/* -- functions by name --------------------------------------------------------------------------------------------- */

/* (graph, library, device type, device id ...) -> executor. The graph is that of the library. */
LAMINA_TVM int lamina_tvm_create(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  (void)resource;
  if (count < 4 || count % 2 || codes[1] != kTVMModuleHandle)
    return lamina_tvm_fail("tvm.graph_executor.create: takes a graph, a library, the type and number of devices");
  for (int n = 2; n < count; n += 2)
    if (lamina_tvm_check_device((int)args[n].v_int64, (int)args[n + 1].v_int64)) return -1;
  lamina_tvm_module *module = (lamina_tvm_module *)args[1].v_handle;
  if (module->find != lamina_tvm_find_in_library)
    return lamina_tvm_fail("tvm.graph_executor.create: the module is no library of a net");
  TVMModuleHandle executor = NULL;
  if (lamina_tvm_new_executor((lamina_tvm_library *)(void *)module, &executor)) return -1;
  return lamina_tvm_give(ret, executor, kTVMModuleHandle);
}

LAMINA_TVM int lamina_tvm_load(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  TVMModuleHandle module = NULL;
  (void)resource;
  if (count < 1 || count > 2 || codes[0] != kTVMStr || (count == 2 && codes[1] != kTVMStr))
    return lamina_tvm_fail("runtime.ModuleLoadFromFile: takes the name of a file, and a format");
  if (TVMModLoadFromFile(args[0].v_str, count == 2 ? args[1].v_str : "", &module)) return -1;
  return lamina_tvm_give(ret, module, kTVMModuleHandle);
}

typedef struct lamina_tvm_named {
  struct lamina_tvm_named *next;
  /* null where it has been removed */
  lamina_tvm_function *function;
  char name[1];
} lamina_tvm_named;

typedef struct {
  pthread_mutex_t lock;
  lamina_tvm_named *first;
  int has_ours;
} lamina_tvm_names;

/* The names, behind a lock that is held until lamina_tvm_unlock_names. They stay to the end of the process. */
LAMINA_TVM lamina_tvm_names *lamina_tvm_lock_names(void) {
  static lamina_tvm_names names = {PTHREAD_MUTEX_INITIALIZER, NULL, 0};
  pthread_mutex_lock(&names.lock);
  return &names;
}

LAMINA_TVM void lamina_tvm_unlock_names(lamina_tvm_names *names) { pthread_mutex_unlock(&names->lock); }

LAMINA_TVM lamina_tvm_named *lamina_tvm_named_of(const lamina_tvm_names *names, const char *name) {
  lamina_tvm_named *found = names->first;
  while (found && strcmp(found->name, name)) found = found->next;
  return found;
}

LAMINA_TVM int lamina_tvm_enter(lamina_tvm_names *names, const char *name, lamina_tvm_function *function, int replace) {
  lamina_tvm_named *found = lamina_tvm_named_of(names, name);
  if (found && found->function && !replace) return lamina_tvm_fail("there is a global function '%s' already", name);
  if (!found) {
    found = (lamina_tvm_named *)malloc(sizeof *found + strlen(name));
    if (!found) return lamina_tvm_fail("no memory for the name of a function");
    strcpy(found->name, name);
    found->function = NULL;
    found->next = names->first;
    names->first = found;
  }
  TVMFuncFree(found->function);
  found->function = function;
  LAMINA_TVM_RETAIN(function);
  return 0;
}

/* The names with ours among them. */
LAMINA_TVM lamina_tvm_names *lamina_tvm_lock_all_names(void) {
  static const struct {
    const char *name;
    TVMPackedCFunc call;
  } ours[] = {
      {"tvm.graph_executor.create", lamina_tvm_create},
      {"tvm.graph_runtime.create", lamina_tvm_create},
      {"runtime.SystemLib", lamina_tvm_system_lib},
      {"runtime.ModuleLoadFromFile", lamina_tvm_load},
  };
  lamina_tvm_names *names = lamina_tvm_lock_names();
  for (size_t n = 0; !names->has_ours && n < sizeof ours / sizeof *ours; n++) {
    TVMFunctionHandle made = NULL;
    if (lamina_tvm_named_of(names, ours[n].name)) continue;
    if (!TVMFuncCreateFromCFunc(ours[n].call, NULL, NULL, &made))
      lamina_tvm_enter(names, ours[n].name, (lamina_tvm_function *)made, 0);
    TVMFuncFree(made);
  }
  names->has_ours = 1;
  return names;
}

LAMINA_TVM int TVMFuncRegisterGlobal(const char *name, TVMFunctionHandle f, int override) {
  lamina_tvm_names *names = lamina_tvm_lock_all_names();
  const int code = lamina_tvm_enter(names, name, (lamina_tvm_function *)f, override);
  lamina_tvm_unlock_names(names);
  return code;
}

LAMINA_TVM int TVMFuncGetGlobal(const char *name, TVMFunctionHandle *out) {
  lamina_tvm_names *names = lamina_tvm_lock_all_names();
  const lamina_tvm_named *found = lamina_tvm_named_of(names, name);
  *out = found ? found->function : NULL;
  if (*out) LAMINA_TVM_RETAIN(found->function);
  lamina_tvm_unlock_names(names);
  return 0;
}

LAMINA_TVM int TVMFuncRemoveGlobal(const char *name) {
  lamina_tvm_names *names = lamina_tvm_lock_all_names();
  lamina_tvm_named *found = lamina_tvm_named_of(names, name);
  lamina_tvm_function *function = found ? found->function : NULL;
  if (function) found->function = NULL;
  lamina_tvm_unlock_names(names);
  TVMFuncFree(function);
  return 0;
}

LAMINA_TVM int TVMFuncListGlobalNames(int *out_size, const char ***out_array) {
  lamina_tvm_thread *own = lamina_tvm_this_thread();
  lamina_tvm_names *names = lamina_tvm_lock_all_names();
  size_t count = 0, at = 0;
  for (const lamina_tvm_named *n = names->first; n; n = n->next) count += n->function != NULL;
  const char **array = own ? (const char **)malloc((count + 1) * sizeof *array) : NULL;
  for (const lamina_tvm_named *n = names->first; array && n; n = n->next)
    if (n->function) array[at++] = n->name;
  lamina_tvm_unlock_names(names);
  if (!array) return lamina_tvm_fail("no memory for the names of functions");
  free((void *)own->names);
  own->names = array;
  *out_size = (int)count;
  *out_array = array;
  return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* LAMINA_TVM_REGISTRY_H */
