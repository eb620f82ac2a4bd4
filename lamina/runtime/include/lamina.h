/* lamina.h: the interface of nets that Lamina has exported, for C99, C++11 and what can call C.

   A library has one symbol, `const lamina_net lamina_<name>`. All memory is the caller's:

     uint64_t bytes;
     net->sizes(NULL, threads, NULL, &bytes);
     void *state = aligned_alloc(net->alignment, bytes);
     net->start(state, NULL, threads, LAMINA_SPINS);
     int32_t code = net->run(state, inputs, outputs);    (0, or what net->text(code) says)
     net->stop(state);

   Where `lamina_packs(net)`, as for nets of `lamina compile --small`, weights are packed once, into memory that all
   states share until the last `stop`; the room, of room_bytes at a multiple of 64, is the caller's again at once:

     void *params = aligned_alloc(net->alignment, net->params_bytes);
     code = net->pack(params, room);                     (then net->start(state, params, threads, LAMINA_SPINS))

   Where extents are open, as `lamina_opens(net)` says, the shapes of the inputs tell all others and the bytes of a
   state, which then is for all shapes that need no more:

     int64_t x[] = {3, 128}, *const shapes[] = {x}, y[2], *const results[] = {y};
     code = net->sizes(shapes, threads, results, &bytes);
     code = net->run_shapes(state, bytes, shapes, inputs, outputs);

   A state is for one call at a time; several states of one net may run at the same time. The elements of a tensor lie
   one behind the other in order, the first at a multiple of their size; outputs share no memory with other tensors.
   Records grow at their end: `net->bytes` says which members a library has. Written by `python -m tools.header`. */

#ifndef LAMINA_H
#define LAMINA_H

#include <stddef.h>
#include <stdint.h>

#define LAMINA_VERSION 1u
#define LAMINA_SPINS 5000 /* of `start`; 0 where threads are more than processors */
#define LAMINA_OPEN INT64_MIN /* in the place of an extent that the shapes of a call tell */

#ifdef __cplusplus
extern "C" {
#endif

/* Of a call that was wrong; codes above zero are the net's own. */
enum lamina_code {
  LAMINA_NO_STATE = -1, /* the state has not been started for this net */
  LAMINA_UNALIGNED_STATE = -2, /* the state is at no multiple of 64 bytes */
  LAMINA_DEVICE = -3, /* a tensor is not in the memory of the processor */
  LAMINA_TYPE = -4, /* the elements of a tensor are of another type than its port's */
  LAMINA_SHAPE = -5, /* the shape of a tensor is another than its port's */
  LAMINA_STRIDES = -6, /* the elements of a tensor are not one behind the other in order */
  LAMINA_UNALIGNED = -7, /* a tensor is at an address that is no multiple of its elements' size */
  LAMINA_ABI = -8, /* the library has another version of the interface than lamina.h */
  LAMINA_NO_PARAMS = -9, /* the net has no weights of its own, and none were given */
  LAMINA_UNALIGNED_PARAMS = -10, /* the weights are at no multiple of 64 bytes, or the room of `pack` */
  LAMINA_NO_SHAPES = -11, /* the net has open extents, and no shapes were given: `run_shapes` takes them */
  LAMINA_STATE_BYTES = -12, /* the state has fewer bytes than these shapes need */
};

typedef struct lamina_port {
  /* of the model's input or output */
  const char *name;
  /* an extent for each dimension; LAMINA_OPEN where a call's shapes tell it, -1 - n where input n, a number, does */
  const int64_t *shape;
  /* of the tensor; 0 where a call tells an extent */
  uint64_t bytes;
  /* the number of dimensions */
  int32_t ndim;
  /* of the element type as in DLPack: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool */
  uint8_t code;
  /* of an element */
  uint8_t bits;
  /* always 1 */
  uint16_t lanes;
} lamina_port;

typedef struct lamina_net {
  /* LAMINA_VERSION of the library */
  uint32_t abi;
  /* of this record as the library has it */
  uint32_t bytes;
  /* of the net */
  const char *name;
  /* the processor that it was compiled for */
  const char *target;
  /* the version of Lamina */
  const char *built_by;
  /* n_inputs of them */
  const lamina_port *inputs;
  /* n_outputs of them */
  const lamina_port *outputs;
  /* the number of inputs */
  uint32_t n_inputs;
  /* the number of outputs */
  uint32_t n_outputs;
  /* the most that it was compiled for */
  uint32_t threads;
  /* of a state, in bytes */
  uint32_t alignment;
  /* of the packed weights */
  uint64_t params_bytes;
  /* the packed weights; null where they are in a file of their own, or `pack` is to make them */
  const void *params;
  /* for shapes of inputs (null: those of the ports): the outputs' shapes and the bytes of a state, where not null */
  int32_t (*sizes)(const int64_t *const *inputs, uint32_t threads, int64_t *const *outputs, uint64_t *state_bytes);
  /* make a state of memory; params null: the library's; spins: polls before an idle thread sleeps */
  int32_t (*start)(void *state, const void *params, uint32_t threads, int64_t spins);
  /* one inference on the first elements of all tensors */
  int32_t (*run)(void *state, const void *const *inputs, void *const *outputs);
  /* end the threads of a state */
  void (*stop)(void *state);
  /* what a code that is not 0 says */
  const char *(*text)(int32_t code);
  /* of the memory that `pack` works in; 0 where it is null */
  uint64_t room_bytes;
  /* fill params_bytes of memory with packed weights, for `start`; null where the net needs no such */
  int32_t (*pack)(void *params, void *room);
  /* `run` on inputs of these shapes, in a state of so many bytes; null where all extents are known */
  int32_t (*run_shapes)(void *state, uint64_t state_bytes, const int64_t *const *shapes, const void *const *inputs, void *const *outputs);
} lamina_net;

/* 0, or LAMINA_ABI where the library is of another version than this header. */
static inline int32_t lamina_check(const lamina_net *net) {
  return net->abi == LAMINA_VERSION ? 0 : LAMINA_ABI;
}

/* Whether `pack` has to make the weights that `start` takes. */
static inline int lamina_packs(const lamina_net *net) {
  return net->bytes >= offsetof(lamina_net, pack) + sizeof net->pack && net->pack;
}

/* Whether extents are open, so that `run_shapes` is called and not `run`. */
static inline int lamina_opens(const lamina_net *net) {
  return net->bytes >= offsetof(lamina_net, run_shapes) + sizeof net->run_shapes && net->run_shapes;
}

#ifdef __cplusplus
}
#endif

