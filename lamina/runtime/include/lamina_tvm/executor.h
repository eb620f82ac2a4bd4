/* lamina_tvm/executor.h: the graph executor, a module with the inputs and outputs of a net.

   set_input(name or number, tensor)            copy an input
   set_input_zero_copy(name or number, tensor)  use the tensor's memory from now on, which has to last
   get_input(name or number)                    the executor's array of an input
   get_input_index(name)                        its number; -1 for a name of none
   run()
   get_output(name or number)                   the executor's array of an output
   get_output(name or number, tensor)           copy an output
   set_output_zero_copy(name or number, tensor) write into the tensor's memory from now on, which has to last
   get_num_inputs(), get_num_outputs()
   load_params(bytes)                           inputs and weights from `relay.save_param_dict`

   Weights are part of the library: what is given as one is compared with it. An executor is for one call at a time. */

#ifndef LAMINA_TVM_EXECUTOR_H
#define LAMINA_TVM_EXECUTOR_H

#include <lamina_tvm/weights.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  lamina_tvm_module module;
  lamina_tvm_library *library;
  const lamina_net *net;
  lamina_tvm_state *state;
  /* an array for each input and output */
  DLTensor *arrays[1];
} lamina_tvm_executor;

LAMINA_TVM void lamina_tvm_end_executor(lamina_tvm_module *module) {
  lamina_tvm_executor *executor = (lamina_tvm_executor *)(void *)module;
  const lamina_net *net = executor->net;
  lamina_tvm_stop(net, executor->state);
  for (uint32_t n = 0; n < net->n_inputs + net->n_outputs; n++) TVMArrayFree(executor->arrays[n]);
  TVMModFree(executor->library);
  free(executor);
}

/* The port that an argument names, by its name or number: -1 where it names none, after saying so. */
LAMINA_TVM int lamina_tvm_place(const lamina_net *net, const char *what, int is_output, const TVMValue *value,
                                int code) {
  const uint32_t first = is_output ? net->n_inputs : 0, count = is_output ? net->n_outputs : net->n_inputs;
  const char *side = is_output ? "output" : "input";
  char names[512];
  size_t at = 0;
  if (code == kTVMArgInt) {
    if (value->v_int64 >= 0 && value->v_int64 < (int64_t)count) return (int)(first + (uint32_t)value->v_int64);
    return lamina_tvm_fail("%s: the net '%s' has no %s %lld: it has %u", what, net->name, side,
                           (long long)value->v_int64, count);
  }
  if (code != kTVMStr)
    return lamina_tvm_fail("%s: an %s is a name or a number, not %s", what, side, lamina_tvm_kind(code));
  names[0] = 0;
  for (uint32_t n = 0; n < count; n++) {
    const char *name = lamina_tvm_port(net, first + n)->name;
    if (!strcmp(name, value->v_str)) return (int)(first + n);
    if (at < sizeof names) at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", n ? ", " : "", name);
  }
  return lamina_tvm_fail("%s: the net '%s' has no %s '%s': it has %s%s", what, net->name, side, value->v_str, names,
                         is_output ? "" : "; weights are part of it");
}

/* The executor and the port of a call, whose first argument names a port; -1 after saying what is wrong. */
LAMINA_TVM int lamina_tvm_port_of_call(void *resource, const char *what, int is_output, const TVMValue *args,
                                       const int *codes, int count, int least, int most) {
  if (count < least || count > most)
    return lamina_tvm_fail("%s: takes %d arguments%s, not %d", what, least, least < most ? " or one more" : "", count);
  return lamina_tvm_place(((lamina_tvm_executor *)resource)->net, what, is_output, args, codes[0]);
}

/* The number of an input; -1 for a name of none. */
LAMINA_TVM int lamina_tvm_input_named(const lamina_net *net, const char *name) {
  int n = (int)net->n_inputs;
  while (n-- > 0 && strcmp(net->inputs[n].name, name)) continue;
  return n;
}

LAMINA_TVM int lamina_tvm_copy_input(lamina_tvm_executor *executor, int n, DLTensor *tensor) {
  if (lamina_tvm_fits(executor->net, (uint32_t)n, tensor, 1)) return -1;
  executor->state->pointers[n] = lamina_tvm_first(executor->arrays[n]);
  return TVMArrayCopyFromTo(tensor, executor->arrays[n], NULL);
}