#endif /* LAMINA_H */

/* For tensors of DLPack, where dlpack.h is included first. */
#if defined(DLPACK_DLPACK_H_) && !defined(LAMINA_H_DLPACK)
#define LAMINA_H_DLPACK

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or a code where a tensor of DLPack does not fit a port. */
static inline int32_t lamina_check_dl(const lamina_port *port, const DLTensor *tensor) {
  int64_t stride = 1;
  uint64_t first = (uint64_t)(uintptr_t)tensor->data + tensor->byte_offset;
  if (tensor->device.device_type != kDLCPU) return LAMINA_DEVICE;
  if (tensor->dtype.code != port->code || tensor->dtype.bits != port->bits || tensor->dtype.lanes != port->lanes)
    return LAMINA_TYPE;
  if (tensor->ndim != port->ndim) return LAMINA_SHAPE;
  for (int32_t d = port->ndim; d-- > 0;) {
    if (port->shape[d] >= 0 && tensor->shape[d] != port->shape[d]) return LAMINA_SHAPE;
    if (tensor->strides && tensor->shape[d] != 1 && tensor->strides[d] != stride) return LAMINA_STRIDES;
    stride *= tensor->shape[d];
  }
  return first % (port->bits > 8 ? port->bits / 8 : 1) ? LAMINA_UNALIGNED : 0;
}

/* One inference on tensors of DLPack where no extent is open; `pointers` has room for n_inputs + n_outputs of them. */
static inline int32_t lamina_run_dl(const lamina_net *net, void *state, const DLTensor *const *inputs,
                                    DLTensor *const *outputs, void **pointers) {
  for (uint32_t n = 0; n < net->n_inputs + net->n_outputs; n++) {
    const int is_input = n < net->n_inputs;
    const lamina_port *port = is_input ? &net->inputs[n] : &net->outputs[n - net->n_inputs];
    const DLTensor *tensor = is_input ? inputs[n] : outputs[n - net->n_inputs];
    const int32_t code = lamina_check_dl(port, tensor);
    if (code) return code;
    pointers[n] = (char *)tensor->data + tensor->byte_offset;
  }
  return net->run(state, (const void *const *)pointers, pointers + net->n_inputs);
}

#ifdef __cplusplus
}
#endif

#endif /* LAMINA_H_DLPACK */