LAMINA_TVM int lamina_tvm_set_input(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  lamina_tvm_executor *executor = (lamina_tvm_executor *)resource;
  (void)ret;
  if (count == 2 && codes[0] == kTVMStr && lamina_tvm_input_named(executor->net, args[0].v_str) < 0 &&
      lamina_tvm_weight(executor->library, args[0].v_str)) {
    const DLTensor *weight = lamina_tvm_tensor("set_input", 1, args, codes);
    return weight ? lamina_tvm_compare(executor->library, args[0].v_str, weight) : -1;
  }
  const int n = lamina_tvm_port_of_call(resource, "set_input", 0, args, codes, count, 2, 2);
  DLTensor *tensor = n < 0 ? NULL : lamina_tvm_tensor("set_input", 1, args, codes);
  return tensor ? lamina_tvm_copy_input(executor, n, tensor) : -1;
}

LAMINA_TVM int lamina_tvm_load_param(void *context, const char *name, DLTensor *tensor) {
  lamina_tvm_executor *executor = (lamina_tvm_executor *)context;
  const int n = lamina_tvm_input_named(executor->net, name);
  return n < 0 ? lamina_tvm_compare(executor->library, name, tensor) : lamina_tvm_copy_input(executor, n, tensor);
}

LAMINA_TVM int lamina_tvm_load_params(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  (void)ret;
  if (count != 1 || codes[0] != kTVMBytes)
    return lamina_tvm_fail("load_params: takes the bytes of `relay.save_param_dict` as a TVMByteArray");
  return lamina_tvm_each_param((const TVMByteArray *)args[0].v_handle, lamina_tvm_load_param, resource);
}

LAMINA_TVM int lamina_tvm_use(TVMValue *args, int *codes, int count, void *resource, const char *what, int is_output) {
  lamina_tvm_executor *executor = (lamina_tvm_executor *)resource;
  const int n = lamina_tvm_port_of_call(resource, what, is_output, args, codes, count, 2, 2);
  DLTensor *tensor = n < 0 ? NULL : lamina_tvm_tensor(what, 1, args, codes);
  if (!tensor || lamina_tvm_fits(executor->net, (uint32_t)n, tensor, 0)) return -1;
  executor->state->pointers[n] = lamina_tvm_first(tensor);
  return 0;
}

LAMINA_TVM int lamina_tvm_use_input(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  (void)ret;
  return lamina_tvm_use(args, codes, count, resource, "set_input_zero_copy", 0);
}

LAMINA_TVM int lamina_tvm_use_output(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  (void)ret;
  return lamina_tvm_use(args, codes, count, resource, "set_output_zero_copy", 1);
}

/* Copy what a port has at present into a tensor, or give the executor's array of it. */
LAMINA_TVM int lamina_tvm_get(const lamina_tvm_executor *executor, int n, DLTensor *to, TVMRetValueHandle ret) {
  DLTensor *array = executor->arrays[n];
  const void *current = executor->state->pointers[n];
  if (to) {
    if (lamina_tvm_fits(executor->net, (uint32_t)n, to, 1)) return -1;
    memmove(lamina_tvm_first(to), current, (size_t)lamina_tvm_port(executor->net, (uint32_t)n)->bytes);
    return 0;
  }
  if (current != array->data) memmove(array->data, current, (size_t)lamina_tvm_port(executor->net, (uint32_t)n)->bytes);
  LAMINA_TVM_RETAIN((lamina_tvm_array *)(void *)array);
  return lamina_tvm_give(ret, array, kTVMNDArrayHandle);
}

LAMINA_TVM int lamina_tvm_get_input(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  const int n = lamina_tvm_port_of_call(resource, "get_input", 0, args, codes, count, 1, 2);
  DLTensor *to = n < 0 || count < 2 ? NULL : lamina_tvm_tensor("get_input", 1, args, codes);
  return n < 0 || (count == 2 && !to) ? -1 : lamina_tvm_get((lamina_tvm_executor *)resource, n, to, ret);
}

LAMINA_TVM int lamina_tvm_get_output(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  const int n = lamina_tvm_port_of_call(resource, "get_output", 1, args, codes, count, 1, 2);
  DLTensor *to = n < 0 || count < 2 ? NULL : lamina_tvm_tensor("get_output", 1, args, codes);
  return n < 0 || (count == 2 && !to) ? -1 : lamina_tvm_get((lamina_tvm_executor *)resource, n, to, ret);
}

LAMINA_TVM int lamina_tvm_input_index(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  const lamina_net *net = ((lamina_tvm_executor *)resource)->net;
  if (count != 1 || codes[0] != kTVMStr) return lamina_tvm_fail("get_input_index: takes the name of an input");
  return lamina_tvm_give_number(ret, lamina_tvm_input_named(net, args[0].v_str));
}

LAMINA_TVM int lamina_tvm_num_inputs(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  (void)args, (void)codes, (void)count;
  return lamina_tvm_give_number(ret, ((lamina_tvm_executor *)resource)->net->n_inputs);
}

LAMINA_TVM int lamina_tvm_num_outputs(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  (void)args, (void)codes, (void)count;
  return lamina_tvm_give_number(ret, ((lamina_tvm_executor *)resource)->net->n_outputs);
}

LAMINA_TVM int lamina_tvm_run_executor(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  const lamina_tvm_executor *executor = (const lamina_tvm_executor *)resource;
  (void)args, (void)codes, (void)ret;
  if (count) return lamina_tvm_fail("run: takes no arguments, not %d", count);
  return lamina_tvm_run(executor->net, executor->state);
}

LAMINA_TVM int lamina_tvm_find_in_executor(lamina_tvm_module *module, const char *name, TVMFunctionHandle *out) {
  static const struct {
    const char *name;
    TVMPackedCFunc call;
  } functions[] = {
      {"set_input", lamina_tvm_set_input},
      {"set_input_zero_copy", lamina_tvm_use_input},
      {"set_output_zero_copy", lamina_tvm_use_output},
      {"get_input", lamina_tvm_get_input},
      {"get_output", lamina_tvm_get_output},
      {"get_input_index", lamina_tvm_input_index},
      {"get_num_inputs", lamina_tvm_num_inputs},
      {"get_num_outputs", lamina_tvm_num_outputs},
      {"load_params", lamina_tvm_load_params},
      {"run", lamina_tvm_run_executor},
  };
  for (size_t n = 0; n < sizeof functions / sizeof *functions; n++)
    if (!strcmp(functions[n].name, name)) return lamina_tvm_method(module, functions[n].call, out);
  return 0;
}

LAMINA_TVM int lamina_tvm_new_executor(lamina_tvm_library *library, TVMModuleHandle *out) {
  const lamina_net *net = library->net;
  const uint32_t ports = net->n_inputs + net->n_outputs;
  if (lamina_tvm_sizes(net))
    return lamina_tvm_fail("net '%s': its extents are those of a call: call it on tensors, not on a device", net->name);
  lamina_tvm_executor *executor = (lamina_tvm_executor *)calloc(1, sizeof *executor + ports * sizeof *executor->arrays);
  if (!executor) return lamina_tvm_fail("no memory for an executor");
  LAMINA_TVM_RETAIN(&library->module);
  executor->module.references = 1;
  executor->module.type_key = "GraphExecutor";
  executor->module.find = lamina_tvm_find_in_executor;
  executor->module.end = lamina_tvm_end_executor;
  executor->library = library;
  executor->net = net;
  int code = lamina_tvm_start(net, library->params, &executor->state);
  for (uint32_t n = 0; !code && n < ports; n++) {
    const lamina_port *port = lamina_tvm_port(net, n);
    code =
        lamina_tvm_new_array(port->shape, port->ndim, lamina_tvm_dtype(port), NULL, NULL, NULL, &executor->arrays[n]);
    if (!code) executor->state->pointers[n] = executor->arrays[n]->data;
  }
  if (code) {
    TVMModFree(executor);
    return -1;
  }
  *out = &executor->module;
  return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* LAMINA_TVM_EXECUTOR_H */
